# SPDX-License-Identifier: Apache-2.0
"""A policy for each agent on reactors gives what a loop over the policies gives."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import pytest

from reactorl import Recording, elaborate, msec
from reactorl.rl.envs.errors import EnvError
from reactorl.rl.flow.algorithm import FlowError
from reactorl.rl.multi_agent.inference import Match, MatchRun
from tests.rl.games import Auction, BrokenAuction

if TYPE_CHECKING:
    from pathlib import Path

AGENTS = [f"bidder_{k}" for k in range(3)]


def linear(place: int, noise: float = 0.0) -> Any:
    """Return a policy that looks at everything; with noise, not at that alone."""
    matrix = np.random.default_rng(place).standard_normal((4, 4 + place))

    def policy(rows: Any, random: Any) -> Any:
        values = rows @ matrix.astype(np.float32)
        if noise:
            values = values + noise * random.random(values.shape)
        return np.argmax(values, axis=1)

    return policy


POLICIES = {agent: linear(k) for k, agent in enumerate(AGENTS)}
PLAIN = Match(Auction, POLICIES, num_envs=3)
NOISY = replace(
    PLAIN, policies={agent: linear(k, 20.0) for k, agent in enumerate(AGENTS)}
)


def told(turns: Any) -> Any:
    """Return turns in a form that can be compared."""

    def tell(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: tell(part) for key, part in value.items()}
        return value.tolist() if isinstance(value, np.ndarray) else value

    names = ("observations", "actions", "late", "reached", "rewards")
    names += ("terminations", "truncations", "scores")
    return [[{n: tell(getattr(p, n)) for n in names} for p in turn] for turn in turns]


def driven(match: Match, turns: int, **options: Any) -> Any:
    with MatchRun(match, **options) as run:
        return told([run.step() for _ in range(turns)])


def loop(match: Match, turns: int) -> Any:
    """Return the same from a plain loop, environment by environment."""
    found: list[list[Any]] = [[] for _ in range(turns)]
    for index in range(match.num_envs):
        env: Any = match.env()
        rows, _ = env.reset(seed=match.seed + index)
        scores: dict[str, float] = {}
        for turn in range(turns):
            if not env.agents:
                rows, _ = env.reset()
                scores = {}
            rows = {agent: rows[agent] for agent in env.agents}
            actions = {
                agent: match.policies[agent](rows[agent][None], None)[0]
                for agent in env.agents
            }
            reached, rewards, terminations, truncations, _ = env.step(actions)
            for agent, reward in rewards.items():
                scores[agent] = scores.get(agent, 0.0) + reward
            found[turn].append(
                {
                    "observations": {a: row.tolist() for a, row in rows.items()},
                    "actions": actions,
                    "late": (),
                    "reached": {a: row.tolist() for a, row in reached.items()},
                    "rewards": rewards,
                    "terminations": terminations,
                    "truncations": truncations,
                    "scores": None if env.agents else dict(scores),
                }
            )
            rows = reached
    return found


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_turns_are_what_a_loop_over_the_policies_gives(workers: int) -> None:
    expected = loop(PLAIN, 25)

    assert driven(PLAIN, 25, workers=workers) == expected
    assert told(PLAIN.play(25, workers=workers)[0]) == expected


def test_the_comparison_sees_agents_that_leave_and_episodes_that_end() -> None:
    turns = [world for turn in loop(PLAIN, 25) for world in turn]

    assert {len(world["actions"]) for world in turns} >= {2, 3}
    assert sum(world["scores"] is not None for world in turns) > 5
    assert len({a for world in turns for a in world["actions"].values()}) > 2


@pytest.mark.parametrize("options", [{"workers": 2}, {"workers": 4, "trace": True}])
def test_policies_with_random_numbers_give_the_same_bits_for_any_number_of_workers(
    options: Any,
) -> None:
    expected = driven(NOISY, 25, workers=1)

    assert driven(NOISY, 25, **options) == expected
    assert driven(replace(NOISY, seed=2), 25, workers=1) != expected


@pytest.mark.parametrize("stop", [1, 6, 13])
def test_a_match_that_stopped_goes_on_as_if_it_had_not(stop: int) -> None:
    with MatchRun(NOISY, workers=2) as run:
        first = [run.step() for _ in range(stop)]
        saved = run.save()
    with MatchRun(NOISY, workers=1, saved=saved) as run:
        rest = [run.step() for _ in range(20 - stop)]
        assert run.session.tag.time == 20 * msec(1)

    assert told(first + rest) == driven(NOISY, 20)


def test_a_turn_is_one_tag() -> None:
    with MatchRun(PLAIN) as run:
        for turn in range(1, 4):
            run.step()
            assert run.session.tag == (turn * msec(1), 0)


def test_policies_of_a_turn_depend_on_nothing_of_each_other() -> None:
    program = elaborate(PLAIN.main())
    names = {program.reaction_name(r.id): r.id for r in program.reactions}
    acting = {names[f"main.player[{k}].act"] for k in range(3)}
    for each in acting:
        after, more = set(), set(program.order.downstream[each])
        while more - after:
            after |= more
            more = {o for i in after for o in program.order.downstream[i]}
        assert not after & acting
        assert {names[f"main.world[{k}].step"] for k in range(3)} <= after


# -- deadlines ------------------------------------------------------------------------

FALLBACK = {"bidder_0": 3, "bidder_1": 4, "bidder_2": 5}


def sleeper(turns: set[int]) -> Any:
    """Return a policy that bids 0 and oversleeps when it is asked these times."""
    asked = [0]

    def policy(rows: Any, random: Any) -> Any:
        asked[0] += 1
        if asked[0] in turns:
            time.sleep(0.03)
        return np.zeros(len(rows), np.int64)

    return policy


def with_a_sleeper(turns: set[int]) -> Match:
    zero = {agent: sleeper(set()) for agent in AGENTS}
    return Match(
        lambda: Auction(rounds=50),
        {**zero, "bidder_1": sleeper(turns)},
        deadline=msec(20),
        fallback=FALLBACK,
        period=msec(25),
    )


def test_who_oversleeps_is_answered_for() -> None:
    played, result = with_a_sleeper({1, 2}).play(2, workers=2, record=True)

    first = played[0][0]
    # Whoever shares a worker with the sleeper, or a busy machine, may be late, too.
    assert "bidder_1" in first.late
    assert first.actions["bidder_1"] == FALLBACK["bidder_1"]
    for agent, action in first.actions.items():
        assert action == (FALLBACK[agent] if agent in first.late else 0)
    assert result.recording is not None


def test_missed_deadlines_can_be_played_again(tmp_path: Path) -> None:
    file = tmp_path / "match.rec"
    played, _ = with_a_sleeper({1, 3}).play(4, workers=2, record=file)
    assert any(turn[0].late for turn in played)

    for workers in (1, 2, 4):
        # Nobody sleeps now, and time does not pass: what was late is late again.
        again, _ = with_a_sleeper(set()).play(4, workers=workers, replay=file)
        assert told(again) == told(played)


def test_a_deadline_that_is_always_missed_asks_no_policy() -> None:
    def never(rows: Any, random: Any) -> Any:
        raise AssertionError

    match = Match(Auction, dict.fromkeys(AGENTS, never), deadline=0, fallback=FALLBACK)
    with MatchRun(match, workers=1) as run:
        turns = [run.step()[0] for _ in range(3)]

    assert all(turn.late == tuple(turn.actions) for turn in turns)
    assert turns[0].actions == FALLBACK


def test_recorded_deadlines_survive_the_file(tmp_path: Path) -> None:
    file = tmp_path / "match.rec"
    match = Match(Auction, POLICIES, deadline=msec(600_000), fallback=FALLBACK)
    played, result = match.play(5, record=file)

    assert Recording.load(file) == result.recording
    assert not any(turn[0].late for turn in played)
    # Three players look at the clock when they have an answer.
    assert result.recording is not None
    assert len(result.recording.clock) == 3


# -- what is refused ------------------------------------------------------------------


class Nameless(Auction):
    def __init__(self) -> None:
        super().__init__()
        del self.possible_agents

    def __str__(self) -> str:
        return "nameless"


class Wordy(Auction):
    def observation_space(self, agent: str) -> Any:
        return gym.spaces.Sequence(gym.spaces.Text(5))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"env": Nameless}, "nameless must have possible_agents"),
        ({"num_envs": 0}, "num_envs is 0"),
        (
            {"policies": {"bidder_0": linear(0)}},
            "policies has nothing for 'bidder_1'. Agents are: 'bidder_0', 'bidder_1'",
        ),
        (
            {"policies": {**POLICIES, "judge": linear(0)}},
            "policies has something for 'judge', and there is no such agent",
        ),
        ({"fallback": FALLBACK}, "fallback actions and no deadline. Give deadline"),
        ({"deadline": msec(5)}, "fallback has nothing for 'bidder_0'"),
        (
            {"deadline": msec(5), "fallback": {**FALLBACK, "bidder_2": 6}},
            r"the fallback of 'bidder_2' is 6, not one of Discrete\(6\)",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused_at_once(
    change: dict[str, Any], match: str
) -> None:
    with pytest.raises(FlowError, match=match):
        MatchRun(replace(PLAIN, **change))
    with pytest.raises(FlowError, match=match):
        replace(PLAIN, **change).play(1)


def test_observations_of_variable_size_are_refused() -> None:
    with pytest.raises(FlowError, match=r"must be Box, .*got Seq.*Use a wrapper"):
        MatchRun(replace(PLAIN, env=Wordy))


def test_an_environment_that_fails_is_named() -> None:
    match = replace(PLAIN, env=BrokenAuction, num_envs=2)
    with MatchRun(match) as run:
        run.step()
        run.step()
        with pytest.raises(EnvError) as caught:
            run.step()
    failure = caught.value
    assert failure.what == "LookupError: the hammer is lost"
    assert (failure.env, failure.step) == ("auction_v0", 3)
