# SPDX-License-Identifier: Apache-2.0
"""The environments of the matrix: Gymnasium's own, and those of other packages."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import gymnasium as gym
import pytest

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

PACKAGES: Final = {
    "classic_control": "gymnasium",
    "toy_text": "gymnasium",
    "phys2d": "flax",
    "tabular": "flax",
    "box2d": "Box2D",
    "mujoco": "mujoco",
    "atari": "ale_py",
    "minatar": "minatar",
    "minigrid": "minigrid",
}
"""The package that each family of environments needs."""

OTHERS: Final = {
    "atari": [
        "ALE/Pong-v5",
        "ALE/Breakout-v5",
        "ALE/SpaceInvaders-v5",
        "ALE/MsPacman-v5",
        "ALE/Seaquest-v5",
    ],
    "minatar": [
        "MinAtar/Asterix-v1",
        "MinAtar/Breakout-v1",
        "MinAtar/Freeway-v1",
        "MinAtar/Seaquest-v1",
        "MinAtar/SpaceInvaders-v0",
    ],
    "minigrid": [
        "MiniGrid-Empty-5x5-v0",
        "MiniGrid-DoorKey-6x6-v0",
        "MiniGrid-Dynamic-Obstacles-5x5-v0",
    ],
}
"""Environments of packages that are not part of Gymnasium."""

REFUSED: Final = {"Pusher-v4": "needs mujoco < 3"}
"""Ids with an environment that cannot be made with today's packages."""

UNSAFE_IN_THREADS: Final = {"CarRacing-v3": "pygame's drawing is not thread-safe"}
"""Environments that give other observations if several run concurrently."""


@cache
def families() -> dict[str, list[str]]:
    """Return the ids of each family, without those that cannot be made."""
    found: dict[str, list[str]] = {family: [] for family in PACKAGES}
    for env_id, spec in gym.registry.items():
        entry = spec.entry_point
        if isinstance(entry, str) and entry.startswith("gymnasium.envs."):
            family = entry.split(":")[0].split(".")[2]
            if env_id not in REFUSED:
                found[family].append(env_id)
    return found | OTHERS


def other_ids_of_gymnasium() -> list[str]:
    """Return the ids that Gymnasium registers and the matrix leaves out."""
    inside = {env_id for ids in families().values() for env_id in ids}
    ours = [
        env_id
        for env_id, spec in gym.registry.items()
        if str(getattr(spec.entry_point, "__module__", spec.entry_point)).startswith(
            "gymnasium.envs"
        )
    ]
    return [env_id for env_id in ours if env_id not in inside]


def installed(family: str) -> bool:
    """Return whether the package of a family is installed."""
    return find_spec(PACKAGES[family]) is not None


def params(ids: dict[str, list[str]] | None = None) -> list[ParameterSet]:
    """Return ids as parameters of a test, skipped where their package is missing.

    Args:
        ids: Ids by family; None: all.
    """
    return [
        pytest.param(
            env_id,
            marks=pytest.mark.skipif(
                not installed(family), reason=f"{PACKAGES[family]} is not installed"
            ),
        )
        for family, env_ids in (ids or families()).items()
        for env_id in env_ids
    ]


def register(env_id: str) -> None:
    """Import the package that registers an id."""
    if env_id.startswith("ALE/"):
        import_module("ale_py")
    elif env_id.startswith("MinAtar/"):
        if env_id not in gym.registry:
            import_module("minatar.gym").register_envs()
    elif env_id.startswith("MiniGrid-"):
        import_module("minigrid")


def make(env_id: str, **kwargs: Any) -> gym.Env[Any, Any]:
    """Make an environment, in any process."""
    register(env_id)
    return gym.make(env_id, **kwargs)
