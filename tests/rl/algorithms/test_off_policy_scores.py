# SPDX-License-Identifier: Apache-2.0
"""Scores of SAC and TD3: the mean return of 100 greedy episodes after a training."""

from __future__ import annotations

from typing import Any

import pytest

from reactorl.rl import SAC, TD3, preset
from tests.rl.trained import mean_return

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", [SAC, TD3])
@pytest.mark.parametrize("seed", [1, 2])
def test_pendulum_reaches_170_within_20_000_steps(kind: Any, seed: int) -> None:
    task = kind(total_timesteps=20_000).task("Pendulum-v1", seed=seed, eval_every=0)
    assert mean_return(task) >= -170


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_sac_reaches_90_on_mountain_car_within_50_000_steps(seed: int) -> None:
    task: Any = preset("sac", "MountainCarContinuous-v0").task(seed=seed, eval_every=0)
    assert task.algorithm.total_timesteps == 50_000
    assert mean_return(task) >= 90


def test_sac_reaches_3_000_on_half_cheetah_within_100_000_steps() -> None:
    pytest.importorskip("mujoco")
    task: Any = preset("sac", "HalfCheetah-v5").task(
        seed=1, eval_every=0, total_timesteps=100_000
    )
    assert mean_return(task) >= 3_000
