# SPDX-License-Identifier: Apache-2.0
"""Frame stacking: the last observations as one, so that policies see motion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector.utils import batch_space

from reactorl.rl._public import public

if TYPE_CHECKING:
    from reactorl.rl.envs.observation_buffer import Array

__all__ = ["FrameStack"]

Padding: TypeAlias = Literal["reset", "zero"]
PADDINGS: Final[tuple[Padding, ...]] = ("reset", "zero")

WINDOWS: Final = 8
"""Capacity in stacks; then the last frames are moved to the front."""


@public
class FrameStack(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Stacks observations like Gymnasium's ``FrameStackObservation``, but faster.

    Frames are written one after the other into one array, and a stack is a copy of its
    last rows, so that nothing is concatenated in a step.

    Args:
        env: An environment with array observations (``Box``).
        stack_size: Number of observations in a stack; the last is the newest.
        padding_type: Padding before the first observation: the first one
            (``"reset"``), or zeros (``"zero"``).

    Raises:
        ValueError: An argument is out of range.
        TypeError: Observations are not arrays.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        stack_size: int,
        *,
        padding_type: Padding = "reset",
    ) -> None:
        RecordConstructorArgs.__init__(
            self, stack_size=stack_size, padding_type=padding_type
        )
        gym.Wrapper.__init__(self, env)
        space = env.observation_space
        if not isinstance(space, Box):
            msg = f"observation_space must be a Box, got {space} of {env}"
            raise TypeError(msg)
        if stack_size < 1:
            msg = f"stack_size must be at least 1, got {stack_size}"
            raise ValueError(msg)
        if padding_type not in PADDINGS:
            msg = f"padding_type must be 'reset' or 'zero', got {padding_type!r}"
            raise ValueError(msg)
        self.stack_size = stack_size
        self.padding_type = padding_type
        self.observation_space = batch_space(space, stack_size)
        self._frames = np.zeros((WINDOWS * stack_size, *space.shape), space.dtype)
        self._next = 0
        """The row for the next observation."""

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:  # noqa: ANN401
        """Step the environment; return the stack that ends with its observation."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        size, frames = self.stack_size, self._frames
        if self._next == len(frames):
            frames[: size - 1] = frames[len(frames) - size + 1 :]
            self._next = size - 1
        frames[self._next] = observation
        self._next += 1
        return self._stack(), reward, terminated, truncated, info

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset the environment; return the stack of its first observation."""
        observation, info = self.env.reset(seed=seed, options=options)
        size = self.stack_size
        self._frames[: size - 1] = observation if self.padding_type == "reset" else 0
        self._frames[size - 1] = observation
        self._next = size
        return self._stack(), info

    def _stack(self) -> Array:
        return self._frames[self._next - self.stack_size : self._next].copy()
