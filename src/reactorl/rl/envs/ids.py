# SPDX-License-Identifier: Apache-2.0
"""Environments by id: importing the package of an id, and answers to unknown ids."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import gymnasium as gym

from reactorl._util.suggestions import closest
from reactorl.rl.envs.packages import candidates, pip_name

if TYPE_CHECKING:
    from gymnasium.envs.registration import EnvSpec

_LIST: Final = "`gymnasium.pprint_registry()` lists registered ones."
_SHOWN: Final = 5
"""Ids of a namespace that an error shows."""
_GYMNASIUM_EXTRAS: Final = {
    "box2d": "box2d",
    "mujoco": "mujoco",
    "phys2d": "jax",
    "tabular": "jax",
    "classic_control": "classic-control",
    "toy_text": "toy-text",
}
"""Packages below ``gymnasium.envs``, and the extra of gymnasium that each needs."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Why an id has no specification."""

    what: str
    remedy: str
    error: Exception
    """As Gymnasium or the import raised it."""

    def raised(self) -> Exception:
        """Return an exception of the same class with this text."""
        text = f"{self.what}. {self.remedy}"
        if isinstance(self.error, gym.error.Error):
            return type(self.error)(text)
        if isinstance(self.error, ImportError):
            return type(self.error)(text, name=self.error.name)
        return ImportError(text)


def find_spec(env_id: str) -> EnvSpec:
    """Return the specification with an id; imports the package it belongs to.

    ``module:id`` imports a module first.

    Raises:
        gymnasium.error.Error: There is no such id; the message names the package to
            install, the newer version, or similar ids.
        ImportError: The package of the id cannot be imported.
    """
    found = search(env_id)
    if isinstance(found, Unknown):
        raise found.raised() from found.error
    return found


def search(env_id: str) -> EnvSpec | Unknown:
    """Return the specification with an id, or why there is none."""
    module, _, name = env_id.rpartition(":")
    failed = _import(module, env_id) if module else _register(name)
    if failed is not None:
        return failed
    try:
        return gym.spec(name)
    except gym.error.Error as error:
        return _unknown(name, error)


def dependency_hint(spec: EnvSpec, error: ImportError) -> str:
    """Return how to get a module that an environment lacks; empty if it is unknown."""
    newer = _newest(spec.id)
    if newer not in ("", spec.id) and not isinstance(error, ModuleNotFoundError):
        return f"Use '{newer}'."
    entry = spec.entry_point
    if isinstance(entry, str) and entry.startswith("gymnasium.envs."):
        extra = _GYMNASIUM_EXTRAS.get(entry.split(".")[2], "")
        if extra:
            return f'Install it: pip install "gymnasium[{extra}]"'
    lacking = error.name or ""
    if not lacking or not isinstance(error, ModuleNotFoundError):
        return ""
    pip = pip_name(lacking)
    if pip:
        return f"Install it: pip install {pip}"
    return f"Install the package that provides '{lacking}'."


def _import(module: str, env_id: str) -> Unknown | None:
    """Import the module that an id names."""
    try:
        import_module(module)
    except Exception as error:  # a user's module may raise anything
        reason = str(error).rstrip(".") or type(error).__name__
        what = (
            f"importing {module!r}, the module in the id {env_id!r}, failed: {reason}"
        )
        absent = isinstance(error, ModuleNotFoundError) and error.name == module
        pip = pip_name(module) if absent else ""
        remedy = f"Install it: pip install {pip}" if pip else "See its traceback."
        if absent and not pip:
            remedy = "Install it, or add its directory to PYTHONPATH."
        return Unknown(what, remedy, error)
    return None


def _register(env_id: str) -> Unknown | None:
    """Import the package to which an id belongs, unless the id is registered."""
    missing = None
    for package in candidates(env_id):
        if env_id in gym.registry:
            return None
        if not package.is_installed:
            if package.is_certain and missing is None:
                missing = package
            continue
        try:
            package.register()
        except Exception as error:  # a package may raise anything
            reason = str(error).rstrip(".") or type(error).__name__
            what = f"importing {package.module}, which has {env_id!r}, failed: {reason}"
            lacking = getattr(error, "name", None)
            absent = isinstance(error, ModuleNotFoundError) and lacking
            if absent and lacking == package.module.partition(":")[0]:
                continue  # a guess, such as a module ``envs`` that does not exist
            remedy = "See to it that 'python -c' can import it."
            if absent:
                remedy = f"Install what it needs: pip install {package.pip}"
            return Unknown(what, remedy, error)
    if env_id in gym.registry or missing is None:
        return None
    what = f"{env_id!r} belongs to {missing.module.partition(':')[0]}"
    remedy = f"Install it: pip install {missing.pip}"
    namespaced = "/" in env_id
    kind = gym.error.NamespaceNotFound if namespaced else gym.error.NameNotFound
    return Unknown(f"{what}, which is not installed", remedy, kind(what))


def _unknown(env_id: str, error: gym.error.Error) -> Unknown:
    """Return Gymnasium's answer, with the id that was probably meant."""
    old = _old_gym_name(env_id)
    if old:
        what = f"{env_id!r} is registered with Gym, the predecessor of Gymnasium"
        remedy = (
            'Install a wrapper: pip install "shimmy[gym-v26]", and use it: '
            f"'GymV26Environment-v0' with env_id={old}."
        )
        return Unknown(what, remedy, error)
    text = str(error).strip().rstrip(".")
    if isinstance(error, gym.error.DeprecatedEnv):
        what, _, successor = text.partition(". Please use `")
        newer = successor.partition("`")[0] or _newest(env_id)
        return Unknown(what, f"Use '{newer}'." if newer else _LIST, error)
    if isinstance(error, gym.error.VersionNotFound):
        inside = sorted(each for each in gym.registry if each.endswith(f"/{env_id}"))
        if inside:  # Pong-v5 is ALE/Pong-v5
            return Unknown(text, f"Did you mean '{inside[0]}'?", error)
        newest = _newest(env_id)
        return Unknown(text, f"The newest is '{newest}'." if newest else _LIST, error)
    what = re.sub(r"\.? (Did you mean: |Have you installed).*", "", text)
    near = _nearest(env_id)
    remedy = f"Did you mean '{near}'?" if near else _LIST
    namespace, slash, _ = env_id.rpartition("/")
    inside = [each for each in gym.registry if each.startswith(f"{namespace}/")]
    if slash and inside and not near:
        shown = ", ".join(inside[:_SHOWN]) + (", ..." if inside[_SHOWN:] else "")
        remedy = f"{namespace} has {shown}."
    elif slash and not near:
        remedy = (
            f"Install the package that has {namespace}, and name its module: "
            f"'module:{env_id}'."
        )
    return Unknown(what, remedy, error)


def _old_gym_name(env_id: str) -> str:
    """Return the name by which Gym, if it was imported, makes an id; empty if none."""
    old: Any = sys.modules.get("gym")
    try:
        registry = old.envs.registration.registry
        spec = getattr(registry, "env_specs", registry)[env_id]
        module = str(spec.entry_point).partition(":")[0].partition(".")[0]
    except (AttributeError, KeyError, TypeError):
        return ""
    return f"{module}:{env_id}"


def _newest(env_id: str) -> str:
    """Return the id with the highest version of the same name."""
    return _newest_by_name().get(_name(env_id), "")


def _nearest(env_id: str) -> str:
    """Return the newest id whose name is similar, ignoring case."""
    newest = _newest_by_name()
    lower: dict[str, str] = {}
    for name in sorted(newest):
        lower.setdefault(name.lower(), newest[name])
        # Without its namespace, too: Pong means ALE/Pong-v5.
        lower.setdefault(name.lower().rpartition("/")[2], newest[name])
    found = closest(_name(env_id).lower(), lower, cutoff=0.75)
    return lower.get(found, "")


def _newest_by_name() -> dict[str, str]:
    found: dict[str, Any] = {}
    for spec in gym.registry.values():
        name = _name(spec.id)
        if name not in found or (spec.version or 0) > (found[name].version or 0):
            found[name] = spec
    return {name: spec.id for name, spec in found.items()}


def _name(env_id: str) -> str:
    """Return an id without its version."""
    return re.sub(r"-v\d+$", "", env_id)
