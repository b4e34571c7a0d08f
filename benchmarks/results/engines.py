# SPDX-License-Identifier: Apache-2.0
"""Engines: libraries that train, each in a virtual environment of its own."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.results.tasks import Task

HERE: Final = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class TrainingEngine:
    """A library that trains.

    Attributes:
        name: As on the command line and in file names.
        title: As in tables.
        environment: The virtual environment it is installed in; see
            ``benchmarks.harness.environments``.
        runner: Module of ``benchmarks.results.runners`` that trains with it.
        settings: File of its settings; empty: presets of ours.
        about: One line for the report.
        needs: Modules without which it cannot run.
        options: Read by the runner.
    """

    name: str
    title: str
    environment: str
    runner: str
    settings: str
    about: str
    needs: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ours(self) -> bool:
        """Whether it is our package."""
        return self.runner == "ours"

    @property
    def free_threaded(self) -> bool:
        """Whether its interpreter has no GIL."""
        return self.environment.endswith("-ft")

    def algorithms(self, task: Task) -> dict[str, dict[str, Any]]:
        """Return the algorithms that train a task, and their settings."""
        if self.ours:
            return {name: {} for name in task.ours}
        if task.curve:
            return {}
        return settings_of(self.settings).get(task.env_id, {})


@cache
def settings_of(name: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Return published settings by environment and algorithm."""
    return tomllib.loads((HERE / "settings" / f"{name}.toml").read_text())


_OURS = ("reactorl", "jax", "optax")
_ALL = (
    TrainingEngine(
        "ours-ft",
        "ReactoRL 3.14t",
        "ours-ft",
        "ours",
        "",
        "ReactoRL on free-threaded CPython 3.14, with its presets",
        _OURS,
    ),
    TrainingEngine(
        "ours-gil",
        "ReactoRL GIL",
        "ours-gil",
        "ours",
        "",
        "ReactoRL on CPython with GIL, with its presets",
        _OURS,
    ),
    TrainingEngine(
        "sb3",
        "SB3",
        "sb3",
        "sb3",
        "zoo",
        "Stable-Baselines3 with the settings of rl-baselines3-zoo",
        ("stable_baselines3",),
        {"library": "stable_baselines3"},
    ),
    TrainingEngine(
        "sbx",
        "SBX",
        "sbx",
        "sb3",
        "zoo",
        "SBX (SB3's interface on JAX) with the settings of rl-baselines3-zoo, without "
        "what SBX does not have: state-dependent exploration and the initialization of "
        "networks",
        ("sbx",),
        {"library": "sbx"},
    ),
    TrainingEngine(
        "rlox",
        "rlox",
        "rlox",
        "rlox_trainer",
        "rlox",
        "rlox with its defaults; it publishes no settings for these environments",
        ("rlox",),
    ),
    TrainingEngine(
        "rllib",
        "RLlib",
        "rllib",
        "rllib",
        "rllib",
        "RLlib with the settings of its tuned examples; that for Pendulum aims at -300 "
        "within 400,000 steps",
        ("ray.rllib",),
    ),
    TrainingEngine(
        "cleanrl",
        "CleanRL's way",
        "sb3",
        "cleanrl_way",
        "cleanrl",
        "PPO in one file with PyTorch, written by us with CleanRL's published "
        "settings: CleanRL itself cannot be installed from PyPI on this Python",
        ("torch",),
    ),
    TrainingEngine(
        "purejaxrl",
        "PureJaxRL's way",
        "purejaxrl",
        "purejaxrl_way",
        "purejaxrl",
        "PPO with the environment inside a compiled JAX program, on gymnax, written by "
        "us with PureJaxRL's published settings: PureJaxRL is not on PyPI. The "
        "environments are other programs than Gymnasium's; evaluations are Gymnasium's",
        ("gymnax",),
    ),
)
ENGINES: Final = {engine.name: engine for engine in _ALL}
