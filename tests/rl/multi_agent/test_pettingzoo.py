# SPDX-License-Identifier: Apache-2.0
"""Vectors of multi-agent environments equal a loop over them."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from copy import deepcopy
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from reactorl.rl import EnvError
from tests.rl.comparing import assert_same

pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")

from pettingzoo.test import parallel_api_test, parallel_seed_test
from pettingzoo.test.example_envs import (
    generated_agents_parallel_cust_agentid_v0,
    generated_agents_parallel_v0,
)

from reactorl.rl.multi_agent.pettingzoo import ParallelRunner, ParallelVectorEnv
from tests.rl.games import Auction, BrokenAuction, EndlessAuction, SlowAuction

PLACEMENTS = ("thread", "process")
COUNT = 5
MAKERS = [partial(Auction, 2 + k % 3, 4 + k) for k in range(COUNT)]


def bids(agents: list[list[str]], turn: int) -> list[dict[str, int]]:
    """Return an action for each agent; they differ by turn, place and agent."""
    return [
        {agent: (7 * turn + 3 * k + j) % 4 for j, agent in enumerate(playing)}
        for k, playing in enumerate(agents)
    ]


def loop(turns: int, mode: AutoresetMode) -> list[Any]:
    """Return what a plain loop over the environments collects."""
    envs = [make() for make in MAKERS]
    begun = [env.reset(seed=3 + k) for k, env in enumerate(envs)]
    found: list[Any] = [deepcopy(([o for o, _ in begun], [i for _, i in begun]))]
    for turn in range(turns):
        actions = bids([env.agents for env in envs], turn)
        results = [step_one(env, actions[k], mode) for k, env in enumerate(envs)]
        found.append(deepcopy(tuple(map(list, zip(*results, strict=True)))))
        found.append([list(env.agents) for env in envs])
    return found


def step_one(env: Auction, actions: dict[str, int], mode: AutoresetMode) -> Any:
    if not env.agents:
        if mode is AutoresetMode.DISABLED:
            return {}, {}, {}, {}, {}
        obs, infos = env.reset()
        agents = env.agents
        zero = dict.fromkeys(agents, 0.0)
        no = dict.fromkeys(agents, False)
        return obs, zero, no, dict(no), infos
    obs, rewards, terminations, truncations, infos = env.step(actions)
    if not env.agents and mode is AutoresetMode.SAME_STEP:
        final, final_infos = obs, infos
        obs, infos = env.reset()
        for agent in final:
            infos[agent]["final_obs"] = final[agent]
            infos[agent]["final_info"] = final_infos[agent]
    return obs, rewards, terminations, truncations, infos


def play(envs: ParallelVectorEnv, turns: int) -> list[Any]:
    found: list[Any] = [deepcopy(envs.reset(seed=3))]
    for turn in range(turns):
        found.append(deepcopy(envs.step(bids(envs.agents, turn))))
        found.append(deepcopy(envs.agents))
    return found


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_vector_equals_a_loop(mode: AutoresetMode, workers: int) -> None:
    envs = ParallelVectorEnv(
        MAKERS, autoreset_mode=mode, workers=workers, placement="thread"
    )
    found = play(envs, 25)
    envs.close()

    assert_same(found, loop(25, mode))


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_vector_in_processes_equals_a_loop(mode: AutoresetMode, workers: int) -> None:
    envs = ParallelVectorEnv(
        MAKERS, autoreset_mode=mode, workers=workers, placement="process"
    )
    found = play(envs, 25)
    envs.close()

    assert_same(found, loop(25, mode))


def test_the_comparison_sees_agents_that_leave_and_episodes_that_end() -> None:
    found = loop(25, AutoresetMode.SAME_STEP)
    agents = found[2::2]

    assert len({len(each[4]) for each in agents}) == 3  # 1 to 3 of 3
    assert any("final_obs" in i["bidder_0"] for step in found[1::2] for i in step[4])
    assert all(loop(25, AutoresetMode.DISABLED)[-1][k] == [] for k in range(COUNT))


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_reset_of_some_envs_leaves_others_alone(placement: Any) -> None:
    envs = ParallelVectorEnv(Auction, 3, workers=2, placement=placement)
    envs.reset(seed=1)
    envs.step(bids(envs.agents, 0))

    observations, infos = envs.reset(seed=[8, 9], options={"purse": 7}, indices=[2, 0])
    rounds = envs.call("round")
    envs.close()

    alone = [Auction().reset(seed=seed, options={"purse": 7}) for seed in (8, 9)]
    assert_same(observations, [observation for observation, _ in alone])
    assert_same(infos, [info for _, info in alone])
    assert rounds == [0, 1, 0]


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_a_runner_passes_pettingzoos_tests(
    placement: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:
    runner = ParallelRunner(Auction, placement=placement)
    parallel_api_test(runner, num_cycles=50)
    runner.close()
    parallel_seed_test(lambda: ParallelRunner(Auction, placement=placement))

    assert "Passed Parallel API test" in capsys.readouterr().out


@pytest.mark.filterwarnings("ignore:This environment does not have possible_agents")
@pytest.mark.parametrize(
    "module", [generated_agents_parallel_v0, generated_agents_parallel_cust_agentid_v0]
)
def test_pettingzoo_envs_with_changing_agents(
    module: Any,
) -> None:
    runner = ParallelRunner(module.parallel_env)
    parallel_api_test(runner, num_cycles=50)
    runner.close()
    parallel_seed_test(lambda: ParallelRunner(module.parallel_env))

    assert not hasattr(runner, "possible_agents")


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_runner_equals_its_env(placement: Any) -> None:
    alone = Auction(4, 9)
    with_us = ParallelRunner(lambda: Auction(4, 9), placement=placement)

    assert with_us.possible_agents == alone.possible_agents
    assert with_us.agents == []
    assert with_us.metadata == alone.metadata
    assert with_us.render_mode == "ansi"
    assert str(with_us) == "auction_v0"
    assert with_us.max_num_agents == 4
    assert with_us.action_spaces == alone._actions
    assert with_us.observation_spaces == alone._observations
    for seed in (5, None):
        assert_same(with_us.reset(seed=seed), alone.reset(seed=seed))
        while alone.agents:
            assert with_us.agents == alone.agents
            assert with_us.num_agents == alone.num_agents
            actions = {agent: alone.round % 4 for agent in alone.agents}
            assert_same(with_us.step(actions), alone.step(actions))
            assert_same(with_us.state(), alone.state())
            assert with_us.render() == alone.render()
        assert with_us.agents == []
    with_us.close()


def test_spaces_are_the_environments_own_or_one_copy_until_the_next_reset() -> None:
    near = ParallelVectorEnv(Auction, 2, placement="thread")
    far = ParallelVectorEnv(Auction, 2, placement="process", workers=1)
    near.reset(seed=1)
    far.reset(seed=1)

    own = near.call("action_space", "bidder_1")
    copy = far.action_space("bidder_1", 1)

    assert near.action_space("bidder_1", 1) is own[1]
    assert near.action_space("bidder_1") is own[0]
    assert far.action_space("bidder_1", 1) is copy
    far.reset(indices=[0])
    assert far.action_space("bidder_1", 1) is copy
    far.reset()
    assert far.action_space("bidder_1", 1) is not copy
    assert far.action_space("bidder_1", 1) == copy
    near.close()
    far.close()


def test_each_environment_stays_with_the_thread_that_made_it() -> None:
    before = threading.active_count()
    envs = ParallelVectorEnv(Auction, 6, workers=3, placement="thread", pin=True)
    envs.reset(seed=1)
    for turn in range(5):
        envs.step(bids(envs.agents, turn))

    made_by = envs.call("made_by")
    assert envs.call("used_by") == [{thread} for thread in made_by]
    assert len(set(made_by)) == 3
    envs.close()
    assert threading.active_count() == before


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_an_environment_that_raises_is_named_with_step_and_tag(
    placement: Any,
) -> None:
    makers = [Auction, Auction, BrokenAuction]
    envs = ParallelVectorEnv(makers, workers=2, placement=placement)
    envs.reset(seed=1)
    envs.step(bids(envs.agents, 0))
    envs.step(bids(envs.agents, 0))

    with pytest.raises(EnvError, match="hammer is lost") as caught:
        envs.step(bids(envs.agents, 0))
    failure = caught.value
    assert (failure.index, failure.env, failure.step) == (2, "auction_v0", 3)
    assert failure.what == "LookupError: the hammer is lost"
    assert failure.tag == str(envs.tag)
    assert "in step" in failure.trace
    envs.close()


def test_an_environment_that_cannot_be_made_is_named() -> None:
    def make() -> Auction:
        msg = "no room"
        raise OSError(msg)

    with pytest.raises(EnvError, match=r"environment 1 .*no room"):
        ParallelVectorEnv([Auction, make], workers=1)


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_hanging_env_is_interrupted(placement: Any) -> None:
    runner = ParallelRunner(EndlessAuction, timeout=3.0, placement=placement)
    runner.reset(seed=1)
    runner.step(dict.fromkeys(runner.agents, 0))

    with pytest.raises(EnvError, match=r"longer than 3 s"):
        runner.step(dict.fromkeys(runner.agents, 0))
    runner.close()


def test_a_process_that_is_killed_is_named_with_its_environments() -> None:
    envs = ParallelVectorEnv(Auction, 4, workers=2, placement="process")
    envs.reset(seed=1)
    os.kill(envs.call("pid")[2], signal.SIGKILL)

    with pytest.raises(EnvError, match=r"SIGKILL.*environments 2 to 3") as caught:
        envs.step(bids(envs.agents, 0))
    assert caught.value.index == 2
    envs.close()


def test_slow_games_go_to_processes_where_there_is_a_gil(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    has_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    envs = ParallelVectorEnv(SlowAuction, 4, workers=2)
    envs.close()
    assert envs.placement == ("process" if has_gil else "thread")

    monkeypatch.setattr("reactorl.rl.envs.placement.MIN_PROCESS_SECONDS", 3600.0)
    envs = ParallelVectorEnv(SlowAuction, 4, workers=2)
    envs.close()
    assert envs.placement == "thread"


def test_bad_arguments_are_refused_with_a_remedy() -> None:
    with pytest.raises(TypeError, match="env must be a function"):
        ParallelRunner(Auction())
    with pytest.raises(TypeError, match="a function that makes a ParallelEnv"):
        ParallelVectorEnv([])
    with pytest.raises(ValueError, match=r"num_envs must be .*2, got 3"):
        ParallelVectorEnv([Auction] * 2, 3)
    with pytest.raises(ValueError, match="num_envs must be at least 1, got 0"):
        ParallelVectorEnv(Auction, 0)
    with pytest.raises(ValueError, match="'thread', 'process' or 'auto'"):
        ParallelVectorEnv(Auction, placement="cloud")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="timeout must be above 0"):
        ParallelRunner(Auction, timeout=0)

    envs = ParallelVectorEnv(Auction, 2, placement="thread")
    with pytest.raises(ValueError, match="num_envs=2 but got length=3"):
        envs.reset(seed=[1, 2, 3])
    with pytest.raises(ValueError, match=r"indices must be distinct, got \[0, 0\]"):
        envs.reset(indices=[0, 0])
    with pytest.raises(ValueError, match=r"actions must have 2 items, .*got 1"):
        envs.step([{}])
    envs.close()


def test_closing_twice_is_fine_and_stepping_after_it_is_not() -> None:
    envs = ParallelVectorEnv(Auction, 2, placement="thread")
    envs.reset(seed=1)
    envs.close()
    envs.close()

    with pytest.raises(gym.error.ClosedEnvironmentError):
        envs.step([{}, {}])


def test_garbage_vector_is_closed() -> None:
    closed = []

    class Noticing(Auction):
        def close(self) -> None:
            closed.append(True)

    runner = ParallelRunner(Noticing)
    runner.reset(seed=1)
    del runner
    gc.collect()

    assert closed == [True]


def test_seeds_are_counted_up_or_given_one_by_one() -> None:
    envs = ParallelVectorEnv(Auction, 3, workers=1)

    up = deepcopy(envs.reset(seed=np.int64(4))[0])
    given = deepcopy(envs.reset(seed=[4, 5, 6])[0])
    envs.close()

    assert_same(up, given)
    assert not np.array_equal(up[0]["bidder_0"], up[1]["bidder_0"])
