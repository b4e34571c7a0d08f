# SPDX-License-Identifier: Apache-2.0
"""Failures and restarts of multi-agent environments."""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import Any

import pytest
from gymnasium.vector import AutoresetMode

from reactorl.rl import EnvError
from tests.rl.comparing import assert_same

pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")

from reactorl.rl.multi_agent.pettingzoo import ParallelRunner, ParallelVectorEnv
from tests.rl.games import Auction, FrailAuction, ReusingAuction
from tests.rl.scripts import kill

PLACEMENTS: list[Any] = ["thread", "process"]
MODES = list(AutoresetMode)


def bids(envs: ParallelVectorEnv) -> list[dict[str, int]]:
    """Return an action for each agent, small enough to stay."""
    return [dict.fromkeys(playing, 0) for playing in envs.agents]


def untagged(failure: str) -> str:
    """Return the first line of a failure from the tag on."""
    return failure.splitlines()[0].partition(", tag ")[2]


# -- a restart -------------------------------------------------------------------------


@pytest.mark.parametrize("restart", ["reset", "recreate"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("placement", "kind"),
    [("thread", "raise"), ("process", "raise"), ("process", "kill")],
)
def test_a_restart_truncates_all_agents_and_is_logged(
    placement: Any, kind: str, mode: AutoresetMode, restart: Any
) -> None:
    envs = ParallelVectorEnv(
        [Auction, partial(FrailAuction, kind)],
        placement=placement,
        workers=2,
        autoreset_mode=mode,
        restart=restart,
    )
    envs.reset(seed=1)
    last = deepcopy(envs.step(bids(envs))[0][1])
    agents = envs.agents[1]

    seen, rewards, terminations, truncations, infos = envs.step(bids(envs))

    assert rewards[1] == dict.fromkeys(agents, 0.0)
    assert terminations[1] == dict.fromkeys(agents, False)
    assert truncations[1] == dict.fromkeys(agents, True)
    assert not any(truncations[0].values())
    assert len(infos[0]["bidder_0"]) == 2  # nothing about somebody else's restart
    for agent in agents:
        info = infos[1][agent]
        if mode is AutoresetMode.SAME_STEP:
            assert_same(info["final_obs"], last[agent])
            assert "restart" not in info
            info = info["final_info"]
        else:
            assert_same(seen[1][agent], last[agent])
        assert info["restart"] == restart
        text = "environment 1 (auction_v0) failed in step 2, tag "
        assert info["failure"].startswith(f"{text}{envs.tag}: ")
        due = "LookupError: the hammer is lost" if kind == "raise" else "SIGKILL"
        assert due in info["failure"]
    assert bool(envs.agents[1]) == (mode is AutoresetMode.SAME_STEP)
    if mode is AutoresetMode.DISABLED:
        assert envs.step(bids(envs))[0][1] == {}  # it rests, and is told once
        _, infos = envs.reset(indices=[1])
        assert "restart" not in infos[0]["bidder_0"]
    elif mode is AutoresetMode.NEXT_STEP:
        *_, truncations, infos = envs.step(bids(envs))
        assert not any(truncations[1].values())
        assert "restart" not in infos[1]["bidder_0"]
    assert envs.agents[1] == ["bidder_0", "bidder_1", "bidder_2"]
    assert envs.call("round")[1] == 0
    envs.close()


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_last_observations_are_copies(placement: Any) -> None:
    makers = [partial(ReusingAuction, "raise")]
    envs = ParallelVectorEnv(makers, placement=placement, restart="reset")
    envs.reset(seed=1)
    seen = envs.step(bids(envs))[0][0]
    last = deepcopy(seen)
    if placement == "process":  # there it is the caller's own
        for values in seen.values():
            values[:] = -1

    found = envs.step(bids(envs))[0][0]

    assert_same(found, last)
    envs.close()


def troubled() -> list[Any]:
    kinds = [("raise", 3), ("", 0), ("reset", 0), ("raise", 2)]
    return [partial(FrailAuction, kind, at) for kind, at in kinds]


def run(mode: AutoresetMode, restart: Any, **options: Any) -> list[Any]:
    envs = ParallelVectorEnv(
        troubled(), autoreset_mode=mode, restart=restart, **options
    )
    found: list[Any] = [deepcopy(envs.reset(seed=3))]
    for turn in range(20):
        found.append(deepcopy(envs.step(bids(envs))))
        resting = [index for index in range(4) if not envs.agents[index]]
        if mode is AutoresetMode.DISABLED and resting:
            found.append(deepcopy(envs.reset(indices=resting)))
        if turn == 12:
            found.append(deepcopy(envs.reset(seed=[8, 9], indices=[3, 0])))
    envs.close()
    return found


@pytest.mark.parametrize("restart", ["reset", "recreate"])
@pytest.mark.parametrize("mode", MODES)
def test_restarts_are_the_same_for_any_workers_and_placement(
    mode: AutoresetMode, restart: str
) -> None:
    expected = run(mode, restart, placement="thread", workers=1)

    assert_same(run(mode, restart, placement="thread", workers=2), expected)
    assert_same(run(mode, restart, placement="process", workers=2), expected)
    assert str(expected).count("'restart': ") > 9


# -- processes that are lost -----------------------------------------------------------


def test_a_process_that_dies_names_environment_step_and_tag() -> None:
    makers = [Auction, Auction, partial(FrailAuction, "kill", 3), Auction]
    envs = ParallelVectorEnv(makers, placement="process", workers=2)
    envs.reset(seed=1)
    envs.step(bids(envs))
    envs.step(bids(envs))

    with pytest.raises(EnvError, match=r"SIGKILL.*environments 2 to 3") as raised:
        envs.step(bids(envs))

    failure = raised.value
    assert (failure.index, failure.env, failure.step) == (2, "auction_v0", 3)
    assert failure.tag == str(envs.tag)
    envs.close()


def test_all_that_a_lost_process_held_are_restarted() -> None:
    envs = ParallelVectorEnv(
        Auction, 4, placement="process", workers=2, restart="recreate"
    )
    envs.reset(seed=1)
    last = deepcopy(envs.step(bids(envs))[0])
    kill(envs.call("pid")[2])

    seen, _, _, truncations, infos = envs.step(bids(envs))

    assert [any(each.values()) for each in truncations] == [False, False, True, True]
    assert_same(seen[2:], last[2:])
    assert "it held environments 2 to 3" in infos[3]["bidder_0"]["failure"]
    assert [bool(each) for each in envs.agents] == [True, True, False, False]
    envs.close()


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED])
def test_failure_after_the_end_does_not_end_the_episode_again(
    placement: Any, mode: AutoresetMode
) -> None:
    kind = "reset" if placement == "thread" else "kill reset"
    envs = ParallelVectorEnv(
        [Auction, partial(FrailAuction, kind)],
        placement=placement,
        workers=2,
        restart="recreate",
        autoreset_mode=mode,
    )
    envs.reset(seed=1)
    for _ in range(6):
        truncations = envs.step(bids(envs))[3]
    assert all(truncations[1].values())
    assert envs.agents == [[], []]

    if mode is AutoresetMode.NEXT_STEP:
        *_, truncations, infos = envs.step(bids(envs))
        assert truncations[1] == dict.fromkeys(envs.agents[1], False)
    else:
        _, infos = envs.reset()

    assert len(envs.agents[1]) == 3
    assert "restart" not in infos[0]["bidder_0"]
    for info in infos[1].values():
        assert info["restart"] == "recreate"
        assert "in a reset after step 6" in info["failure"] or kind == "kill reset"
    assert not any(envs.step(bids(envs))[3][1].values())
    envs.close()


def test_killed_process_is_reported_by_the_next_reset() -> None:
    envs = ParallelVectorEnv(
        [Auction, partial(Auction, rounds=2)],
        placement="process",
        workers=1,
        restart="recreate",
    )
    envs.reset(seed=1)
    envs.step(bids(envs))
    envs.step(bids(envs))
    assert envs.agents[1] == []
    kill(envs.call("pid")[0])

    seen, _, _, truncations, _ = envs.step(bids(envs))
    _, infos = envs.reset(indices=[1])

    assert all(truncations[0].values())
    assert seen[1] == truncations[1] == {}  # it goes on resting
    assert infos[0]["bidder_0"]["restart"] == "recreate"
    envs.close()


@pytest.mark.parametrize("restart", ["never", "reset"])
def test_a_process_that_hangs_in_c_is_killed(restart: Any) -> None:
    envs = ParallelVectorEnv(
        [Auction, partial(FrailAuction, "sleep")],
        placement="process",
        workers=2,
        timeout=3.0,
        restart=restart,
    )
    envs.reset(seed=1)
    envs.step(bids(envs))

    if restart == "never":
        with pytest.raises(EnvError, match=r"longer than 3 s") as raised:
            envs.step(bids(envs))
        assert (raised.value.index, raised.value.step) == (1, 2)
    else:
        infos = envs.step(bids(envs))[4]
        assert "longer than 3 s" in infos[1]["bidder_2"]["failure"]
    envs.close()


# -- resets and seeds ------------------------------------------------------------------


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_a_reset_that_fails_is_tried_once_more(placement: Any) -> None:
    envs = ParallelVectorEnv(
        [partial(FrailAuction, "reset")], placement=placement, restart="reset"
    )
    envs.reset(seed=1)
    alone = Auction().reset(seed=5, options={"purse": 7})[0]

    seen, infos = envs.reset(seed=5, options={"purse": 7})

    assert_same(seen[0], alone)
    log = infos[0]["bidder_1"]
    assert log["options"] == {"purse": 7}
    assert log["restart"] == "reset"
    assert untagged(log["failure"]) == f"{envs.tag}: LookupError: the room is taken"
    envs.close()


def test_a_step_before_the_first_reset_is_refused_whatever_restart_says() -> None:
    envs = ParallelVectorEnv(Auction, 1, placement="thread", restart="recreate")

    with pytest.raises(EnvError, match="failed in step 1"):
        envs.step([{"bidder_0": 0}])
    envs.close()


def test_recreated_environments_are_seeded_anew_each_time() -> None:
    runs = []
    for _ in range(2):
        envs = ParallelVectorEnv(
            [partial(FrailAuction, "raise", 1)],
            placement="thread",
            restart="recreate",
            autoreset_mode="SameStep",
        )
        envs.reset(seed=5)
        runs.append([envs.step(bids(envs))[0][0]["bidder_0"][-1] for _ in range(4)])
        envs.close()

    assert runs[0] == runs[1]
    assert len({float(offer) for offer in runs[0]}) == 4  # no life is lived twice


def test_a_runner_is_restarted_too() -> None:
    runner = ParallelRunner(partial(FrailAuction, "raise"), restart="reset")
    runner.reset(seed=1)
    runner.step(dict.fromkeys(runner.agents, 0))

    *_, truncations, infos = runner.step(dict.fromkeys(runner.agents, 0))

    assert truncations == {"bidder_0": True, "bidder_1": True, "bidder_2": True}
    assert infos["bidder_0"]["restart"] == "reset"
    assert runner.agents == []
    runner.close()


def test_unknown_restart_is_refused() -> None:
    with pytest.raises(ValueError, match=r"restart must be one of never.*got 'often'"):
        ParallelVectorEnv(Auction, 2, restart="often")  # type: ignore[arg-type]
