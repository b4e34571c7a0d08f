# SPDX-License-Identifier: Apache-2.0
"""Functions that make environments: given by the user, or from an id."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import index
from typing import Any, TypeAlias

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

from reactorl.rl.envs.ids import dependency_hint, find_spec
from reactorl.rl.envs.rules import MAX_ENVS

Maker: TypeAlias = Callable[[], gym.Env[Any, Any]]
"""Makes one environment."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Makes an environment from an id, arguments and wrappers."""

    spec: EnvSpec
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    wrappers: Sequence[Callable[[Any], Any]] = ()

    def __call__(self) -> gym.Env[Any, Any]:
        """Make an environment.

        Raises:
            gymnasium.error.DependencyNotInstalled: A package is missing; the message
                says how to install it.
        """
        try:
            if str(self.spec.entry_point).startswith("ale_py"):
                _hide_banner()
            env: gym.Env[Any, Any] = gym.make(self.spec, **self.kwargs)
        except ImportError as error:
            hint = dependency_hint(self.spec, error)
            if not hint:
                raise
            msg = f"{str(error).rstrip('.')}. {hint}"
            raise gym.error.DependencyNotInstalled(msg) from error
        return wrapped(env, self.wrappers)


def _hide_banner() -> None:
    """Let ALE not print its name and version for each game; warnings are printed.

    Its environment sets an even higher level itself, but after that was printed.
    """
    from ale_py import ALEInterface, LoggerMode

    ALEInterface.setLoggerMode(LoggerMode.Warning)


@dataclass(frozen=True, slots=True)
class Wrapped:
    """Makes an environment with a function of the user, and wraps it."""

    make: Callable[..., gym.Env[Any, Any]]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    wrappers: Sequence[Callable[[Any], Any]] = ()

    def __call__(self) -> gym.Env[Any, Any]:
        """Make an environment."""
        return wrapped(self.make(**self.kwargs), self.wrappers)


def wrapped(
    env: gym.Env[Any, Any], wrappers: Sequence[Callable[[Any], Any]]
) -> gym.Env[Any, Any]:
    """Return an environment in its wrappers; the first is the innermost."""
    for wrapper in wrappers:
        env = wrapper(env)
    return env


def makers(
    env: str | EnvSpec | Sequence[Maker],
    num_envs: int | None,
    kwargs: Mapping[str, Any] | None,
    wrappers: Sequence[Callable[[Any], Any]],
) -> list[Maker]:
    """Return a function for each environment.

    Args:
        env: An id or specification, or a list of functions.
        num_envs: Number of environments; functions determine it themselves.
        kwargs: Arguments for ``gymnasium.make``; only with an id.
        wrappers: Wrappers for each environment; only with an id.

    Raises:
        TypeError: An argument has the wrong type.
        ValueError: Arguments contradict each other.
    """
    if isinstance(env, str | EnvSpec):
        count = num_envs_of(1 if num_envs is None else num_envs)
        _check_kwargs(kwargs)
        _check_wrappers(wrappers)
        spec = find_spec(env) if isinstance(env, str) else env
        return [Recipe(spec, dict(kwargs or {}), tuple(wrappers))] * count
    if callable(env) or not isinstance(env, Sequence):
        msg = (
            "env must be an id such as 'CartPole-v1' or a list of functions that "
            f"make one environment each, got {env!r}"
        )
        raise TypeError(msg)
    found: list[Any] = list(env)
    if not found:
        msg = "env_fns must not be empty"
        raise ValueError(msg)
    for place, maker in enumerate(found):
        if not callable(maker):
            hint = ", an environment; use lambda: make_it()"
            is_env = hint if isinstance(maker, gym.Env) else ""
            msg = f"env_fns[{place}] must be a function, got {maker!r}{is_env}"
            raise TypeError(msg)
    if num_envs not in (None, len(found)):
        msg = f"num_envs must be the number of env_fns, {len(found)}, got {num_envs}"
        raise ValueError(msg)
    if kwargs or wrappers:
        msg = "env_kwargs and wrappers must be given with an id, not with env_fns"
        raise ValueError(msg)
    return found


def num_envs_of(given: Any) -> int:  # noqa: ANN401
    """Return ``num_envs``: an integer, of which every environment would be made.

    Raises:
        TypeError: It is not an integer.
        ValueError: It is less than 1, or more than ``MAX_ENVS``.
    """
    count = count_of("num_envs", given)
    if count > MAX_ENVS:
        msg = f"num_envs must be at most {MAX_ENVS}, got {count}"
        raise ValueError(msg)
    return count


def count_of(name: str, given: Any) -> int:  # noqa: ANN401
    """Return an argument that must be an integer of at least 1.

    Raises:
        TypeError: It is not an integer.
        ValueError: It is less than 1.
    """
    count = whole(name, given)
    if count < 1:
        msg = f"{name} must be at least 1, got {count}"
        raise ValueError(msg)
    return count


def whole(name: str, given: Any) -> int:  # noqa: ANN401
    """Return an argument that must be an integer.

    Raises:
        TypeError: It is not.
    """
    try:
        return index(given)
    except TypeError:
        msg = f"{name} must be an integer, got {given!r}"
        raise TypeError(msg) from None


def _check_kwargs(kwargs: object) -> None:
    if kwargs is not None and not isinstance(kwargs, Mapping):
        msg = f"env_kwargs must be a dict, got {kwargs!r}"
        raise TypeError(msg)


def _check_wrappers(wrappers: Any) -> None:  # noqa: ANN401
    if callable(wrappers) or not isinstance(wrappers, Sequence):
        msg = f"wrappers must be a list of functions or classes, got {wrappers!r}"
        raise TypeError(msg)
    for place, wrapper in enumerate(wrappers):
        if not callable(wrapper):
            msg = f"wrappers[{place}] must be a function or class, got {wrapper!r}"
            raise TypeError(msg)
