# SPDX-License-Identifier: Apache-2.0
"""Docstrings and types of the fields of a dataclass."""

from __future__ import annotations

import ast
import inspect
import sys
from functools import cache
from itertools import pairwise
from typing import Any, get_type_hints


def field_docs(cls: type) -> dict[str, str]:
    """Return the docstrings below the fields of a dataclass and of its bases.

    A class whose ``__module__`` is its public path names the module that defines it in
    ``__source_module__``.
    """
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__[:-1]):
        found |= _docs(_source_module(base), base.__qualname__)
    return found


def field_types(cls: type) -> dict[str, Any]:
    """Return the types of the fields, resolved where each class is defined."""
    names: dict[str, Any] = {}
    for base in reversed(cls.__mro__[:-1]):
        names |= vars(sys.modules[_source_module(base)])
    return get_type_hints(cls, localns=names)


def _source_module(cls: type) -> str:
    found: str = cls.__dict__.get("__source_module__", cls.__module__)
    return found


@cache
def _docs(module: str, qualname: str) -> dict[str, str]:
    try:
        body = ast.parse(inspect.getsource(sys.modules[module])).body
    except (KeyError, OSError, TypeError):  # no source, e.g. of an extension
        return {}
    for name in qualname.split("."):
        kinds = (ast.ClassDef, ast.FunctionDef)
        inner = [n for n in body if isinstance(n, kinds) and n.name == name]
        if not inner:
            return {}
        body = inner[-1].body
    return {
        field.target.id: " ".join(below.value.value.split())
        for field, below in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    }
