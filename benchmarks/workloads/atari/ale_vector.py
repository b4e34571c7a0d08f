# SPDX-License-Identifier: Apache-2.0
"""AtariVectorEnv of ale-py, with 2 threads: emulators and preparation in C++.

https://ale.farama.org/vector-environment/: made with the name of the ROM; ``games`` has
the settings. Its additions (clipped rewards, pressing fire at a reset) are turned off,
as the other engines do not have them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ale_py.vector_env import AtariVectorEnv

from benchmarks.workloads.atari import games
from benchmarks.workloads.gym.parts import SEED, Sight, rows

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Step the vector, round after round."""
    sight = Sight(watch, params)
    envs = AtariVectorEnv(
        params["rom"],
        num_envs=params["envs"],
        num_threads=engine.workers,
        img_height=games.SIZE,
        img_width=games.SIZE,
        stack_num=games.STACKED,
        frameskip=games.FRAMES,
        noop_max=games.NOOPS,
        repeat_action_probability=games.STICKY,
        reward_clipping=False,
        use_fire_reset=False,
    )
    envs.reset(seed=SEED)
    for row in rows(params):
        if not sight.batch(envs.step(row)):
            break
    envs.close()
    return sight.more()
