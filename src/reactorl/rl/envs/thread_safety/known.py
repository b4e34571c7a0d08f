# SPDX-License-Identifier: Apache-2.0
"""Environments that are known to be safe or unsafe in threads, with the reasons.

A class counts by its module. An environment is safe if each of its layers is: the
environment itself and its wrappers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from reactorl.rl.envs.factory import Recipe
from reactorl.rl.envs.managed_env import env_name
from reactorl.rl.envs.thread_safety.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SAFE: Final = {
    "gymnasium.envs.classic_control": (
        "is Python and NumPy on attributes of each environment"
    ),
    "gymnasium.envs.toy_text": "is Python and NumPy on attributes of each environment",
    "gymnasium.envs.mujoco": (
        "has an mjModel and mjData for each environment, which MuJoCo allows to be "
        "stepped concurrently"
    ),
    "ale_py": (
        "has an emulator for each environment; ALE's own vector environment steps them "
        "in threads"
    ),
    # Base classes, and wrappers that keep their state in attributes.
    "abc": "",
    "typing": "",
    "gymnasium.core": "",
    "gymnasium.utils": "",
    "gymnasium.wrappers": "",
    "reactorl": "",
}
UNSAFE: Final = {
    "gymnasium.envs.box2d.car_racing": (
        "draws its observations with pygame.gfxdraw, which has one table of polygon "
        "edges for all threads"
    ),
}
DRAWING: Final = (
    "gymnasium.envs.classic_control",
    "gymnasium.envs.toy_text",
    "gymnasium.envs.box2d",
)
"""Packages whose images are drawn with pygame, which is not thread-safe."""


@dataclass(frozen=True, slots=True)
class Look:
    """What an environment consists of.

    Attributes:
        name: Its id or class.
        modules: The modules of its classes and those of its wrappers.
        render_mode: Its render mode.
    """

    name: str
    modules: tuple[str, ...]
    render_mode: str | None

    def verdict(self) -> Verdict | None:
        """Return whether it is known to be safe or unsafe; None if neither."""
        draws = self.render_mode not in (None, "ansi")
        for module in self.modules:
            for name, reason in UNSAFE.items():
                if _within(module, name):
                    return Verdict("differs", reason, self.name)
            if draws and any(_within(module, name) for name in DRAWING):
                reason = "draws its images with pygame, which is not thread-safe"
                return Verdict("differs", reason, self.name)
        if self.render_mode is not None:  # nothing is known about renderers
            return None
        reasons = []
        for module in self.modules:
            found = next((SAFE[name] for name in SAFE if _within(module, name)), None)
            if found is None:
                return None
            reasons += [found] if found else []
        return Verdict("safe", reasons[0], self.name) if reasons else None


def look(maker: Callable[[], Any]) -> Look:
    """Return what an environment consists of.

    Args:
        maker: Makes it. An environment is made if nothing else shows its class.
    """
    if isinstance(maker, Recipe):
        modules = tuple(_modules_of_recipe(maker))
        return Look(maker.spec.id, modules, _render_mode(maker))
    env = maker()
    try:
        render_mode = getattr(env, "render_mode", None)
        return Look(env_name(env), tuple(_modules_of(env)), render_mode)
    finally:
        env.close()


def name_of(maker: Callable[[], Any]) -> str:
    """Return the id of an environment, or the name of the function that makes it."""
    if isinstance(maker, Recipe):
        return maker.spec.id
    return getattr(maker, "__qualname__", None) or repr(maker)


def _within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _modules_of(env: Any) -> Iterator[str]:  # noqa: ANN401
    """Yield the module of each class of an environment, the outermost first."""
    while True:
        for base in type(env).__mro__[:-1]:  # it may inherit its step from anywhere
            yield getattr(base, "__source_module__", base.__module__)
        inner = env.__dict__.get("env") if hasattr(env, "__dict__") else None
        if inner is None or inner is env:
            return
        env = inner


def _modules_of_recipe(recipe: Recipe) -> Iterator[str]:
    yield _module(recipe.spec.entry_point)
    for wrapper in recipe.spec.additional_wrappers:
        yield _module(wrapper.entry_point)
    for each in recipe.wrappers:
        yield _module(each)


def _module(entry: Any) -> str:  # noqa: ANN401
    if isinstance(entry, str):
        return entry.partition(":")[0]
    if isinstance(entry, partial):
        return _module(entry.func)
    module = getattr(entry, "__source_module__", getattr(entry, "__module__", None))
    return str(module)


def _render_mode(recipe: Recipe) -> str | None:
    mode = recipe.kwargs.get("render_mode", recipe.spec.kwargs.get("render_mode"))
    return None if mode is None else str(mode)
