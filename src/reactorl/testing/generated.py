# SPDX-License-Identifier: Apache-2.0
"""Generated programs, with everything that a run of them depends on."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from reactorl import ReactorlWarning, Tag, elaborate
from reactorl.testing.bodies import Stir
from reactorl.testing.drawing import Drawing
from reactorl.testing.realise import realise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reactorl import Program, Reactor
    from reactorl.testing.plans import ClassPlan


@dataclass(frozen=True)
class GeneratedProgram:
    """A program that is legal, deterministic, and ends.

    Attributes:
        plan: The main class, as data.
        timeout: The timeout to run it with; None: it ends by itself.
        seed: The seed to run it with.
        arrivals: Events of physical actions: which action, when, which value.
    """

    plan: ClassPlan
    timeout: int | None
    seed: int
    arrivals: tuple[tuple[int, Tag, int], ...]

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
        """Physical events: (elapsed tag, full name of the action, value), in order."""
        names = [
            self.program.element_name(action)
            for action in self.program.actions
            if action.physical
        ]
        events: dict[tuple[Tag, str], object] = {}
        for which, tag, value in self.arrivals:
            if names:
                events[tag, names[which % len(names)]] = value
        return tuple((*place, value) for place, value in sorted(events.items()))


def draw_program(
    number: Callable[[int, int], int],
    *,
    max_depth: int = 3,
    modes: bool = True,
    physical: bool = True,
) -> GeneratedProgram:
    """Generate a program.

    Args:
        number: Returns a number from the first argument to the second, both included.
            Small numbers give small programs.
        max_depth: How deep reactors are nested below the main one.
        modes: Whether there may be modes.
        physical: Whether there may be physical actions.
    """
    plan = Drawing(number, modes=modes, physical=physical).main(number(1, max_depth))
    plans = list(_all_plans(plan))
    periodic = any(timer.period for one in plans for timer in one.timers)
    awaited = any(action.physical for one in plans for action in one.actions)
    arrivals = tuple(
        (number(0, 7), Tag(number(0, 12), number(1, 2)), number(0, 99))
        for _ in range(number(0, 4) if awaited else 0)
    )
    endless = periodic or awaited
    timeout = None if not endless and number(0, 1) else number(0, 25)
    return GeneratedProgram(plan, timeout, number(0, 3), arrivals)


def program_from_seed(
    seed: int, *, max_depth: int = 3, modes: bool = True, physical: bool = True
) -> GeneratedProgram:
    """Return one of endlessly many programs; options as for ``draw_program``."""
    stir = Stir(seed)
    for _ in range(4):
        stir.pick(2)  # similar seeds give different programs

    def number(low: int, high: int) -> int:
        return low + stir.pick(high - low + 1)

    return draw_program(number, max_depth=max_depth, modes=modes, physical=physical)


def _all_plans(plan: ClassPlan) -> Iterator[ClassPlan]:
    for one in plan.lineage():
        yield one
        for child in one.children:
            yield from _all_plans(child.cls)
