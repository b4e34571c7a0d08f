# SPDX-License-Identifier: Apache-2.0
"""The user's own network: a function of the shape of an observation.

It returns two functions. ``init(random)`` returns the parameters, a pytree of arrays;
``apply(params, rows)`` returns features ``[row, feature]`` for observations
``[row, *shape]`` of floats, in JAX.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reactorl.rl.algorithms._jax import jax
from reactorl.rl.algorithms.networks.network import Network
from reactorl.rl.flow.algorithm import FlowError

if TYPE_CHECKING:
    from types import ModuleType

    from reactorl.rl.flow.algorithm import Random

NetworkFunction: TypeAlias = Callable[
    [tuple[int, ...]], tuple[Callable[..., Any], Callable[..., Any]]
]


@dataclass(frozen=True)
class CustomNetwork(Network):
    """A network that a function of the user makes."""

    function: NetworkFunction

    def check(self, shape: tuple[int, ...]) -> None:
        """Check what the function returns for this shape."""
        self.size(shape)

    def init(self, random: Random, shape: tuple[int, ...]) -> list[Any]:
        """Return new parameters; the list has one entry."""
        init, _ = _made(self.function, tuple(shape))
        return [jax.tree.map(np.asarray, init(random))]

    def size(self, shape: tuple[int, ...]) -> int:
        """Return the number of features, found without computing any."""
        init, apply = _made(self.function, tuple(shape))
        params = init(np.random.Generator(np.random.PCG64(0)))  # noqa: TID251
        rows = np.zeros((1, *shape), np.float32)
        found: Any = jax.eval_shape(apply, params, rows)
        if getattr(found, "ndim", 0) != 2 or found.shape[0] != 1:
            got = getattr(found, "shape", found)
            msg = (
                f"network must return features of shape [row, feature], got {got} "
                f"for one row from {name_of(self.function)}"
            )
            raise FlowError(msg, "Flatten all axes but the first.")
        return int(found.shape[1])

    def apply(self, params: list[Any], rows: Any, xp: ModuleType) -> Any:  # noqa: ANN401
        """Return the features of each row."""
        _, apply = _made(self.function, tuple(rows.shape[1:]))
        return apply(params[0], rows)


@cache
def _made(function: NetworkFunction, shape: tuple[int, ...]) -> tuple[Any, Any]:
    found: Any = function(shape)
    if not (isinstance(found, tuple) and len(found) == 2 and all(map(callable, found))):
        msg = (
            f"network must return two functions, init and apply, got {found!r} from "
            f"{name_of(function)}"
        )
        raise FlowError(msg)
    init, apply = found
    return init, apply


def name_of(function: NetworkFunction) -> str:
    """Return ``module:function``."""
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return f"{function.__module__}:{name}"


def importable_name(function: NetworkFunction) -> str | None:
    """Return ``module:function`` if that names this very function, else None."""
    name = name_of(function)
    module, _, path = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    return name if found is function else None


@cache
def find_function(name: str) -> NetworkFunction:
    """Return the function that ``module:function`` names.

    Raises:
        FlowError: The module cannot be imported, or has no such function.
    """
    module, _, path = name.partition(":")
    try:
        found: Any = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        msg = f"import of network {name!r} failed: {error}"
        raise FlowError(msg, "Write it as module:function.") from error
    if not callable(found):
        msg = f"network must be a function, got {found!r} for {name!r}"
        raise FlowError(msg)
    return found  # type: ignore[no-any-return]
