# SPDX-License-Identifier: Apache-2.0
"""IPPO: independent PPO, for several agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reactorl.rl._public import public
from reactorl.rl.algorithms.ppo import PPOBase

if TYPE_CHECKING:
    from reactorl.rl.flow.task import Task


@public
@dataclass(frozen=True, kw_only=True)
class IPPO(PPOBase):
    """IPPO: independent PPO, for several agents with a policy each."""

    total_timesteps: int = 240_000
    """Total number of environment steps, rounded up to whole iterations; all agents
    act in each."""
    num_steps: int = 100
    """Steps per environment in an iteration."""
    gamma: float = 0.95
    """Discount factor."""
    reward_scale: float = 0.2
    """Factor for rewards in the loss; reported returns are unscaled. Choose it such
    that value estimates are about 10 or less."""

    name = "IPPO"
    default_env = "mpe2.simple_spread_v3"

    @classmethod
    def task_type(cls) -> type[Task]:
        """Return the class of tasks with several agents."""
        from reactorl.rl.flow.multi_agent import MultiAgentFlow

        return MultiAgentFlow
