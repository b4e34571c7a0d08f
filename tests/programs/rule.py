# SPDX-License-Identifier: Apache-2.0
"""A table of small programs, each with the trace that the rules prescribe."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reactorl import Reactor


@dataclass(frozen=True)
class Rule:
    """A program, the options of its run, and the text of the trace it must give."""

    main: type[Reactor]
    expected: str
    options: Mapping[str, Any]


RULES: dict[str, Rule] = {}


def rule(
    expected: str, *, name: str = "", **options: object
) -> Callable[[type[Reactor]], type[Reactor]]:
    """Put the decorated main reactor into the table.

    Args:
        expected: The trace, computed by hand. What a reaction does may stand on lines
            of its own, indented once more.
        name: The name in the table; that of the class if not given.
        options: Options of the run.
    """

    def register(main: type[Reactor]) -> type[Reactor]:
        key = name or main.__name__
        assert key not in RULES
        RULES[key] = Rule(main, canonical(expected), options)
        return main

    return register


def canonical(readable: str) -> str:
    """Join the lines of a reaction to the one line of the canonical form."""
    text = dedent(readable).lstrip("\n")
    return text.replace("\n    ", " | ")
