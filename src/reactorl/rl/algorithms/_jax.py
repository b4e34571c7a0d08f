# SPDX-License-Identifier: Apache-2.0
"""JAX and optax, imported on first use: hyper-parameters alone need neither."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from reactorl.rl.algorithms.compilation_cache import use_compilation_cache

if TYPE_CHECKING:
    import jax
    import optax
    from jax import numpy as jnp
else:

    @cache
    def _use_cache() -> None:
        use_compilation_cache(import_module("jax"))

    class _Lazy:
        """A module that is imported when an attribute of it is read."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401
            try:
                module = import_module(self._name)
            except ModuleNotFoundError as error:
                msg = f"training needs {error.name}: pip install 'reactorl[train]'"
                raise ImportError(msg, name=error.name) from error
            _use_cache()
            value = getattr(module, name)
            setattr(self, name, value)
            return value

    jax = _Lazy("jax")
    jnp = _Lazy("jax.numpy")
    optax = _Lazy("optax")

__all__ = ["jax", "jnp", "optax"]
