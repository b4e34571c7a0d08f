# SPDX-License-Identifier: Apache-2.0
"""Many native steps, compared with Python in samples.

The native vector steps all the way. At regular intervals its state is handed to a
vector of Python environments, as by a checkpoint, and both do the next steps. There is
no place in it for an episode that has ended: episodes are reset in their last step.
"""

from __future__ import annotations

from contextlib import closing
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from reactorl.rl import VectorEnv
from reactorl.rl.envs.commands import Load, Save
from tests.rl.comparing import assert_same
from tests.rl.envs.native.cases import CASES, live, makers, sampled

IDS = [case for case, (env_id, _) in CASES.items() if case == env_id]

pytestmark = pytest.mark.filterwarnings("ignore:.*out of date")


def soak(case: str, *, envs: int, steps: int, samples: int, compared: int) -> None:
    """Step native environments, and compare samples with Python.

    Args:
        case: The environment.
        envs: How many.
        steps: Of all environments.
        samples: How often they are compared.
        compared: Steps of the vector that are compared each time.
    """
    env_id, kwargs = CASES[case]
    every = range(envs)
    mode: Any = {"autoreset_mode": AutoresetMode.SAME_STEP}
    made = makers(case, envs)
    with (
        closing(
            VectorEnv(env_id, envs, env_kwargs=kwargs, native=True, **mode)
        ) as ours,
        closing(VectorEnv(made, native=False, workers=1, **mode)) as theirs,
    ):
        table = sampled(ours, 997, seed=3)
        ours.reset(seed=11)
        theirs.reset(seed=1)
        at = 0
        for _ in range(samples):
            for _ in range(steps // envs // samples):
                ours.step(table[at % 997])
                at += 1
            assert live(ours) == envs or case == "Acrobot-v1"
            states = ours.ask(Save(), every)
            replies: Any = theirs.ask(
                Load(dict(zip(every, states, strict=True))), every
            )
            assert set(replies) == {""}
            for _ in range(compared):
                actions = table[at % 997]
                assert_same(ours.step(actions), theirs.step(actions), f"step {at}")
                at += 1


@pytest.mark.parametrize("case", IDS)
def test_samples_of_many_native_steps(case: str) -> None:
    soak(case, envs=16, steps=100_000, samples=3, compared=40)


@pytest.mark.slow
@pytest.mark.parametrize("case", IDS)
def test_samples_of_a_hundred_million_native_steps(case: str) -> None:
    soak(case, envs=256, steps=100_000_000, samples=40, compared=100)


@pytest.mark.slow
@pytest.mark.parametrize("case", IDS)
def test_a_million_steps_without_gaps(case: str) -> None:
    env_id, kwargs = CASES[case]
    with (
        closing(VectorEnv(env_id, 64, env_kwargs=kwargs, native=True)) as ours,
        closing(SyncVectorEnv(makers(case, 64))) as theirs,
    ):
        table = sampled(ours, 997, seed=3)
        assert_same(ours.reset(seed=11), theirs.reset(seed=11))
        for turn in range(1_000_000 // 64):
            actions = np.array(table[turn % 997])
            assert_same(ours.step(actions), theirs.step(actions), f"step {turn}")
