# SPDX-License-Identifier: Apache-2.0
"""How the reference reads our sources: an extension of griffe, named in mkdocs.yml."""

from __future__ import annotations

import ast
import re
from typing import Any

from griffe import Extension

EXAMPLE = re.compile(r"^Example:$", re.MULTILINE)


class ReferenceNames(Extension):  # type: ignore[misc]
    """Shows what type checkers see, and examples as code."""

    def on_module_node(self, *, node: Any, **_: Any) -> None:  # noqa: ANN401
        """Leave out what only the interpreter sees: classes without their members."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.If) and ast.unparse(inner.test) == "TYPE_CHECKING":
                inner.orelse.clear()

    def on_object(self, *, obj: Any, **_: Any) -> None:  # noqa: ANN401
        """Let a single example be a section of examples, which griffe knows."""
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub("Examples:", obj.docstring.value)
