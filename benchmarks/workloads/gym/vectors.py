# SPDX-License-Identifier: Apache-2.0
"""Gymnasium's SyncVectorEnv and AsyncVectorEnv, and ours, which is used alike.

https://gymnasium.farama.org/api/vector/: made from functions, seeded by ``reset``,
stepped with a batch of actions. Everything else is left at its default: observations
are copied, and asynchronous ones come through shared memory.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.workloads.gym.parts import (
    SEED,
    Sight,
    make_env,
    params_for,
    rows,
)

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Step the vector, round after round."""
    params = params_for(params, engine)
    sight = Sight(watch, params)
    makers = [partial(make_env, params)] * params["envs"]
    envs = _vector(makers, engine)
    envs.reset(seed=SEED)
    for row in rows(params):
        if not sight.batch(envs.step(row)):
            break
    envs.close()
    return sight.more() | {"placement": getattr(envs, "placement", "")}


def _vector(makers: list[Any], engine: Engine) -> Any:  # noqa: ANN401
    from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

    if engine.name.startswith("gym-sync"):
        return SyncVectorEnv(makers)
    if engine.name.startswith("gym-async"):
        return AsyncVectorEnv(makers)
    from reactorl.rl import VectorEnv

    # Environments in Python and in native code are never in one column.
    native: Any = engine.options.get("native", False)
    if not engine.options:
        return VectorEnv(makers, native=native)
    placement: Any = engine.options["placement"]
    return VectorEnv(makers, placement=placement, workers=engine.workers, native=native)
