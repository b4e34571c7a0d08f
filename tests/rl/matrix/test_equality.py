# SPDX-License-Identifier: Apache-2.0
"""VectorEnv is bit-identical to SyncVectorEnv for every environment of the matrix."""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.vector import AutoresetMode

from reactorl.rl import VectorEnv
from tests.rl.comparing import assert_same_run, play, play_sync
from tests.rl.matrix.environments import (
    REFUSED,
    UNSAFE_IN_THREADS,
    families,
    make,
    other_ids_of_gymnasium,
    params,
    register,
)

MODES = list(AutoresetMode)
COUNT = 3

pytestmark = [
    # Gymnasium warns of old versions of environments, and of some of its own.
    pytest.mark.filterwarnings("ignore:.*out of date:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*Overriding environment:UserWarning"),
]


def check(
    env_id: str,
    mode: AutoresetMode,
    *,
    steps: int,
    limit: int,
    **options: Any,
) -> VectorEnv:
    """Compare with SyncVectorEnv, over several episodes; return the vector, closed."""
    register(env_id)
    makers = [partial(make, env_id, max_episode_steps=limit)] * COUNT
    script: dict[str, Any] = {"steps": steps, "reset_at": [5, steps // 2]}
    theirs = play_sync(makers, sync={"autoreset_mode": mode}, **script)
    envs = VectorEnv(
        env_id,
        COUNT,
        env_kwargs={"max_episode_steps": limit},
        autoreset_mode=mode,
        **options,
    )
    try:
        assert_same_run(play(envs, **script), theirs)
    finally:
        envs.close()
    return envs


def mode_of(env_id: str) -> AutoresetMode:
    """Return one mode for an id, such that each family has all of them."""
    (place,) = [ids.index(env_id) for ids in families().values() if env_id in ids]
    return MODES[place % len(MODES)]


def script_of(env_id: str) -> dict[str, int]:
    """Return fewer steps for environments with expensive images."""
    is_slow = env_id.startswith(("ALE/", "CarRacing"))
    return {"steps": 11, "limit": 4} if is_slow else {"steps": 24, "limit": 9}


def test_every_other_id_of_gymnasium_cannot_be_made() -> None:
    others = other_ids_of_gymnasium()

    assert set(REFUSED) <= set(others)
    for env_id in others:
        with pytest.raises(ImportError):  # MuJoCo v2 and v3, gym's through shimmy
            gym.make(env_id)


@pytest.mark.parametrize("env_id", params())
def test_threads_equal_sync_vector_env(env_id: str) -> None:
    if env_id in UNSAFE_IN_THREADS:
        script = script_of(env_id)
        envs = check(env_id, MODES[0], placement="auto", workers=2, **script)
        assert envs.placement == "process"
        return
    for mode in MODES:
        check(env_id, mode, placement="thread", workers=2, **script_of(env_id))


@pytest.mark.parametrize("env_id", params())
def test_processes_equal_sync_vector_env(env_id: str) -> None:
    script = script_of(env_id)
    check(env_id, mode_of(env_id), placement="process", workers=1, **script)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("env_id", params())
def test_many_steps_equal_sync_vector_env(env_id: str, mode: AutoresetMode) -> None:
    for placement in ("process", "thread"):
        if placement == "process" or env_id not in UNSAFE_IN_THREADS:
            script = {"steps": 200, "limit": 60}
            check(env_id, mode, placement=placement, workers=2, **script)
