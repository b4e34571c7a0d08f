# SPDX-License-Identifier: Apache-2.0
"""Finding presets, and tasks made with them."""

from __future__ import annotations

import tomllib
from collections.abc import Container, Mapping  # noqa: TC003 - of a public dataclass
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar

from reactorl.rl._public import public
from reactorl.rl.algorithms.registry import ALGORITHMS, algorithm_class
from reactorl.rl.flow.algorithm import FlowError
from reactorl.rl.presets.families import FAMILIES, base_name, family_of

if TYPE_CHECKING:
    from reactorl.rl.flow.algorithm import Algorithm
    from reactorl.rl.flow.task import Task

_T = TypeVar("_T")


@public
@dataclass(frozen=True, kw_only=True)
class Preset:
    """Tuned settings of an algorithm for an environment.

    Example:
        >>> task = preset("ppo", "LunarLander-v3").task(seed=1)
        >>> Trainer(task).fit()
    """

    name: str
    """Algorithm and environment or family: ``ppo/LunarLander``, ``ppo/atari``."""
    env_id: str
    """The environment that it was asked for; empty in a list of all presets."""
    settings: Mapping[str, Any]
    """Hyper-parameters of the algorithm and options of the task that it changes."""
    tried: str
    """What it was tried on, with the result."""
    source: str
    """Where the settings come from."""

    def algorithm(self, **changes: Any) -> Algorithm:  # noqa: ANN401
        """Return the algorithm with these settings.

        Args:
            changes: Other hyper-parameters, which take precedence.

        Raises:
            FlowError: A hyper-parameter is invalid.
        """
        cls = algorithm_class(self.name.partition("/")[0])
        return cls(**{**self._for(cls), **changes})

    def task(self, **changes: Any) -> Task:  # noqa: ANN401
        """Return the task of training on the environment with these settings.

        Args:
            changes: Other hyper-parameters and options of the task, such as ``seed``;
                they take precedence.

        Raises:
            FlowError: A value is invalid.
        """
        cls = algorithm_class(self.name.partition("/")[0])
        hyper = {field.name for field in fields(cls)} & changes.keys()
        algorithm = self.algorithm(**{name: changes.pop(name) for name in hyper})
        options = self._for(algorithm.task_type().options_type)
        options = {**options, "preset": self.name, **changes}
        return algorithm.task(self.env_id, **options)

    def applied(self, options: _T) -> _T:
        """Return an algorithm or options of a task with those settings it has."""
        given: Any = options
        changed: _T = replace(given, **self._for(type(options)))
        return changed

    def _for(self, cls: Any) -> dict[str, Any]:  # noqa: ANN401
        """Return the settings that are fields of a dataclass."""
        names = {field.name for field in fields(cls)}
        return {name: v for name, v in self.settings.items() if name in names}

    def without(self, given: Container[str]) -> Preset:
        """Return it without settings that a flag gives."""
        left = {name: v for name, v in self.settings.items() if name not in given}
        return replace(self, settings=left)

    def __str__(self) -> str:
        shown = (f"{name} {_text(value)}" for name, value in self.settings.items())
        return f"{self.name} ({', '.join(shown)})"


@public
def preset(algorithm: str, env_id: str) -> Preset:
    """Return the preset of an algorithm for an environment.

    ``reactorl train`` applies it to all settings that no flag gives, unless there is
    ``--no-preset``. In Python presets are explicit: ``PPO()`` has the plain defaults.

    Args:
        algorithm: Its name on the command line, e.g. ``ppo``.
        env_id: Id of the environment.

    Raises:
        FlowError: There is no such algorithm or no preset for the environment.
    """
    algorithm_class(algorithm)
    found = find_preset(algorithm, env_id)
    if found is None:
        known = [one.name.partition("/")[2] for one in _all()[algorithm].values()]
        msg = f"{algorithm} has no preset for {env_id}"
        remedy = f"It has presets for {', '.join(known)}." if known else ""
        raise FlowError(msg, remedy)
    return found


@public
def find_preset(algorithm: str, env_id: str) -> Preset | None:
    """Return the preset for an environment, or for its family; None: the defaults.

    An environment for which the defaults were tuned has no preset.
    """
    own = _all().get(algorithm, {})
    if not own or base_name(env_id) == base_name(
        algorithm_class(algorithm).default_env
    ):
        return None
    found = own.get(base_name(env_id)) or own.get(family_of(env_id) or "")
    if found is None:
        return None
    return replace(found, env_id=env_id)


@public
def list_presets() -> list[Preset]:
    """Return all presets, by algorithm; those of families are last."""
    return [one for own in _all().values() for one in own.values()]


@cache
def _all() -> dict[str, dict[str, Preset]]:
    """Return the presets of all algorithms, by environment or family."""
    found = {}
    for algorithm in ALGORITHMS:
        file = files("reactorl.rl.presets").joinpath(f"{algorithm}.toml")
        if not file.is_file():
            continue
        tables = tomllib.loads(file.read_text())
        found[algorithm] = {
            where: Preset(
                name=f"{algorithm}/{where}",
                env_id="",
                settings={k: _value(v) for k, v in table["settings"].items()},
                tried=table["tried"],
                source=table["source"],
            )
            for where, table in sorted(
                tables.items(), key=lambda item: item[0] in FAMILIES
            )
        }
    return found


def _value(value: Any) -> Any:  # noqa: ANN401
    return tuple(value) if isinstance(value, list) else value


def _text(value: Any) -> str:  # noqa: ANN401
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
