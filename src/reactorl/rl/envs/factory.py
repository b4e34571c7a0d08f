# SPDX-License-Identifier: Apache-2.0
"""How environments are made: from functions, or from an id with arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from operator import index
from typing import Any, TypeAlias

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

Maker: TypeAlias = Callable[[], gym.Env[Any, Any]]
"""Makes one environment."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Makes an environment from its id, arguments and wrappers."""

    spec: EnvSpec
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    wrappers: Sequence[Callable[[Any], Any]] = ()

    def __call__(self) -> gym.Env[Any, Any]:
        """Make one."""
        env: gym.Env[Any, Any] = gym.make(self.spec, **self.kwargs)
        for wrapper in self.wrappers:
            env = wrapper(env)
        return env


def find_spec(env_id: str) -> EnvSpec:
    """Return the specification with an id; ``module:id`` imports a module first."""
    module, _, name = env_id.rpartition(":")
    if module:
        try:
            import_module(module)
        except ImportError as error:
            error.add_note(f"{module!r} is the module in the id {env_id!r}")
            raise
    return gym.spec(name)


def makers(
    env: str | EnvSpec | Sequence[Maker],
    num_envs: int | None,
    kwargs: Mapping[str, Any] | None,
    wrappers: Sequence[Callable[[Any], Any]],
) -> list[Maker]:
    """Return what makes each environment.

    Args:
        env: An id or specification, or a function for each environment.
        num_envs: How many; functions are as many as there are.
        kwargs: Arguments for ``gymnasium.make``; only with an id.
        wrappers: What to put around each environment; only with an id.

    Raises:
        TypeError: It is none of these.
        ValueError: Something is given that does not go together.
    """
    if isinstance(env, str | EnvSpec):
        count = count_of("num_envs", 1 if num_envs is None else num_envs)
        _refuse_no_mapping(kwargs)
        _refuse_no_wrappers(wrappers)
        spec = find_spec(env) if isinstance(env, str) else env
        return [Recipe(spec, dict(kwargs or {}), tuple(wrappers))] * count
    if callable(env) or not isinstance(env, Sequence):
        msg = (
            f"env is {env!r}; it is an id such as 'CartPole-v1', or a list of "
            "functions that make an environment each"
        )
        raise TypeError(msg)
    found: list[Any] = list(env)
    if not found:
        msg = "env_fns is empty; a vector has at least one environment"
        raise ValueError(msg)
    for place, maker in enumerate(found):
        if not callable(maker):
            hint = " (an environment; wrap it: lambda: make_it())"
            is_env = hint if isinstance(maker, gym.Env) else ""
            msg = f"env_fns[{place}] is {maker!r}{is_env}, not a function"
            raise TypeError(msg)
    if num_envs not in (None, len(found)):
        msg = f"num_envs is {num_envs}, and there are {len(found)} env_fns"
        raise ValueError(msg)
    if kwargs or wrappers:
        msg = "kwargs and wrappers go with an id; env_fns make what they like"
        raise ValueError(msg)
    return found


def count_of(name: str, given: Any) -> int:  # noqa: ANN401
    """Return how many of something a caller wants, by the name of the argument.

    Raises:
        TypeError: It is no whole number.
        ValueError: It is not above zero.
    """
    count = whole(name, given)
    if count < 1:
        msg = f"{name} is {count}; there is at least one"
        raise ValueError(msg)
    return count


def whole(name: str, given: Any) -> int:  # noqa: ANN401
    """Return a whole number that a caller gave, by the name of the argument.

    Raises:
        TypeError: It is none.
    """
    try:
        return index(given)
    except TypeError:
        msg = f"{name} is {given!r}; it is a whole number, from 1"
        raise TypeError(msg) from None


def _refuse_no_mapping(kwargs: object) -> None:
    if kwargs is not None and not isinstance(kwargs, Mapping):
        msg = f"env_kwargs is {kwargs!r}; it is a dict of arguments for gymnasium.make"
        raise TypeError(msg)


def _refuse_no_wrappers(wrappers: Any) -> None:  # noqa: ANN401
    if callable(wrappers) or not isinstance(wrappers, Sequence):
        msg = f"wrappers is {wrappers!r}; it is a list of functions or classes"
        raise TypeError(msg)
    for place, wrapper in enumerate(wrappers):
        if not callable(wrapper):
            msg = f"wrappers[{place}] is {wrapper!r}, not a function or class"
            raise TypeError(msg)
