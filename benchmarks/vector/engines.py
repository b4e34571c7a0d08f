# SPDX-License-Identifier: Apache-2.0
"""What steps environments: Gymnasium's vectors, and ours in all ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium as gym

from reactorl.rl import VectorEnv

if TYPE_CHECKING:
    from collections.abc import Callable

    Vector = gym.vector.VectorEnv[Any, Any, Any]

SYNC, ASYNC, DEFAULT = "sync", "async", "default"
THREADS_1, THREADS_2, PROCESSES_2 = "threads-1", "threads-2", "processes-2"


def make(engine: str, maker: Callable[[], Any], count: int) -> Vector:
    """Return so many environments on an engine."""
    makers = [maker] * count
    if engine == SYNC:
        return gym.vector.SyncVectorEnv(makers)
    if engine == ASYNC:
        return gym.vector.AsyncVectorEnv(makers)
    if engine == DEFAULT:
        return VectorEnv(makers)
    kind, workers = engine.split("-")
    placement: Any = {"threads": "thread", "processes": "process"}[kind]
    return VectorEnv(makers, placement=placement, workers=int(workers))
