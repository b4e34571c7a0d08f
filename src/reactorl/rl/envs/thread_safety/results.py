# SPDX-License-Identifier: Apache-2.0
"""The results of an environment as digests, to compare runs bit for bit."""

from __future__ import annotations

import hashlib
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Path: TypeAlias = "tuple[str, ...]"


class Result(NamedTuple):
    """What a reset or step returned.

    Attributes:
        main: Digest of the observation, the reward and the ends, or of an exception.
        infos: Digest of each entry of the info, by its keys.
    """

    main: str
    infos: Mapping[Path, str]


def results(env: Any, seed: int) -> Iterator[Result]:  # noqa: ANN401
    """Reset an environment with a seed, then step it without end, with fixed actions.

    An exception is a result as well; the environment is reset after it. If the
    environment can render images or text, that is part of its results.

    Args:
        env: A Gymnasium environment or a PettingZoo ``ParallelEnv``.
        seed: Of the environment and of the actions.
    """
    if hasattr(env, "possible_agents"):
        yield from _parallel_results(env, seed)
        return
    # A copy: environments may share the space, which has a random generator.
    actions = deepcopy(env.action_space)
    actions.seed(seed)
    renders = can_render(env)
    first: int | None = seed
    while True:
        try:
            observation, info = env.reset(seed=first)
            yield _result((observation, env.render() if renders else None), info)
            first = None
            over = False
            while not over:
                *main, info = env.step(actions.sample())
                over = bool(main[2] or main[3])
                yield _result((*main, env.render() if renders else None), info)
        except Exception as error:
            yield _result((type(error).__name__, str(error)), {})


def can_render(env: Any) -> bool:  # noqa: ANN401
    """Return whether ``render`` returns something, rather than showing a window."""
    return getattr(env, "render_mode", None) not in (None, "human")


def _parallel_results(env: Any, seed: int) -> Iterator[Result]:  # noqa: ANN401
    spaces: dict[Any, Any] = {}
    first: int | None = seed
    while True:
        try:
            observations, infos = env.reset(seed=first)
            yield _result(observations, infos)
            first = None
            while env.agents:
                for agent in env.agents:
                    if agent not in spaces:
                        spaces[agent] = deepcopy(env.action_space(agent))
                        spaces[agent].seed(seed + len(spaces))
                *main, infos = env.step({a: spaces[a].sample() for a in env.agents})
                yield _result(main, infos)
        except Exception as error:
            yield _result((type(error).__name__, str(error)), {})


def _result(main: object, info: object) -> Result:
    return Result(digest(main), dict(_entries(info, ())))


def _entries(value: object, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _entries(part, (*path, repr(key)))
    else:
        yield path, digest(value)


def digest(value: object) -> str:
    """Return a digest of a value."""
    seen = hashlib.blake2b(digest_size=16)
    add_to_digest(seen, value)
    return seen.hexdigest()


def add_to_digest(seen: Any, value: Any) -> None:  # noqa: ANN401
    """Add a value to a digest; values without a fixed form count by their type."""
    if isinstance(value, dict):
        for key in value:
            add_to_digest(seen, key)
            add_to_digest(seen, value[key])
    elif isinstance(value, tuple | list):
        for part in value:
            add_to_digest(seen, part)
    elif isinstance(value, np.ndarray) and value.dtype != object:
        seen.update(f"{value.dtype}{value.shape}".encode())
        seen.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, int | float | str | bytes | bool | np.generic):
        seen.update(repr(value).encode())
    else:
        seen.update(type(value).__name__.encode())
