# SPDX-License-Identifier: Apache-2.0
"""Docstrings and types of the fields of a dataclass, also as a part of ``__doc__``."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from dataclasses import fields
from functools import cache
from itertools import pairwise
from typing import Any, Final, get_type_hints

_LATER_SECTION: Final = re.compile(r"^(Raises|Example):$", re.MULTILINE)


def field_docs(cls: type) -> dict[str, str]:
    """Return the docstrings below the fields of a dataclass and of its bases.

    A class whose ``__module__`` is its public path names the module that defines it in
    ``__source_module__``.
    """
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__[:-1]):
        found |= _docs(_source_module(base), base.__qualname__)
    return found


class DocWithFields:
    """The ``__doc__`` of a dataclass, with a section made from its fields' docstrings.

    Python drops the strings below fields, so that ``help()`` would not show them. The
    text is made on access, because it needs the source files.
    """

    def __init__(self, doc: str | None) -> None:
        self._doc = inspect.cleandoc(doc or "")

    def __get__(self, instance: object, owner: type[Any]) -> str:
        """Return the docstring, with the fields before ``Raises`` and ``Example``."""
        docs = field_docs(owner)
        entries = [
            textwrap.fill(
                f"{field.name}: {docs[field.name]}",
                width=88,
                initial_indent=" " * 4,
                subsequent_indent=" " * 8,
            )
            for field in fields(owner)
            if field.init and field.name in docs
        ]
        if not entries:
            return self._doc
        section = "\n".join(["Attributes:", *entries])
        later = _LATER_SECTION.search(self._doc)
        if later is None:
            return f"{self._doc}\n\n{section}"
        before, after = self._doc[: later.start()], self._doc[later.start() :]
        return f"{before}{section}\n\n{after}"


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
