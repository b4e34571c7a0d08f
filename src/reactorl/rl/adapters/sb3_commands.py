# SPDX-License-Identifier: Apache-2.0
"""Access to attributes of environments, by the rules of Stable-Baselines3.

They differ from Gymnasium's: methods are read without being called, and attributes are
set on the outermost wrapper, even if an inner one has an attribute of that name.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gymnasium as gym

from reactorl.rl.envs.commands import Answer, Broadcast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.envs.managed_env import ManagedEnv


@dataclass(frozen=True, slots=True)
class Read(Broadcast):
    """Read an attribute of the outermost wrapper that has it."""

    name: str

    def apply(self, sub_env: ManagedEnv) -> Answer:
        """Read it."""
        return Answer.of(lambda: sub_env.env.get_wrapper_attr(self.name))


@dataclass(frozen=True, slots=True)
class Invoke(Broadcast):
    """Call a method of the outermost wrapper that has it."""

    name: str
    args: tuple[Any, ...] = ()
    kwargs: tuple[tuple[str, Any], ...] = ()

    def apply(self, sub_env: ManagedEnv) -> Answer:
        """Call it."""
        return Answer.of(
            lambda: sub_env.env.get_wrapper_attr(self.name)(
                *self.args, **dict(self.kwargs)
            )
        )


@dataclass(frozen=True, slots=True)
class Put(Broadcast):
    """Set an attribute of the outermost wrapper."""

    name: str
    value: Any

    def apply(self, sub_env: ManagedEnv) -> Answer:
        """Set it."""
        return Answer.of(lambda: setattr(sub_env.env, self.name, self.value))


@dataclass(frozen=True, slots=True)
class Wrapped(Broadcast):
    """Return whether there is a wrapper of a class."""

    kind: type | None
    name: tuple[str, str]
    """The module and name of the class, for other processes."""

    @classmethod
    def by(cls, kind: type) -> Wrapped:
        """Ask for wrappers of a class."""
        return cls(kind, _named(kind))

    def part(self, indices: Sequence[int]) -> Wrapped:
        """Return the command by name: in a process the class is another object."""
        return Wrapped(None, self.name)

    def apply(self, sub_env: ManagedEnv) -> Answer:
        """Look through the wrappers."""
        env: Any = sub_env.env
        while isinstance(env, gym.Wrapper):
            if self._fits(env):
                return Answer(value=True)
            env = env.env
        return Answer(value=False)

    def _fits(self, wrapper: object) -> bool:
        if self.kind is not None:
            return isinstance(wrapper, self.kind)
        return any(_named(kind) == self.name for kind in type(wrapper).__mro__)


@dataclass(frozen=True, slots=True)
class Identify(Broadcast):
    """Return the identity of the environment."""

    def apply(self, sub_env: ManagedEnv) -> Answer:
        """Return its process and its address there."""
        return Answer((os.getpid(), id(sub_env.env.unwrapped)))


def _named(kind: type) -> tuple[str, str]:
    return kind.__module__, kind.__qualname__
