# SPDX-License-Identifier: Apache-2.0
"""Environments with several agents, by the name of a module, as PettingZoo has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, Final

from reactorl.rl.envs.factory import wrapped
from reactorl.rl.flow.algorithm import FlowError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType

FUNCTION: Final = "parallel_env"
"""What makes an environment, in each module of PettingZoo's."""
_EXAMPLE: Final = "Name one that has, such as mpe2.simple_spread_v3."


@dataclass(frozen=True)
class ParallelRecipe:
    """Makes a ``ParallelEnv``.

    Attributes:
        env_id: The name of a module, whose ``parallel_env`` makes one; or
            ``module:function``, for another function of it, or a class.
        kwargs: Arguments for it.
        wrappers: Wrappers, the innermost first.
    """

    env_id: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    wrappers: Sequence[Callable[[Any], Any]] = ()

    def __call__(self) -> Any:  # noqa: ANN401
        """Make one.

        Raises:
            FlowError: There is no such environment, or it cannot be made so.
        """
        make = find_parallel(self.env_id)
        try:
            return wrapped(make(**self.kwargs), self.wrappers)
        except Exception as error:  # a user's module may raise anything
            given = ", ".join(f"{k}={value!r}" for k, value in self.kwargs.items())
            reason = str(error).rstrip(".") or type(error).__name__
            msg = f"{self.env_id} cannot be made with ({given}): {reason}"
            raise FlowError(msg, "See what its parallel_env needs.") from error


def find_parallel(env_id: str) -> Callable[..., Any]:
    """Return what makes environments of a name.

    Raises:
        FlowError: There is no such module, or it has nothing of the kind.
    """
    name, _, function = env_id.partition(":")
    module = _module(name)
    make = getattr(module, function or FUNCTION, None)
    if callable(make):
        return make  # type: ignore[no-any-return]
    if function:
        msg = f"module '{name}' has no '{function}' that can be called"
        raise FlowError(msg, "Name a function that makes a ParallelEnv.")
    if callable(getattr(module, "env", None)):
        msg = f"module '{name}' has no {FUNCTION}: its agents take turns"
        raise FlowError(msg, f"Agents here act at once. {_EXAMPLE}")
    msg = f"module '{name}' has no {FUNCTION}"
    raise FlowError(msg, _EXAMPLE)


def _module(name: str) -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        msg = f"'{name}' is not the name of a module"
        raise FlowError(msg, _EXAMPLE)
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        lacking = error.name or ""
        if f"{name}.".startswith(f"{lacking}."):
            raise _absent(name, lacking) from error
        msg = f"{name} needs {lacking}, which is not installed"
        raise FlowError(msg, f"Install what provides {lacking}.") from error
    except Exception as error:  # a user's module may raise anything
        reason = str(error).rstrip(".") or type(error).__name__
        msg = f"{name} cannot be imported: {reason}"
        raise FlowError(msg, "See to it that 'python -c' can import it.") from error


def _absent(name: str, lacking: str) -> FlowError:
    """Return what to say of a module that is not there, ``lacking`` or inside it."""
    package, _, last = lacking.rpartition(".")
    if not package:
        msg = f"there is no module '{lacking}' for {name}"
        return FlowError(msg, "Install the package that has the environment.")
    near = get_close_matches(last, _inside(package), n=3, cutoff=0.5)
    remedy = f"It has: {', '.join(near)}." if near else _EXAMPLE
    return FlowError(f"there is no environment '{last}' in {package}", remedy)


def _inside(package: str) -> list[str]:
    spec = find_spec(package)
    places = None if spec is None else spec.submodule_search_locations
    return [found.name for found in iter_modules(places or [])]
