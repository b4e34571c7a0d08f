# SPDX-License-Identifier: Apache-2.0
"""The stored LALR tables match the grammar."""

from __future__ import annotations

import lf_grammar
from reactorl.lf.parse.keywords import END, KEYWORDS
from reactorl.lf.parse.tables import parse_tables
from reactorl.lf.parse.tree_builder import TreeBuilder


def test_stored_tables_match_the_grammar() -> None:
    made = lf_grammar.tables(lf_grammar.GRAMMAR.read_text(encoding="utf-8"))

    assert lf_grammar.TABLES.read_text(encoding="utf-8") == made


def test_every_rule_has_a_method_of_the_tree_builder() -> None:
    actions = {rule.action for rule in parse_tables().rules}

    assert [a for a in sorted(actions) if not hasattr(TreeBuilder, a)] == [
        "children", "pass",
    ]  # fmt: skip


def test_keywords_of_the_grammar_are_the_keywords_of_the_lexer() -> None:
    kinds = {kind for row in parse_tables().actions for kind in row}
    words = {kind for kind in kinds if kind.isalpha() and kind.islower()}

    assert words | {"STAA", "STP"} == KEYWORDS
    assert END in kinds
