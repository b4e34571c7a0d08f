# SPDX-License-Identifier: Apache-2.0
"""Four agents in one environment, and their policies.

Sizes are those of the paper: 324 inputs, a hidden layer of 64, two actions. The
environment itself does almost nothing, so that the policies are measured.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

from reactorl.rl import apply_mlp, make_mlp

AGENTS = tuple(f"agent_{k}" for k in range(4))
INPUTS, HIDDEN, ACTIONS = 324, 64, 2
EPISODE = 50


class Crossing(ParallelEnv[str, Any, int]):
    """Agents observe a row of numbers that depends on all of their actions."""

    metadata = {"name": "crossing"}  # noqa: RUF012

    def __init__(self) -> None:
        self.possible_agents = list(AGENTS)
        self._seen = spaces.Box(-1, 1, (INPUTS,), np.float32)
        self._done = spaces.Discrete(ACTIONS)
        self._views = np.random.default_rng(1).uniform(-1, 1, (64, INPUTS))
        self._views = self._views.astype(np.float32)

    def observation_space(self, agent: str) -> Any:  # noqa: ANN401
        return self._seen

    def action_space(self, agent: str) -> Any:  # noqa: ANN401
        return self._done

    def reset(self, seed: int | None = None, options: Any = None) -> Any:  # noqa: ANN401
        self.agents = list(AGENTS)
        self._steps = self._place = 0
        return self._look(), {agent: {} for agent in AGENTS}

    def step(self, actions: dict[str, int]) -> Any:  # noqa: ANN401
        self._steps += 1
        for action in actions.values():
            self._place = (2 * self._place + int(action)) % 64
        over = self._steps == EPISODE
        if over:
            self.agents = []
        return (
            self._look(),
            dict.fromkeys(AGENTS, 1.0),
            dict.fromkeys(AGENTS, over),
            dict.fromkeys(AGENTS, False),
            {agent: {} for agent in AGENTS},
        )

    def _look(self) -> dict[str, Any]:
        return {a: self._views[(self._place + k) % 64] for k, a in enumerate(AGENTS)}


def by_numpy(layers: Any, rows: Any, random: Any) -> Any:  # noqa: ANN401
    """Return the greedy action for each row."""
    return apply_mlp(layers, rows, np).argmax(axis=1)


@jax.jit
def _best(layers: Any, rows: Any) -> Any:  # noqa: ANN401
    return apply_mlp(layers, rows, jnp).argmax(axis=1)


def by_jax(layers: Any, rows: Any, random: Any) -> Any:  # noqa: ANN401
    """Return the greedy action for each row, by compiled code."""
    return np.asarray(_best(layers, rows))


def policies(case: str) -> dict[str, Any]:
    """Return a policy for each agent."""
    random = np.random.default_rng(2)
    nets = [make_mlp(random, (INPUTS, HIDDEN, ACTIONS), 0.1) for _ in AGENTS]
    if case == "jax":
        nets = jax.device_put(nets)
    policy = {"numpy": by_numpy, "jax": by_jax}[case]
    return {a: partial(policy, net) for a, net in zip(AGENTS, nets, strict=True)}
