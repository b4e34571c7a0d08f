# SPDX-License-Identifier: Apache-2.0
"""Generates the LALR tables of the LF grammar: ``src/reactorl/lf/parse/_tables.json``.

lark reads ``grammar.lark`` and computes the tables. That takes a third of a second, too
long for every start of a program, so the tables are stored as JSON: independent of the
versions of lark and Python, and nothing in them is executed. At run time lark is not
used; ``src/reactorl/lf/parse/lalr.py`` interprets the tables.

    python tools/lf_grammar.py            write the tables
    python tools/lf_grammar.py --check    fail if the tables do not match the grammar
"""

from __future__ import annotations

import json
import sys
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lark import Lark
from lark.grammar import NonTerminal, Terminal
from lark.lexer import Lexer
from lark.parsers.lalr_analysis import Shift

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lark.grammar import Rule

FOLDER = Path(__file__).parent.parent / "src" / "reactorl" / "lf" / "parse"
GRAMMAR = FOLDER / "grammar.lark"
TABLES = FOLDER / "_tables.json"


class _NoLexer(Lexer):
    """Placeholder: lark requires a lexer, but the tables do not depend on it."""

    def __init__(self, conf: object) -> None:
        pass

    def lex(self, *_: object) -> Iterator[Any]:
        """Yield nothing."""
        yield from ()


def _childless(rules: list[Rule]) -> set[str]:
    """Return the names of repetition rules that only match punctuation."""
    return {
        rule.origin.name
        for rule in rules
        if rule.origin.name.startswith("__")
        and all(isinstance(s, Terminal) and s.filter_out for s in rule.expansion)
    }


def _plan(rule: Rule, childless: set[str]) -> list[int]:
    """Return which symbols of a rule become children of its node.

    ``2 * i`` is symbol i itself, ``2 * i + 1`` the children of symbol i, and -1 is None
    for an optional part that is absent.
    """
    absent = rule.options.empty_indices or (False,) * len(rule.expansion)
    plan = []
    at = count()
    for is_absent in absent:
        if is_absent:
            plan.append(-1)
            continue
        i = next(at)
        symbol = rule.expansion[i]
        if isinstance(symbol, NonTerminal):
            if symbol.name not in childless:
                plan.append(2 * i + symbol.name.startswith("_"))
        elif not (isinstance(symbol, Terminal) and symbol.filter_out):
            plan.append(2 * i)
    return plan


def _action(rule: Rule, plan: list[int]) -> str:
    """Return how the node is made: a method's name, ``pass`` or ``children``."""
    if rule.alias:
        return str(rule.alias)
    name = str(rule.origin.name)
    if name.startswith("_"):
        return "children"
    if rule.options.expand1 and len(plan) == 1:
        return "pass"
    return name


def tables(grammar: str) -> str:
    """Return the tables of a grammar as JSON text, identical on every machine."""
    lark = Lark(grammar, parser="lalr", lexer=_NoLexer, maybe_placeholders=True)
    table = lark.parser.parser._parse_table
    literal = {
        t.name: t.pattern.value if t.pattern.type == "str" else t.name
        for t in lark.terminals
    }
    nonterminals = {rule.origin.name for rule in lark.rules}
    rules = {rule: n for n, rule in enumerate(lark.rules)}

    # lark numbers states in hash order; breadth-first order is reproducible.
    first = table.start_states["start"]
    number = {first: 0}
    waiting = [first]
    for state in waiting:
        for _, (kind, argument) in sorted(table.states[state].items()):
            if kind is Shift and argument not in number:
                number[argument] = len(number)
                waiting.append(argument)

    actions: list[dict[str, int]] = []
    gotos: list[dict[str, int]] = []
    for state in waiting:
        actions.append({})
        gotos.append({})
        for symbol, (kind, argument) in sorted(table.states[state].items()):
            if symbol in nonterminals:
                gotos[-1][symbol] = number[argument]
            else:
                where = number[argument] if kind is Shift else -1 - rules[argument]
                actions[-1][literal.get(symbol, symbol)] = where

    childless = _childless(lark.rules)
    plans = [_plan(rule, childless) for rule in lark.rules]
    content = {
        "grammar": sha256(grammar.encode()).hexdigest(),
        "end": number[table.end_states["start"]],
        "rules": [
            [rule.origin.name, len(rule.expansion), _action(rule, plan), plan]
            for rule, plan in zip(lark.rules, plans, strict=True)
        ],
        "actions": actions,
        "gotos": gotos,
    }
    lines = (
        f'"{key}": '
        + (
            "[\n" + ",\n".join(_line(row) for row in value) + "\n]"
            if isinstance(value, list)
            else _line(value)
        )
        for key, value in content.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _line(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def main(args: list[str]) -> int:
    """Write the tables, or with ``--check`` compare them."""
    text = tables(GRAMMAR.read_text(encoding="utf-8"))
    if "--check" in args:
        if TABLES.read_text(encoding="utf-8") == text:
            return 0
        print(f"{TABLES.name} does not match {GRAMMAR.name}: run {sys.argv[0]}")
        return 1
    TABLES.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
