# SPDX-License-Identifier: Apache-2.0
"""Hypothesis strategies for reactor programs that use every element there is.

Programs are legal and end by construction. Within a reactor, contained reactors and own
reactions are in one sequence; without a delay, values only move forward in it. Every
reaction acts a bounded number of times.
"""

from __future__ import annotations

from hypothesis import strategies as st

from reactorl.testing.generated import GeneratedProgram, draw_program

__all__ = ["GeneratedProgram", "programs"]


def programs(
    *, max_depth: int = 3, modes: bool = True, physical: bool = True
) -> st.SearchStrategy[GeneratedProgram]:
    """Return a strategy for programs that are legal, deterministic, and end.

    Args:
        max_depth: How deep reactors are nested below the main one.
        modes: Whether there may be modes.
        physical: Whether there may be physical actions, with arrivals at given tags.
    """
    return _programs(max_depth=max_depth, modes=modes, physical=physical)


@st.composite
def _programs(
    draw: st.DrawFn, *, max_depth: int, modes: bool, physical: bool
) -> GeneratedProgram:
    def number(low: int, high: int) -> int:
        return draw(st.integers(low, high))

    return draw_program(number, max_depth=max_depth, modes=modes, physical=physical)
