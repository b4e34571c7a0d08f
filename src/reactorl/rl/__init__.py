# SPDX-License-Identifier: Apache-2.0
"""Reinforcement learning on reactors."""

from __future__ import annotations

from reactorl.rl.envs.errors import EnvError, SharedStateError
from reactorl.rl.vector.batch_log import BatchLog
from reactorl.rl.vector.env import VectorEnv
from reactorl.rl.vector.registration import make_vector, register_vector

__all__ = [
    "BatchLog",
    "EnvError",
    "SharedStateError",
    "VectorEnv",
    "make_vector",
    "register_vector",
]

for _name in __all__:
    globals()[_name].__module__ = __name__
