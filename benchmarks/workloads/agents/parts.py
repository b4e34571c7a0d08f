# SPDX-License-Identifier: Apache-2.0
"""Policies and the environment between them, independent of the engine."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness.seen import Seen

HIDDEN = 64


class Policy:
    """The network of one agent: inputs, 64, actions; it takes the greedy action.

    It gets the observations of all agents and reads its own row, as in the paper.
    """

    def __init__(self, index: int) -> None:
        self._index = index

    def begin(self, params: dict[str, Any]) -> None:
        """Make the network."""
        random = np.random.default_rng((1, self._index))
        inputs, actions = params["inputs"], params["actions"]
        self._first = _uniform(random, (inputs, HIDDEN), inputs)
        self._first_bias = _uniform(random, (HIDDEN,), inputs)
        self._second = _uniform(random, (HIDDEN, actions), HIDDEN)
        self._second_bias = _uniform(random, (actions,), HIDDEN)

    def act(self, observations: Any) -> int:  # noqa: ANN401
        """Return the greedy action."""
        hidden = observations[self._index] @ self._first
        hidden += self._first_bias
        np.maximum(hidden, 0, out=hidden)
        values = hidden @ self._second
        values += self._second_bias
        return int(values.argmax())


def _uniform(random: Any, shape: tuple[int, ...], inputs: int) -> Any:  # noqa: ANN401
    scale = np.float32(1 / np.sqrt(inputs))
    return scale * random.uniform(-1, 1, shape).astype(np.float32)


class World:
    """The environment, with the watch that counts its steps.

    An episode that ended is followed by the next one at once, and policies see its
    first observation; in the paper it is lost.
    """

    def __init__(self, params: dict[str, Any], watch: Any) -> None:  # noqa: ANN401
        self._env: Any
        if params["env"] == "junction":
            from benchmarks.workloads.agents.junction import Junction

            self._env = Junction(params["agents"])
        else:
            from benchmarks.workloads.agents.spread import Spread

            self._env = Spread(params["agents"])
        self._watch = watch
        self._seen = Seen(watch)
        self.observations = self._env.reset().astype(np.float32)

    def step(self, actions: list[int]) -> bool:
        """Step; return whether another round is to follow."""
        observations, rewards, over = self._env.step(actions)
        if over:
            observations = self._env.reset()
        self.observations = observations.astype(np.float32, copy=False)
        self._seen.add(actions, self.observations, np.array(rewards))
        return bool(self._watch.tick(self._seen))


def policies(params: dict[str, Any]) -> list[Policy]:
    """Return the policies of all agents."""
    found = [Policy(index) for index in range(params["agents"])]
    for policy in found:
        policy.begin(params)
    return found
