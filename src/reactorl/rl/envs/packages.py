# SPDX-License-Identifier: Apache-2.0
"""Packages that register environments, and the ids that belong to each.

Gymnasium knows the ids of a package only after the package was imported. The name of an
id tells which one it is: ``ALE/Pong-v5`` belongs to ale_py. The table lists well-known
packages. Others are found by their metadata (entry points of the group
``gymnasium.envs``), or if the namespace of an id is the name of a module.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

GROUP: Final = "gymnasium.envs"
"""Entry points of packages that register environments; the name is the namespace."""


@dataclass(frozen=True, slots=True)
class Package:
    """A package that registers environments."""

    pattern: str
    """Regular expression that the whole id matches."""
    module: str
    """Module to import; ``module:function`` if a function registers the ids."""
    pip: str
    """What ``pip install`` needs."""
    is_certain: bool = True
    """Whether an id that matches can only be one of this package."""

    @property
    def is_installed(self) -> bool:
        """Whether the module can be found; it is not imported."""
        return find_spec(self.module.partition(":")[0].partition(".")[0]) is not None

    def matches(self, env_id: str) -> bool:
        """Return whether an id belongs to the package, by its name."""
        return re.fullmatch(self.pattern, env_id) is not None

    def register(self) -> None:
        """Register the environments; importing a module twice does nothing."""
        name, _, function = self.module.partition(":")
        module = import_module(name)
        if function:
            getattr(module, function)()


KNOWN: Final = (
    Package(r"ALE/.+", "ale_py", "ale-py"),
    Package(r"[A-Z]\w+?(NoFrameskip|Deterministic|-ram\w*)+-v[04]", "ale_py", "ale-py"),
    Package(r"[A-Z][A-Za-z]+-v[045]", "ale_py", "ale-py", is_certain=False),
    Package(r"(MiniGrid|BabyAI)-.+", "minigrid", "minigrid"),
    Package(r"MinAtar/.+", "minatar.gym:register_envs", "minatar"),
    Package(
        r"(mo|deep-sea-treasure|minecart|fruit-tree|four-room|resource-gathering"
        r"|breakable-bottles|water-reservoir|fishwood)-.+",
        "mo_gymnasium",
        "mo-gymnasium",
    ),
    Package(r"MiniWorld-.+", "miniworld", "miniworld"),
    Package(
        r"(Fetch[A-Z]|Hand(Reach|Manipulate)|AdroitHand|AntMaze_|PointMaze_"
        r"|FrankaKitchen).*",
        "gymnasium_robotics",
        "gymnasium-robotics",
    ),
    Package(
        r"(highway|merge|roundabout|intersection|racetrack|parking|exit|two-way|u-turn"
        r"|lane-keeping)-.*v\d+",
        "highway_env",
        "highway-env",
    ),
    Package(r"dm_control/.+", "shimmy", '"shimmy[dm-control]"'),
    Package(r"bsuite/.+", "shimmy", '"shimmy[bsuite]"'),
    Package(r"FlappyBird-.+", "flappy_bird_gymnasium", "flappy-bird-gymnasium"),
    Package(r"Panda[A-Z].+", "panda_gym", "panda-gym"),
    Package(r"PyFlyt/.+", "PyFlyt.gym_envs", "pyflyt"),
    Package(r"Meta-World/.+", "metaworld", "metaworld"),
    Package(r"Vizdoom.+", "vizdoom.gymnasium_wrapper", "vizdoom"),
    Package(r"NetHack.*-v\d+", "nle", "nle"),
    Package(r"MiniHack-.+", "minihack", "minihack"),
    Package(r"popgym-.+", "popgym", "popgym"),
    Package(
        r"(Endless-)?(MortarMayhem|MysteryPath|SearingSpotlights).*",
        "memory_gym",
        "memory-gym",
    ),
    Package(r"(stocks|forex)-v\d+", "gym_anytrading", "gym-anytrading"),
    Package(r"mobile-.+", "mobile_env", "mobile-env"),
    Package(r"rware-.+", "rware", "rware"),
    Package(r"Foraging-.+", "lbforaging", "lbforaging"),
    Package(r"multigrid-.+", "gym_multigrid", "gym-multigrid"),
)
"""Well-known packages; the first that matches and is certain is named if missing."""


def candidates(env_id: str) -> Iterator[Package]:
    """Yield the packages to which an id may belong, the most likely ones first."""
    yield from (package for package in KNOWN if package.matches(env_id))
    namespace, slash, _ = env_id.rpartition("/")
    if not slash:
        return
    pattern = f"{re.escape(namespace)}/.+"
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.value):
        if entry.name == namespace:
            yield Package(pattern, entry.value, namespace)
    module = namespace.replace("-", "_")
    names = [name for name in dict.fromkeys((module, module.lower())) if _exists(name)]
    for name in names:
        yield Package(pattern, name, namespace)
        yield Package(pattern, f"{name}.envs", namespace)


def pip_name(module: str) -> str:
    """Return what installs a module, if it is one of a known package, else empty."""
    top = module.partition(".")[0]
    for package in KNOWN:
        if package.module.partition(":")[0].partition(".")[0] == top:
            return package.pip
    return ""


def _exists(module: str) -> bool:
    return module.isidentifier() and find_spec(module) is not None
