# SPDX-License-Identifier: Apache-2.0
"""Placement, restarts and timeouts of environments in training."""

from __future__ import annotations

import logging
import math
import os
import signal
import time
from dataclasses import replace
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from reactorl.rl import EnvError, Flow, FlowError, QLearning
from reactorl.rl.checkpoint.identity import identity
from reactorl.rl.envs.shard_factory import ShardFactory
from reactorl.rl.flow.shard_envs import RolloutEnvs
from tests.rl.comparing import assert_same

PLACEMENTS: list[Any] = ["thread", "process"]


class Walk(gym.Env[Any, Any]):
    """A random walk on nine states whose episodes have random lengths.

    Args:
        fault: What happens in step 7 after the environment was made, if anything.
    """

    observation_space = spaces.Discrete(9)
    action_space = spaces.Discrete(2)

    def __init__(self, fault: str = "") -> None:
        self.fault = fault
        self.total = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.state = int(self.np_random.integers(9))
        self.left = int(self.np_random.integers(2, 9))
        return self.state, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.total += 1
        if self.total == 7:
            self.fail()
        self.left -= 1
        move = 1 if self.np_random.random() < 0.3 + 0.4 * int(action) else -1
        self.state = int(np.clip(self.state + move, 0, 8))
        return self.state, self.state / 8, self.state == 8, self.left == 0, {}

    def fail(self) -> None:
        if self.fault == "raise":
            msg = "out of order"
            raise RuntimeError(msg)
        if self.fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.fault == "hang":
            time.sleep(60)


WALK = Flow(
    Walk,
    QLearning(num_envs=4, num_steps=6, total_timesteps=4 * 6 * 6),
    rollouts=2,
    eval_every=2 * 4 * 6,
    eval_episodes=3,
    placement="thread",
)


def trained(flow: Flow, **options: Any) -> tuple[bytes, list[Any]]:
    with flow.start(**options) as run:
        iterations = list(run.iterations())
        return run.weights.tobytes(), iterations


def saved_at(flow: Flow, stop: int) -> Any:
    with flow.start(workers=1) as run:
        for _ in range(stop):
            run.step()
        return run.save()


@pytest.fixture(scope="module")
def expected() -> tuple[bytes, list[Any]]:
    return trained(WALK, workers=1)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_process_placement_gives_the_weights_of_threads(
    workers: int, expected: tuple[bytes, list[Any]]
) -> None:
    assert trained(replace(WALK, placement="process"), workers=workers) == expected


@pytest.mark.parametrize("before", PLACEMENTS)
@pytest.mark.parametrize("after", PLACEMENTS)
def test_a_run_resumes_with_either_placement(
    before: Any, after: Any, expected: tuple[bytes, list[Any]]
) -> None:
    saved = saved_at(replace(WALK, placement=before), 3)

    bits, iterations = trained(replace(WALK, placement=after), workers=2, saved=saved)

    assert (bits, iterations) == (expected[0], expected[1][3:])


def test_saved_states_do_not_depend_on_the_placement() -> None:
    flow = replace(WALK, env="FrozenLake-v1")  # with wrappers, which cache attributes

    saved = [saved_at(replace(flow, placement=each), 2) for each in PLACEMENTS]

    assert_same(*saved)


def test_identity_does_not_depend_on_where_environments_run() -> None:
    other = replace(WALK, placement="process", env_timeout=3.0, env_restart="reset")

    assert identity(other) == identity(WALK)


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_a_failure_stops_training_and_names_the_environment(placement: Any) -> None:
    flow = replace(WALK, env=partial(Walk, "raise"), placement=placement)

    with pytest.raises(EnvError, match="out of order") as raised:
        trained(flow, workers=2)

    failure = raised.value
    assert (failure.index, failure.step) == (0, 7)
    assert failure.tag


@pytest.mark.parametrize("restart", ["reset", "recreate"])
def test_restarts_are_the_same_with_either_placement(
    restart: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    flow = replace(WALK, env=partial(Walk, "raise"), env_restart=restart)
    found = [trained(replace(flow, placement=each), workers=1) for each in PLACEMENTS]

    assert found[0] == found[1]
    assert found[0] != trained(WALK, workers=1)
    assert "out of order" in caplog.text


def test_a_restarted_run_resumes_with_the_same_weights() -> None:
    flow = replace(WALK, env=partial(Walk, "raise"), env_restart="recreate")
    bits, iterations = trained(flow, workers=1)

    saved = saved_at(flow, 4)
    assert trained(flow, workers=2, saved=saved) == (bits, iterations[4:])


def test_a_killed_process_is_replaced() -> None:
    flow = replace(
        WALK,
        env=partial(Walk, "kill"),
        algorithm=replace(WALK.algorithm, total_timesteps=3 * 4 * 6),  # two of each
        placement="process",
        env_restart="recreate",
    )

    assert trained(flow, workers=1) == trained(flow, workers=2)


def test_a_killed_process_stops_training_without_restarts() -> None:
    flow = replace(WALK, env=partial(Walk, "kill"), placement="process")

    with pytest.raises(EnvError, match="SIGKILL"):
        trained(flow, workers=1)


def test_a_step_in_native_code_that_exceeds_the_timeout_is_ended() -> None:
    flow = replace(
        WALK, env=partial(Walk, "hang"), placement="process", env_timeout=3.0
    )

    with pytest.raises(EnvError, match=r"longer than 3 s"):
        trained(flow, workers=1)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"placement": "moon"}, "placement must be .*got 'moon'"),
        ({"env_restart": "often"}, "restart must be one of .*got 'often'"),
    ],
)
def test_wrong_options_are_refused(change: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        replace(WALK, **change).check()


@pytest.mark.parametrize("seconds", [0, -1.0, math.nan, math.inf, 1e9])
def test_a_timeout_that_cannot_be_waited_for_is_refused(seconds: float) -> None:
    with pytest.raises(FlowError, match="env_timeout must be above 0 and at most"):
        replace(WALK, env_timeout=seconds)


def test_an_environment_that_cannot_be_made_is_named() -> None:
    def make() -> Any:
        msg = "no license"
        raise OSError(msg)

    envs = RolloutEnvs(ShardFactory(make), WALK.spaces, 2, WALK.algorithm)
    with pytest.raises(EnvError, match=r"environment 0 .*no license"):
        envs.open()
    envs.close()
