# SPDX-License-Identifier: Apache-2.0
"""Prints a syntax tree as tokens and layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl.lf.format.expressions import LINE, SPACE
from reactorl.lf.format.layout import lay_out
from reactorl.lf.format.members import MemberPrinter
from reactorl.lf.format.tokens import END, Layout, Spelling, Token
from reactorl.lf.parse import syntax

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reactorl.lf.format.expressions import Pieces, T


def to_text(tree: syntax.File) -> str:
    """Return the text of a tree, without comments."""
    return lay_out(to_pieces(tree))


def to_pieces(tree: syntax.File) -> Pieces:
    """Return the tokens of a file, in order, and the layout between them."""
    printer = _FilePrinter()
    printer.file(tree)
    return printer.pieces


class _FilePrinter(MemberPrinter):
    """Prints files."""

    def file(self, tree: syntax.File) -> None:
        """Print a file."""
        targets = [tree.target] if tree.target is not None else []
        self.section(targets, self.target, LINE)
        self.section(tree.imports, self.imported, LINE)
        self.section(tree.preambles, self.preamble, LINE)
        self.section(tree.reactors, self.reactor, Layout.BLANK)
        self.put(LINE, END)

    def section(
        self, items: Sequence[T], put: Callable[[T], None], between: Layout
    ) -> None:
        """Print items of one kind, after an empty line."""
        for n, item in enumerate(items):
            if self.pieces:
                self.put(between if n else Layout.BLANK)
            put(item)

    def target(self, target: syntax.Target) -> None:
        """Print the target declaration."""
        self.put("target", SPACE, target.name.text)
        if target.properties is not None:
            self.put(SPACE)
            self.expr(target.properties)

    def imported(self, imported: syntax.Import) -> None:
        """Print an import."""
        self.words("import")
        self.commas(imported.names, self.imported_name)
        self.put(SPACE, "from", SPACE)
        if isinstance(imported.origin, syntax.Package):
            self.put("<", imported.origin.text, ">")
        else:
            self.put(imported.origin.text)

    def imported_name(self, imported: syntax.ImportedName) -> None:
        """Print a name of an import."""
        self.put(imported.name.text)
        if imported.alias is not None:
            self.put(SPACE, "as", SPACE, imported.alias.text)

    def reactor(self, reactor: syntax.Reactor) -> None:
        """Print a reactor class."""
        self.attributes(reactor.attributes)
        for word in (reactor.kind, "realtime" if reactor.is_realtime else ""):
            if word:
                self.pieces += [Token(word, Spelling.MODIFIER), SPACE]
        self.put("reactor")
        if reactor.name is not None:
            self.put(SPACE, reactor.name.text)
        if reactor.generics:
            self.put("<")
            self.commas(reactor.generics, self.name)
            self.put(">")
        if reactor.params:
            self.brackets("()", reactor.params, self.param)
        self.host(reactor.host)
        if reactor.bases:
            self.put(SPACE, "extends", SPACE)
            self.commas(reactor.bases, self.name)
        self.put(SPACE)
        self.block(reactor.members)

    def param(self, param: syntax.Param) -> None:
        """Print a parameter of a reactor."""
        self.attributes(param.attributes, SPACE)
        self.put(param.name.text)
        self.type(param.type)
        self.initial(param.default)
