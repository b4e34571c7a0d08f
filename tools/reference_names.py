# SPDX-License-Identifier: Apache-2.0
"""Griffe extension for the reference pages, enabled in mkdocs.yml."""

from __future__ import annotations

import ast
import re
from typing import Any

from griffe import Extension

EXAMPLE = re.compile(r"^Example:$", re.MULTILINE)


class ReferenceNames(Extension):  # type: ignore[misc]
    """Documents what type checkers see, and renders examples as code."""

    def on_module_node(self, *, node: Any, **_: Any) -> None:  # noqa: ANN401
        """Drop the ``else`` branch of ``if TYPE_CHECKING``."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.If) and ast.unparse(inner.test) == "TYPE_CHECKING":
                inner.orelse.clear()

    def on_object(self, *, obj: Any, **_: Any) -> None:  # noqa: ANN401
        """Rename ``Example:`` sections to ``Examples:``, which griffe supports."""
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub("Examples:", obj.docstring.value)
