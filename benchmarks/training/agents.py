# SPDX-License-Identifier: Apache-2.0
"""Four agents in one environment: their policies as reactors, and in a plain loop.

Sizes are those of the paper: 324 numbers in, a hidden layer of 64, two actions. The
environment itself does next to nothing, so that the policies are what there is to do.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

from reactorl.rl import Match, MatchRun, apply_mlp, make_mlp

if TYPE_CHECKING:
    from collections.abc import Callable

AGENTS = tuple(f"agent_{k}" for k in range(4))
INPUTS, HIDDEN, ACTIONS = 324, 64, 2
EPISODE = 50
TURNS = 20
"""In a round."""


class Crossing(ParallelEnv[str, Any, int]):
    """Agents see a row of numbers that depends on all of their actions."""

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
    """Return the best action for each row."""
    return apply_mlp(layers, rows, np).argmax(axis=1)


@jax.jit
def _best(layers: Any, rows: Any) -> Any:  # noqa: ANN401
    return apply_mlp(layers, rows, jnp).argmax(axis=1)


def by_jax(layers: Any, rows: Any, random: Any) -> Any:  # noqa: ANN401
    """Return the best action for each row, by compiled code."""
    return np.asarray(_best(layers, rows))


def policies(case: str) -> dict[str, Any]:
    """Return a policy for each agent."""
    random = np.random.default_rng(2)
    nets = [make_mlp(random, (INPUTS, HIDDEN, ACTIONS), 0.1) for _ in AGENTS]
    if case == "jax":
        nets = jax.device_put(nets)
    policy = {"numpy": by_numpy, "jax": by_jax}[case]
    return {a: partial(policy, net) for a, net in zip(AGENTS, nets, strict=True)}


def play_match(case: str, workers: int, tick: Callable[[], bool]) -> None:
    """Play with reactors until told to stop, once for some turns."""
    with MatchRun(Match(Crossing, policies(case)), workers=workers) as run:
        while True:
            for _ in range(TURNS):
                run.step()
            if not tick():
                return


def play_loop(case: str, tick: Callable[[], bool]) -> None:
    """Play with a loop until told to stop, once for some turns."""
    env, each = Crossing(), policies(case)
    random = np.random.default_rng(3)
    observations, _ = env.reset(seed=1)
    while True:
        for _ in range(TURNS):
            actions = {
                agent: each[agent](seen[None], random)[0]
                for agent, seen in observations.items()
            }
            observations, _, _, _, _ = env.step(actions)
            if not env.agents:
                observations, _ = env.reset()
        if not tick():
            return
