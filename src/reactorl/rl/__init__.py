# SPDX-License-Identifier: Apache-2.0
"""Reinforcement learning on reactors."""

from __future__ import annotations

from reactorl.rl.batches import Batches
from reactorl.rl.failures import EnvFailure, SharedStateError
from reactorl.rl.registration import make_vector, register_vector
from reactorl.rl.vector import VectorEnv

__all__ = [
    "Batches",
    "EnvFailure",
    "SharedStateError",
    "VectorEnv",
    "make_vector",
    "register_vector",
]

for _name in __all__:
    globals()[_name].__module__ = __name__
