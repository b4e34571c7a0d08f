# SPDX-License-Identifier: Apache-2.0
"""Independent PPO: what a loop over its agents learns, the same bits everywhere."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium as gym
import jax
import numpy as np
import pytest
from pettingzoo import ParallelEnv

from reactorl.rl.algorithms.ippo import IPPO, IPPORun, side_by_side
from reactorl.rl.algorithms.ppo import PPO
from reactorl.rl.flow.algorithm import FlowError
from tests.rl.games import Auction
from tests.rl.meeting import Meeting


class Alike(Auction):
    """Everybody has the same actions: what is compiled for one serves all."""

    def action_space(self, agent: str) -> Any:
        return self._actions["bidder_0"]


SMALL = PPO(hidden=(8,), num_minibatches=2, update_epochs=2)
MEETING = IPPO(Meeting, SMALL, num_envs=3, steps=6, rounds=5)
TASKS = {
    "all to the end": MEETING,
    "some leave early": replace(MEETING, env=Alike),
}


def bits(tree: Any) -> bytes:
    return b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(tree))


def trained(task: IPPO, **options: Any) -> Any:
    with IPPORun(task, **options) as run:
        rounds = list(run.rounds())
        return bits(run.weights), rounds


@pytest.fixture(scope="module", params=TASKS)
def expected(request: pytest.FixtureRequest) -> Any:
    task = TASKS[request.param]
    return task, *trained(task, workers=1)


@pytest.mark.parametrize("options", [{"workers": 2}, {"workers": 4, "trace": True}])
def test_weights_are_the_same_bits_for_any_number_of_workers(
    options: Any, expected: Any
) -> None:
    task, weights, rounds = expected
    assert trained(task, **options) == (weights, rounds)


@pytest.mark.parametrize("stop", [1, 3])
def test_a_run_that_stopped_ends_with_the_same_bits(stop: int, expected: Any) -> None:
    task, weights, rounds = expected
    with IPPORun(task, workers=2) as run:
        first = [run.step() for _ in range(stop)]
        saved = run.save()
    with IPPORun(task, workers=1, saved=saved) as run:
        rest = list(run.rounds())
        assert bits(run.weights) == weights
    assert first + rest == rounds


def test_the_tasks_differ_as_they_should() -> None:
    with IPPORun(TASKS["some leave early"], workers=1) as run:
        learned = [len(round_.by_agent) for round_ in run.rounds()]
        kept = run.save()["parts"]["main.pupil[0]"]["steps"]

    assert min(learned) < 3  # of three agents, not all had made enough steps
    assert sum(learned) > 0
    assert len({len(mine) for mine in kept}) > 1
    _, rounds = trained(MEETING)
    assert all(list(r.by_agent) == ["left", "right"] for r in rounds)
    assert trained(replace(MEETING, seed=2))[0] != trained(MEETING)[0]


@pytest.mark.parametrize("name", TASKS)
def test_agents_learn_what_a_loop_over_them_learns(name: str) -> None:
    task = TASKS[name]
    with IPPORun(task) as run:
        parts = run.save()["parts"]
        list(run.rounds())
        found = run.weights

    algorithm, agents = task.algorithm, list(task.cast)
    states, streams, kept = {}, {}, {}
    for k, agent in enumerate(agents):
        states[agent] = algorithm.begin(task.cast[agent], len(agents) + k)
        streams[agent] = np.random.default_rng()
        streams[agent].bit_generator.state = parts[f"main.pupil[{k}]"]["random"]
        kept[agent] = [[] for _ in range(task.num_envs)]
    envs: list[Any] = [task.env() for _ in range(task.num_envs)]
    seen = [env.reset(seed=1 + k)[0] for k, env in enumerate(envs)]
    for turn in range(task.rounds * task.steps):
        progress = turn // task.steps / task.rounds
        for k, env in enumerate(envs):
            if not env.agents:
                seen[k], _ = env.reset()
        chosen: list[dict[str, Any]] = [{} for _ in envs]
        extras: list[dict[str, Any]] = [{} for _ in envs]
        for agent in agents:
            there = [k for k, env in enumerate(envs) if agent in env.agents]
            if not there:
                continue
            rows = np.stack([seen[k][agent] for k in there])
            weights = algorithm.weights(states[agent])
            actions, more = algorithm.act(weights, rows, streams[agent], progress)
            for place, k in enumerate(there):
                chosen[k][agent] = actions[place]
                extras[k][agent] = {key: v[place] for key, v in more.items()}
        for k, env in enumerate(envs):
            after, rewards, terminations, truncations, _ = env.step(chosen[k])
            for agent in chosen[k]:
                kept[agent][k].append(
                    {
                        "observations": seen[k][agent],
                        "actions": chosen[k][agent],
                        "rewards": rewards[agent],
                        "next_observations": after[agent],
                        "terminations": terminations[agent],
                        "truncations": truncations[agent],
                        **extras[k][agent],
                    }
                )
            seen[k] = after
        for agent in agents:
            if min(map(len, kept[agent])) < task.steps:
                continue
            columns = {
                key: np.array(
                    [[mine[t][key] for mine in kept[agent]] for t in range(task.steps)]
                )
                for key in kept[agent][0][0]
            }
            kept[agent] = [mine[task.steps :] for mine in kept[agent]]
            states[agent], _, _ = algorithm.update(states[agent], [columns])
    for agent in agents:
        assert bits(found[agent]) == bits(algorithm.weights(states[agent]))


def test_steps_of_environments_stand_side_by_side() -> None:
    first = [
        {"rewards": 1.0, "rows": np.array([1, 2])},
        {"rewards": 2.0, "rows": [3, 4]},
    ]
    second = [{"rewards": 5.0, "rows": [5, 6]}, {"rewards": 6.0, "rows": [7, 8]}]

    batch = side_by_side([first, second])

    assert batch["rewards"].tolist() == [[1.0, 5.0], [2.0, 6.0]]
    assert batch["rows"].tolist() == [[[1, 2], [5, 6]], [[3, 4], [7, 8]]]


# -- by hand ------------------------------------------------------------------------


class Lights(ParallelEnv):
    """Two agents with two switches each; three turns, of which all is known.

    Each sees two numbers, which change from turn to turn. The second switch gives an
    agent 1, or 2 in the last turn; the other agent loses half of it.
    """

    def __init__(self) -> None:
        self.possible_agents = ["a", "b"]
        self.agents: list[str] = []
        self.history: list[dict[str, int]] = []

    def observation_space(self, agent: str) -> Any:
        return gym.spaces.Box(-2, 2, (2,), np.float32)

    def action_space(self, agent: str) -> Any:
        return gym.spaces.Discrete(2)

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.agents, self.turn = list(self.possible_agents), 0
        return self.seen(), {agent: {} for agent in self.agents}

    def seen(self) -> dict[str, Any]:
        a = np.array([1.0, 0.5 * self.turn], np.float32)
        return {"a": a, "b": -a}

    def step(self, actions: dict[str, Any]) -> Any:
        self.history.append({agent: int(chosen) for agent, chosen in actions.items()})
        self.turn += 1
        worth = 2.0 if self.turn == 3 else 1.0
        a, b = worth * int(actions["a"]), worth * int(actions["b"])
        over = dict.fromkeys(self.agents, self.turn == 3)
        playing, self.agents = self.agents, [] if self.turn == 3 else self.agents
        never, infos = dict.fromkeys(playing, False), {agent: {} for agent in playing}
        return self.seen(), {"a": a - b / 2, "b": b - a / 2}, over, never, infos


class ByHand:
    """PPO for one agent whose networks have no hidden layer, in plain arithmetic."""

    gamma, gae_lambda, rate, entropy, values, longest = 0.9, 0.8, 0.05, 0.02, 0.5, 0.5

    def __init__(self, state: Any) -> None:
        self.params = [
            np.asarray(layer[key], np.float64)
            for net in ("actor", "critic")
            for layer in state.params[net]
            for key in ("w", "b")
        ]
        self.mean = [np.zeros_like(p) for p in self.params]
        self.square = [np.zeros_like(p) for p in self.params]
        self.updates = 0

    def learn(
        self, rows: Any, chosen: Any, rewards: Any, ends: Any, after: Any
    ) -> None:
        w, b, v, c = self.params
        value, later = rows @ v[:, 0] + c[0], after @ v[:, 0] + c[0]
        wrong = rewards + self.gamma * later * (1 - ends) - value
        better = np.zeros(len(rows))
        following = 0.0
        for t in reversed(range(len(rows))):
            following = wrong[t] + self.gamma * self.gae_lambda * following * (
                1 - ends[t]
            )
            better[t] = following
        weights = np.exp(rows @ w + b)
        chances = weights / weights.sum(1, keepdims=True)
        picked = np.eye(2)[chosen]
        # New and old chances are the same in the only pass: the ratio is 1.
        slope = -better[:, None] * (picked - chances) / len(rows)
        logs = np.log(chances)
        undecided = -(chances * logs).sum(1, keepdims=True)
        slope += self.entropy * chances * (logs + undecided) / len(rows)
        error = self.values * (value - (better + value)) / len(rows)
        gradients = [rows.T @ slope, slope.sum(0), (rows.T @ error)[:, None]]
        gradients.append(error.sum(keepdims=True))
        length = np.sqrt(sum((g**2).sum() for g in gradients))
        self.updates += 1
        for k, gradient in enumerate(gradients):
            g = gradient * min(1.0, self.longest / length)
            self.mean[k] = 0.9 * self.mean[k] + 0.1 * g
            self.square[k] = 0.999 * self.square[k] + 0.001 * g**2
            mean = self.mean[k] / (1 - 0.9**self.updates)
            square = self.square[k] / (1 - 0.999**self.updates)
            self.params[k] = self.params[k] - self.rate * mean / (
                np.sqrt(square) + 1e-5
            )


def test_the_first_updates_of_both_agents_equal_hand_computed_numbers() -> None:
    made: list[Lights] = []

    def make() -> Lights:
        made.append(Lights())
        return made[-1]

    algorithm = PPO(
        hidden=(), learning_rate=ByHand.rate, anneal_lr=False, gamma=ByHand.gamma,
        gae_lambda=ByHand.gae_lambda, num_minibatches=1, update_epochs=1,
        norm_adv=False, ent_coef=ByHand.entropy, vf_coef=ByHand.values,
        max_grad_norm=ByHand.longest,
    )  # fmt: skip
    # A round is longer than an episode, and no multiple of one.
    task = IPPO(make, algorithm, num_envs=1, steps=5, rounds=3)
    agents = {agent: ByHand(task.begin(agent)) for agent in task.cast}
    with IPPORun(task, workers=2) as run:
        for number in range(task.rounds):
            run.step()
            played = made[-1].history[5 * number : 5 * number + 5]
            turns = np.arange(5 * number, 5 * number + 5) % 3
            for agent, other, sign in (("a", "b", 1.0), ("b", "a", -1.0)):
                mine = np.array([actions[agent] for actions in played])
                others = np.array([actions[other] for actions in played])
                worth = np.where(turns == 2, 2.0, 1.0)
                agents[agent].learn(
                    sign * np.stack([np.ones(5), 0.5 * turns], 1),
                    mine,
                    worth * (mine - others / 2),
                    turns == 2,
                    sign * np.stack([np.ones(5), 0.5 * (turns + 1)], 1),
                )
            for agent, hand in agents.items():
                (layer,) = run.weights[agent]["actor"]
                np.testing.assert_allclose(layer["w"], hand.params[0], atol=2e-6)
                np.testing.assert_allclose(layer["b"], hand.params[1], atol=2e-6)
        assert {actions[agent] for actions in made[-1].history for agent in "ab"} == {
            0,
            1,
        }
        (a,), (b,) = (run.weights[agent]["actor"] for agent in "ab")
        assert np.abs(a["w"] - b["w"]).max() > 0.01  # each learned its own


class Awkward(Meeting):
    def action_space(self, agent: str) -> Any:
        return gym.spaces.MultiBinary(2) if agent == "right" else gym.spaces.Discrete(2)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"steps": 0}, "steps is 0"),
        ({"env": Awkward}, "agent 'right': PPO chooses actions from Discrete or Box"),
        (
            {"steps": 1, "num_envs": 1},
            "agent 'left': a round has 1 steps, and PPO splits them into 2",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused_at_once(
    change: dict[str, Any], match: str
) -> None:
    with pytest.raises(FlowError, match=match):
        IPPORun(replace(MEETING, **change))


@pytest.mark.slow
def test_agents_learn_to_meet() -> None:
    """At best 0.94: (11 * 1 + 7 * 0.9 + 3 * 0.8) / 21, by distance at the beginning."""
    task = IPPO(
        Meeting,
        PPO(hidden=(32, 32), learning_rate=3e-3, gamma=0.95),
        num_envs=8,
        steps=64,
        rounds=120,
        seed=1,
    )
    weights = task.run()

    env = Meeting()
    total = 0.0
    for episode in range(500):
        seen, _ = env.reset(seed=10_000 if episode == 0 else None)
        while env.agents:
            actions = {
                agent: task.algorithm.act_best(weights[agent], row[None])[0]
                for agent, row in seen.items()
            }
            seen, rewards, _, _, _ = env.step(actions)
            total += rewards["left"]
    assert total / 500 >= 0.9, total / 500
