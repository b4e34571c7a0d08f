# SPDX-License-Identifier: Apache-2.0
"""Players: the work of a client. Their results depend on the client's index alone."""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from benchmarks.harness.spin import spin

if TYPE_CHECKING:
    from collections.abc import Callable


class Player(Protocol):
    """The work of a client."""

    def step(self) -> object:
        """Do a round's work and return its result."""


class Spinner:
    """Computes a number that takes ``turns`` turns of a loop."""

    def __init__(self, turns: int, index: int) -> None:
        self.turns = turns
        self.number = index

    def step(self) -> int:
        self.number = spin(self.turns, self.number)
        return self.number


class CartPole:
    """An environment with its own sequence of actions, reset after each episode."""

    def __init__(self, index: int) -> None:
        import gymnasium

        self.environment = gymnasium.make("CartPole-v1")
        self.environment.reset(seed=index)
        self.actions = random.Random(index)

    def step(self) -> Any:  # noqa: ANN401
        step = self.environment.step(self.actions.getrandbits(1))
        observation, _reward, terminated, truncated, _info = step
        if terminated or truncated:
            observation, _info = self.environment.reset()
        return observation


def player_maker(params: dict[str, Any]) -> Callable[[int], Player] | None:
    """Return what makes the player of a client; None if clients only reply."""
    if "env" in params:
        return CartPole
    if "turns" in params:
        return partial(Spinner, params["turns"])
    if "us" in params:
        return partial(Spinner, round(params["us"] * params["turns_per_us"]))
    return None
