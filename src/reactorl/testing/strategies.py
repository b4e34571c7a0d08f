# SPDX-License-Identifier: Apache-2.0
"""Hypothesis strategies for reactor programs that use every element there is.

Programs are legal and end by construction. Within a reactor, contained reactors and own
reactions stand in one line; without a delay, values only move down that line. Every
reaction acts a bounded number of times.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from reactorl import ReactorlWarning, Tag, elaborate
from reactorl.testing.drawing import Drawing
from reactorl.testing.illegal import ILLEGAL, Illegal
from reactorl.testing.realise import realise

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reactorl import Program, Reactor
    from reactorl.testing.plans import ClassPlan


@dataclass(frozen=True)
class GeneratedProgram:
    """A program with everything a run of it depends on."""

    plan: ClassPlan
    timeout: int | None
    seed: int
    arrivals: tuple[tuple[int, Tag, int], ...]  # which physical action, when, value

    @cached_property
    def main(self) -> type[Reactor]:
        """The main reactor class."""
        return realise(self.plan)

    @cached_property
    def program(self) -> Program:
        """The class, elaborated."""
        with warnings.catch_warnings():
            # Widths that do not fit are legal, and drawn on purpose.
            warnings.simplefilter("ignore", ReactorlWarning)
            return elaborate(self.main)

    @property
    def physical_events(self) -> tuple[tuple[Tag, str, object], ...]:
        """What arrives from outside: (elapsed tag, full name of the action, value)."""
        names = [
            self.program.element_name(action)
            for action in self.program.actions
            if action.physical
        ]
        events: dict[tuple[Tag, str], object] = {}
        for which, tag, value in self.arrivals:
            if names:
                events[tag, names[which % len(names)]] = value
        return tuple((tag, name, value) for (tag, name), value in sorted(events.items()))


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


def illegal_programs() -> st.SearchStrategy[Illegal]:
    """Return a strategy for programs that must be refused, with the error to expect."""
    return st.sampled_from(ILLEGAL)


@st.composite
def _programs(
    draw: st.DrawFn, *, max_depth: int, modes: bool, physical: bool
) -> GeneratedProgram:
    def number(low: int, high: int) -> int:
        return draw(st.integers(low, high))

    drawing = Drawing(number, modes=modes, physical=physical)
    plan = drawing.main(number(1, max_depth))
    plans = list(_all_plans(plan))
    periodic = any(timer.period for one in plans for timer in one.timers)
    awaited = any(action.physical for one in plans for action in one.actions)
    arrivals: list[tuple[int, Tag, int]] = []
    if awaited:
        tag = st.builds(Tag, st.integers(0, 12), st.integers(1, 2))
        arrival = st.tuples(st.integers(0, 7), tag, st.integers(0, 99))
        arrivals = draw(st.lists(arrival, max_size=4))
    timeout = None if not (periodic or awaited) and number(0, 1) else number(0, 25)
    return GeneratedProgram(plan, timeout, number(0, 3), tuple(arrivals))


def _all_plans(plan: ClassPlan) -> Iterable[ClassPlan]:
    for one in plan.lineage():
        yield one
        for child in one.children:
            yield from _all_plans(child.cls)
