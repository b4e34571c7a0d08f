# SPDX-License-Identifier: Apache-2.0
"""Reinforcement learning on reactors."""

from __future__ import annotations

from reactorl.rl.failures import EnvFailure, SharedStateError
from reactorl.rl.vector import VectorEnv

__all__ = ["EnvFailure", "SharedStateError", "VectorEnv"]

for _name in __all__:
    globals()[_name].__module__ = __name__
