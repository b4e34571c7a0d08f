# SPDX-License-Identifier: Apache-2.0
"""Families of environments: ids for which the same settings are a good start."""

from __future__ import annotations

import re
from typing import Final

_BY_ID: Final = {
    "atari": r"ALE/.*",
    "minatar": r"MinAtar/.*",
    "minigrid": r"(MiniGrid|BabyAI)-.*",
}
"""Families of packages whose ids have a namespace or prefix of their own."""
_BY_ENTRY_POINT: Final = {
    "box2d": "gymnasium.envs.box2d",
    "classic-control": "gymnasium.envs.classic_control",
    "mujoco": "gymnasium.envs.mujoco",
    "toy-text": "gymnasium.envs.toy_text",
}
FAMILIES: Final = (*_BY_ID, *_BY_ENTRY_POINT)
_VERSION: Final = re.compile(r"-v\d+$")


def base_name(env_id: str) -> str:
    """Return an id without the module to import and without its version."""
    return _VERSION.sub("", env_id.rpartition(":")[2])


def family_of(env_id: str) -> str | None:
    """Return the family of an environment, None if it belongs to none.

    The id need not be registered yet: packages register theirs when they are imported.
    """
    name = base_name(env_id)
    for family, pattern in _BY_ID.items():
        if re.fullmatch(pattern, name):
            return family
    from gymnasium import registry

    for spec in registry.values():
        if base_name(spec.id) == name and isinstance(spec.entry_point, str):
            for family, module in _BY_ENTRY_POINT.items():
                if spec.entry_point.startswith(f"{module}."):
                    return family
    return None
