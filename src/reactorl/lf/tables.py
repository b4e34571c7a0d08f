# SPDX-License-Identifier: Apache-2.0
"""The LALR tables of the grammar in ``lf.lark``, as ``tools/lf_grammar.py`` wrote them.

They are data and loaded once per process, in a few milliseconds.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Rule(NamedTuple):
    """A rule of the grammar.

    Attributes:
        name: What it makes, e.g. ``member``.
        length: How many symbols it consists of.
        action: What makes its node: a method of ``TreeBuilder``, ``pass`` for the one
            child itself, ``children`` for them without a node.
        plan: The children: ``2 * i`` for symbol i, ``2 * i + 1`` for the children of
            symbol i, -1 for None.
    """

    name: str
    length: int
    action: str
    plan: list[int]


class Tables(NamedTuple):
    """What the parser does in each state.

    Attributes:
        end: The state in which the whole file has been read.
        rules: All rules.
        actions: Per state and kind of word: the next state if not negative; otherwise
            ``-1 - action`` is the rule that ends here.
        gotos: Per state and name of what a rule made: the next state.
    """

    end: int
    rules: list[Rule]
    actions: list[dict[str, int]]
    gotos: list[dict[str, int]]


@cache
def load() -> Tables:
    """Return the tables."""
    path = Path(__file__).with_name("_grammar.json")
    data = json.loads(path.read_text(encoding="utf-8"))
    return Tables(
        end=data["end"],
        rules=[Rule(*rule) for rule in data["rules"]],
        actions=data["actions"],
        gotos=data["gotos"],
    )
