# SPDX-License-Identifier: Apache-2.0
"""Rules for names: allowed spellings, and no duplicates."""

from __future__ import annotations

import keyword
from typing import TYPE_CHECKING, Final

from reactorl._decl.meta import INSTANCE_NAMES
from reactorl.lf.link.scope import Symbol, is_attribute, symbols_of
from reactorl.lf.parse import syntax

if TYPE_CHECKING:
    from reactorl.lf.link.rules.context import Context

_C_KEYWORDS: Final = frozenset(
    [
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
    ]
)


def check(context: Context) -> None:
    """Report names that are not allowed or declared twice."""
    reactor = context.unit.tree
    if reactor.name is not None:
        _check_spelling(context, reactor.name)
    for symbol in symbols_of(context.unit):
        _check_spelling(context, symbol.name)
        if not is_attribute(symbol) and symbol.name.text in INSTANCE_NAMES:
            what = f"the name '{symbol.name.text}' is reserved by the runtime"
            context.error(symbol.name, what, "Choose another name.")
        if isinstance(symbol.node, syntax.Method):
            _check_method(context, symbol.node)
    for member in reactor.members:
        if isinstance(member, syntax.Reaction) and member.name is not None:
            _check_spelling(context, member.name)
    _check_unique(context)


def _check_spelling(context: Context, name: syntax.Name) -> None:
    text = name.text
    if text.startswith("__"):
        what = f"the name '{text}' must not start with two underscores"
        advice = f"Such names are reserved; write '{text.lstrip('_') or 'x'}'."
    elif keyword.iskeyword(text):
        what = f"'{text}' is a Python keyword and cannot be a name"
        advice = f"Write for example '{text}_'."
    elif text in _C_KEYWORDS:
        what = f"'{text}' is a C keyword, which LF does not allow as a name"
        advice = f"Write for example '{text}_'."
    elif text == "self":
        what = "'self' is the reactor in every body and cannot be a name"
        advice = "Choose another name."
    else:
        return
    context.error(name, what, advice)


def _check_method(context: Context, method: syntax.Method) -> None:
    seen: set[str] = set()
    for param in method.params:
        _check_spelling(context, param.name)
        if param.name.text in seen:
            what = f"method '{method.name.text}' has two parameters '{param.name.text}'"
            context.error(param.name, what, "Rename one of them.")
        seen.add(param.name.text)


def _check_unique(context: Context) -> None:
    """Report names of a class that it or a base has already declared.

    A derived class may declare a parameter again to change its default, and a method to
    override it.
    """
    taken: dict[tuple[bool, str], Symbol] = {}
    for ancestor in context.unit.lineage:
        for symbol in symbols_of(ancestor):
            key = (is_attribute(symbol), symbol.name.text)
            before = taken.setdefault(key, symbol)
            if before is not symbol and _clash(before, symbol):
                if ancestor is context.unit:
                    _report_clash(context, symbol, before)
                elif context.unit not in (before.owner, symbol.owner):
                    _report_inherited_clash(context, symbol, before)


def _clash(one: Symbol, other: Symbol) -> bool:
    may_repeat = one.kind == other.kind and one.kind in ("parameter", "method")
    return one.owner is other.owner or not may_repeat


def _report_clash(context: Context, symbol: Symbol, before: Symbol) -> None:
    article = "an" if before.kind[0] in "aio" else "a"
    thing = f"{article} {before.kind} '{symbol.name.text}'"
    if before.owner is context.unit:
        line, _ = context.source.line_and_column(before.name.span.start)
        what = f"{thing} is already declared on line {line}"
    else:
        what = f"{thing} is already inherited from {before.owner.name}"
    context.error(symbol.name, what, "Rename one of them.")


def _report_inherited_clash(context: Context, symbol: Symbol, before: Symbol) -> None:
    # Reported for the class that combines the two, not for its subclasses.
    if any(
        before.owner in base.lineage and symbol.owner in base.lineage
        for base in context.unit.bases
    ):
        return
    what = (
        f"{before.owner.name} and {symbol.owner.name} both declare '{symbol.name.text}'"
    )
    advice = "Extend only one of them, or rename one of the two."
    context.error(context.unit.tree.bases[0], what, advice)
