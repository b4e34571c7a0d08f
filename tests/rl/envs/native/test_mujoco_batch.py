# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's own batch interface computes the states of Gymnasium's environments.

Environments of MuJoCo are not native yet: this is what native ones would rest on.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")
rollout = pytest.importorskip("mujoco.rollout")

STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS


def state_of(core: Any) -> Any:
    found = np.empty(mujoco.mj_stateSize(core.model, STATE))
    mujoco.mj_getState(core.model, core.data, found, STATE)
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "env_id", ["HalfCheetah-v5", "Hopper-v5", "Walker2d-v5", "Ant-v5", "Swimmer-v5"]
)
def test_rollouts_of_mujoco_give_the_states_of_gymnasium(env_id: str) -> None:
    core: Any = gym.make(env_id).unwrapped
    core.reset(seed=1)
    random = np.random.Generator(np.random.PCG64(2))
    space = core.action_space
    scratch = mujoco.MjData(core.model)
    for step in range(100):
        action = random.uniform(space.low, space.high).astype(np.float32)
        control = np.repeat(action.astype(np.float64)[None], core.frame_skip, axis=0)
        found, _ = rollout.rollout(
            core.model,
            scratch,
            state_of(core)[None],
            control[None],
            initial_warmstart=np.array(core.data.qacc_warmstart)[None],
        )
        core.step(action)
        assert found[0, -1].tobytes() == state_of(core).tobytes(), step
    core.close()
