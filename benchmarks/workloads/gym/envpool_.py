# SPDX-License-Identifier: Apache-2.0
"""EnvPool, in its synchronous mode, with 2 threads.

https://envpool.readthedocs.io/en/latest/content/python_interface.html: it is made with
``num_envs`` and ``num_threads``; ``batch_size`` is that of all by default. Its
environments are C++ programs of their own with random numbers of their own, so what
they compute cannot be compared bit by bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import envpool
import numpy as np

from benchmarks.workloads.gym.parts import SEED, actions

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Step the pool, round after round."""
    envs = envpool.make_gymnasium(
        params["envpool"] if "game" in params else params["env"],
        num_envs=params["envs"],
        num_threads=engine.workers,
        seed=SEED,
        **params.get("envpool_options", {}),
    )
    envs.reset()
    table = actions(params)
    wanted = np.int32 if table.dtype == np.int64 else table.dtype
    rows = list(table.astype(wanted))
    at = 0
    while True:
        envs.step(rows[at])
        at = (at + 1) % len(rows)
        if not watch.tick():
            break
    envs.close()
    watch.digest = ""
