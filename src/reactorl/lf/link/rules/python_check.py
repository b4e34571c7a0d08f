# SPDX-License-Identifier: Apache-2.0
"""Checks that code blocks are valid Python, and maps errors to the ``.lf`` file."""

from __future__ import annotations

import ast
import re
import symtable
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from reactorl.lf.parse.python_block import PythonBlock, python_block
from reactorl.lf.source import Source, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reactorl.lf.diagnostics import Report
    from reactorl.lf.parse import syntax

T = TypeVar("T")

_SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
_LINE = re.compile(r"\bon line (\d+)")


@dataclass(frozen=True)
class CheckedBlock:
    """A code block that is valid Python.

    Attributes:
        tree: The parsed wrapper: a function or class around the block.
        text: The parsed text: one line of wrapper, then the block with one space
            before each line.
    """

    block: PythonBlock
    tree: ast.Module
    text: str

    def span(self, node: ast.expr) -> Span:
        """Return the span of a node in the source."""
        start = self._offset(node.lineno, node.col_offset)
        if node.end_lineno != node.lineno or node.end_col_offset is None:
            return Span(start, start + 1)
        return Span(start, self._offset(node.lineno, node.end_col_offset))

    def _offset(self, line: int, column: int) -> int:
        # Columns of a tree are offsets in UTF-8.
        before = self.text.split("\n")[line - 1].encode()[:column].decode()
        return self.block.offset(line - 2, len(before) - 1)


def check_body(
    source: Source, code: syntax.Code, params: Sequence[str], report: Report
) -> CheckedBlock | None:
    """Check the body of a reaction, handler or method."""
    header = f"def body({', '.join(dict.fromkeys(params))}):"
    return _check(source, code, header, report)


def check_class_preamble(
    source: Source, code: syntax.Code, report: Report
) -> CheckedBlock | None:
    """Check the preamble of a class."""
    return _check(source, code, "class body:", report)


def check_file_preamble(
    source: Source, code: syntax.Code, report: Report
) -> CheckedBlock | None:
    """Check the preamble of a file."""
    return _check(source, code, "if True:", report)


def global_names(checked: CheckedBlock) -> set[str]:
    """Return the global names that a body uses."""
    found: set[str] = set()
    waiting = _table(checked).get_children()
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        found.update(
            symbol.get_name()
            for symbol in table.get_symbols()
            if symbol.is_global() and not symbol.is_declared_global()
        )
    return found


def own_yield(checked: CheckedBlock) -> ast.expr | None:
    """Return the first ``yield`` of a body that is not in a function inside it."""
    (body,) = checked.tree.body
    waiting: list[ast.AST] = [*ast.iter_child_nodes(body)]
    found: list[ast.expr] = []
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            found.append(node)
        if not isinstance(node, _SCOPES):
            waiting += ast.iter_child_nodes(node)
    return min(found, key=lambda node: (node.lineno, node.col_offset), default=None)


def defined_names(checked: CheckedBlock) -> set[str] | None:
    """Return the names that a preamble defines; None if only a run can tell."""
    for node in ast.walk(checked.tree):
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            return None
    found = {s.get_name() for s in _table(checked).get_symbols() if _defines(s)}
    for node in ast.walk(checked.tree):  # functions define them when called
        if isinstance(node, ast.Global):
            found.update(node.names)
    return found


def _defines(symbol: symtable.Symbol) -> bool:
    return symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()


def _table(checked: CheckedBlock) -> symtable.SymbolTable:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return symtable.symtable(checked.text, "<lf>", "exec")


def check_expression(source: Source, code: syntax.Code, report: Report) -> None:
    """Check code that is used as a value."""
    block = python_block(code)
    if block.is_empty:
        what = "the code block must contain a value"
        report.error(source, code.span, what, "Write a Python expression, e.g. None.")
        return
    text = "\n ".join(("(", *block.lines)) + "\n)"

    def attempt() -> ast.Expression:
        tree = ast.parse(text, "<lf>", "eval")
        compile(tree, "<lf>", "eval", dont_inherit=True)
        return tree

    _attempt(attempt, source, code, block, report)


def _check(
    source: Source, code: syntax.Code, header: str, report: Report
) -> CheckedBlock | None:
    block = python_block(code)
    lines = (*block.lines, "pass") if block.is_empty else block.lines
    text = "\n ".join((header, *lines))

    def attempt() -> CheckedBlock:
        tree = ast.parse(text, "<lf>")
        compile(tree, "<lf>", "exec", dont_inherit=True)
        return CheckedBlock(block, tree, text)

    return _attempt(attempt, source, code, block, report)


def _attempt(
    attempt: Callable[[], T],
    source: Source,
    code: syntax.Code,
    block: PythonBlock,
    report: Report,
) -> T | None:
    """Return the result of compiling; report its errors."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # shown when the code runs
            return attempt()
    except SyntaxError as error:
        what = f"invalid Python: {_message(source, block, error)}"
        report.error(source, _place(block, code, error), what)
    except (RecursionError, MemoryError, OverflowError, ValueError):
        report.error(
            source, code.span, "Python cannot compile this code: it is too complex"
        )
    return None


def _message(source: Source, block: PythonBlock, error: SyntaxError) -> str:
    def renumber(match: re.Match[str]) -> str:
        line, _ = source.line_and_column(block.offset(int(match[1]) - 2, 0))
        return f"on line {line}"

    return _LINE.sub(renumber, error.msg)


def _place(block: PythonBlock, code: syntax.Code, error: SyntaxError) -> Span:
    line = (error.lineno or 1) - 2
    column = (error.offset or 1) - 2  # counted from 1, with a space before each line
    if 0 <= line < len(block.lines) and not block.lines[line][:column].strip():
        # For an indentation error, point at the indented code.
        column = len(block.lines[line]) - len(block.lines[line].lstrip())
    start = block.offset(line, column)
    last = len(block.lines) - 1
    if line > last and block.lines:
        start = max(block.offset(last, 0), block.end - 1)
    end = start + 1
    if error.end_lineno == error.lineno and error.end_offset is not None:
        end = max(end, block.offset(line, error.end_offset - 2))
    if not block.lines:
        return code.span
    return Span(start, end)
