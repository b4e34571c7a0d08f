# SPDX-License-Identifier: Apache-2.0
"""The last few observations as one, for policies that must see movement."""

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
"""How many stacks there is room for, before what is needed moves to the front."""


@public
class FrameStack(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Stacks observations as Gymnasium's ``FrameStackObservation`` does, in less time.

    Frames are written one behind the other into one array, and a stack is a copy of its
    last few rows; nothing is put together anew in each step.

    Args:
        env: Its observations are arrays, all of one shape (``Box``).
        stack_size: How many make a stack; the last is the newest.
        padding_type: What stands for those before the first: the first one
            (``"reset"``), or zeros (``"zero"``).

    Raises:
        ValueError: An argument is out of range.
        TypeError: Observations are no arrays.
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
            msg = f"{env} observes {space}; only arrays (Box) are stacked"
            raise TypeError(msg)
        if stack_size < 1:
            msg = f"stack_size is {stack_size}; a stack has one observation or more"
            raise ValueError(msg)
        if padding_type not in PADDINGS:
            msg = f"padding_type is {padding_type!r}; it is 'reset' or 'zero'"
            raise ValueError(msg)
        self.stack_size = stack_size
        self.padding_type = padding_type
        self.observation_space = batch_space(space, stack_size)
        self._frames = np.zeros((WINDOWS * stack_size, *space.shape), space.dtype)
        self._next = 0
        """Where the next observation is put."""

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:  # noqa: ANN401
        """Step the environment; return the stack that ends with what it shows."""
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
