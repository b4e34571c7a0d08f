# SPDX-License-Identifier: Apache-2.0
"""Compiles code blocks to functions with the line numbers of the ``.lf`` file.

Tracebacks, debuggers, profilers and coverage read file and line numbers from a
function, so they show the ``.lf`` file without knowing LF.
"""

from __future__ import annotations

import ast
import linecache
import sys
import warnings
from typing import TYPE_CHECKING, Any

from reactorl.lf.parse.python_block import python_block

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FunctionType

    from reactorl.lf.parse import syntax
    from reactorl.lf.parse.python_block import PythonBlock
    from reactorl.lf.source import Source

_HEAD = "if 1:\n"


class Compiler:
    """Compiles code blocks, which must be valid; all files share the globals."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.namespace = namespace

    def function(
        self, name: str, params: Sequence[str], code: syntax.Code, source: Source
    ) -> FunctionType:
        """Return a function whose body is a block."""
        return self._define(name, params, statements(code, source), code, source)

    def expression(
        self, name: str, params: Sequence[str], code: syntax.Code, source: Source
    ) -> FunctionType:
        """Return a function that returns the value of a block."""
        block = python_block(code)
        tree = ast.parse(f"(\n{block.text}\n)", mode="eval")
        relocate(tree, block, source, lines_before=1)
        value = ast.Return(tree.body)
        ast.copy_location(value, tree.body)
        return self._define(name, params, [value], code, source)

    def execute(
        self, code: syntax.Code, source: Source, names: dict[str, Any] | None = None
    ) -> None:
        """Execute a preamble, of a file or, with ``names``, of a class."""
        module = ast.Module(statements(code, source), type_ignores=[])
        exec(_compiled(module, source), self.namespace, names)

    def _define(
        self,
        name: str,
        params: Sequence[str],
        body: list[ast.stmt],
        code: syntax.Code,
        source: Source,
    ) -> FunctionType:
        line = source.line_and_column(code.span.start)[0]
        place: Any = {"lineno": line, "end_lineno": line}
        place |= {"col_offset": 0, "end_col_offset": 0}
        nothing: Any = {"type_params": []} if sys.version_info >= (3, 12) else {}
        arguments = ast.arguments(
            posonlyargs=[],
            args=[ast.arg(param, **place) for param in params],
            kwonlyargs=[],
            kw_defaults=[],
            defaults=[],
        )
        definition = ast.FunctionDef(
            name=name,
            args=arguments,
            body=body or [ast.Pass(**place)],
            decorator_list=[],
            **place,
            **nothing,
        )
        found: dict[str, Any] = {}
        module = ast.Module([definition], type_ignores=[])
        exec(_compiled(module, source), self.namespace, found)
        function: FunctionType = found[name]
        return function


def statements(code: syntax.Code, source: Source) -> list[ast.stmt]:
    """Return the statements of a block, with their positions in the source."""
    block = python_block(code)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the compiler issues them again
        try:
            tree = ast.parse(block.text)
            relocate(tree, block, source, lines_before=0)
        except IndentationError:  # a string is indented less than the code
            tree = ast.parse(_HEAD + block.text)
            relocate(tree, block, source, lines_before=1)
            outer = tree.body[0]
            assert isinstance(outer, ast.If)
            return outer.body
    return tree.body


def relocate(
    tree: ast.AST, block: PythonBlock, source: Source, lines_before: int
) -> None:
    """Set the position in the source of every node of a block."""
    places = [
        _place(line, offset, source)
        for line, offset in zip(block.lines, block.offsets, strict=True)
    ]
    if not places:
        return
    last = len(places) - 1
    for node in ast.walk(tree):
        for line_name, column_name in (
            ("lineno", "col_offset"),
            ("end_lineno", "end_col_offset"),
        ):
            line = getattr(node, line_name, None)
            if line is None:
                continue
            n = max(0, min(line - 1 - lines_before, last))
            start, shift = places[n]
            setattr(node, line_name, start)
            shifted = getattr(node, column_name, 0) + shift
            setattr(node, column_name, max(0, shifted))


def _place(text: str, offset: int, source: Source) -> tuple[int, int]:
    """Return the line in the source of a line of a block, and its column offset.

    Python's columns are offsets in UTF-8.
    """
    blanks = len(text) - len(text.lstrip())  # some may not be in the source
    line, column = source.line_and_column(offset + blanks)
    before = source.line(line)[: column - 1]
    return line, len(before.encode()) - blanks


def register_text(source: Source) -> None:
    """Register the text for tracebacks and debuggers.

    They could not open a relative path after a change of directory.
    """
    lazily: Any = (lambda: source.text,)  # linecache's form of a lazy entry
    linecache.cache[str(source.path)] = lazily


def _compiled(module: ast.Module, source: Source) -> Any:  # noqa: ANN401
    return compile(module, str(source.path), "exec", dont_inherit=True)
