# SPDX-License-Identifier: Apache-2.0
"""Random classes, given a source of small numbers.

Independent of Hypothesis: it only calls ``number(low, high)``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar

from reactorl.testing.class_drawing import ClassDrawing
from reactorl.testing.plans import (
    ActionPlan,
    ChildPlan,
    ClassPlan,
    PortPlan,
    TimerPlan,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")

_MOST_REACTORS: Final = 24
_SPACINGS: Final = (None, None, 0, 1, 2, 5)
_POLICIES: Final = ("defer", "drop", "replace", "update")
_DELAYS: Final = (0, 0, 1, 2, 5)


class Drawing:
    """Draws the classes of one program."""

    def __init__(
        self, number: Callable[[int, int], int], *, modes: bool, physical: bool
    ) -> None:
        self.number = number
        self._modes = modes
        self._physical = physical
        self.wires_outputs = True
        self._classes = 0
        self._leaves: list[ClassPlan] = []

    # -- small choices --------------------------------------------------------------

    def chance(self, one_in: int) -> bool:
        """Return True once in so many times; False is the simpler case."""
        return self.number(0, one_in - 1) == one_in - 1

    def one(self, options: Sequence[T]) -> T:
        """Return one of the options; the first is the simplest."""
        return options[self.number(0, len(options) - 1)]

    def some(self, options: Sequence[T], most: int) -> tuple[T, ...]:
        """Return up to ``most`` of the options, in their order."""
        if not options:
            return ()
        count = self.number(0, min(most, len(options)))
        rest = list(range(len(options)))
        chosen = [rest.pop(self.number(0, len(rest) - 1)) for _ in range(count)]
        return tuple(options[index] for index in sorted(chosen))

    # -- classes --------------------------------------------------------------------

    def main(self, depth: int) -> ClassPlan:
        """Draw the main class, with reactors nested up to ``depth`` inside."""
        return self._container(depth, main=True)

    def _leaf(self) -> ClassPlan:
        """Draw a class that contains nothing, or reuse one."""
        if self._leaves and self.chance(3):
            return self.one(self._leaves)
        self._leaves.append(self._leaf_class(self._bases()))
        return self._leaves[-1]

    def _leaf_class(self, bases: tuple[ClassPlan, ...]) -> ClassPlan:
        """Draw a class that contains nothing; if it extends some, it may override."""
        plan = replace(self._outline(main=False), bases=bases)
        inherited = [name for base in bases for name in base.all_params()]
        if inherited and self.chance(2):
            plan = replace(plan, params=(*plan.params, (inherited[0], 7)))
        return ClassDrawing(self, plan).finish(self.number(1, 3))

    def _bases(self) -> tuple[ClassPlan, ...]:
        """Draw no base, one, or two that may extend a common one."""
        kind = self.number(0, 8)
        if kind < 6:
            return ()
        modes, self._modes = self._modes, False  # one set of modes per class
        self.wires_outputs = False  # and one build()
        first = self._leaf_class(())
        if kind == 6:
            bases: tuple[ClassPlan, ...] = (first,)
        elif kind == 7:
            bases = first, self._leaf_class(())
        else:
            bases = self._leaf_class((first,)), self._leaf_class((first,))
        self._modes = modes
        self.wires_outputs = True
        return bases

    def _container(self, depth: int, *, main: bool) -> ClassPlan:
        plan = self._outline(main=main)
        number = plan.name[1:]
        children: list[ChildPlan] = []
        room = _MOST_REACTORS
        for index in range(self.number(1, 3)):
            deeper = depth > 1 and self.chance(3)
            cls = self._container(depth - 1, main=False) if deeper else self._leaf()
            width = None if deeper else self.one((None, None, None, 2, 3, 1))
            if any(port.width == -1 for port in cls.all_ports()):
                width = None
            room -= _weight(cls) * (width or 1)
            if room < 0:
                break
            children.append(
                ChildPlan(
                    name=f"c{number}_{index}",
                    cls=cls,
                    width=width,
                    mode=self.one((None, *plan.modes)) if plan.modes else None,
                    built=self.chance(3),
                    param=self.number(1, 9) if self.chance(2) else None,
                )
            )
        plan = replace(plan, children=tuple(children))
        return ClassDrawing(self, plan).finish(self.number(0, 3))

    def _outline(self, *, main: bool) -> ClassPlan:
        """Draw what a class has besides reactors, connections and reactions."""
        number = self._classes
        self._classes += 1
        modes: tuple[str, ...] = ()
        if self._modes and self.chance(4):
            modes = tuple(f"m{number}_{index}" for index in range(self.number(2, 3)))
        ports: list[PortPlan] = []
        if not main:
            ports += [self._input(f"x{number}_{i}") for i in range(self.number(0, 2))]
            ports += [self._output(f"y{number}_{i}") for i in range(self.number(0, 2))]

        def mode() -> str | None:
            return self.one((None, *modes)) if modes else None

        return ClassPlan(
            name=f"C{number}",
            params=tuple((f"k{number}_{i}", i) for i in range(self.number(0, 2))),
            ports=tuple(ports),
            timers=tuple(
                TimerPlan(
                    f"t{number}_{i}", self.number(0, 3), self.number(0, 4), mode()
                )
                for i in range(self.number(0, 2))
            ),
            actions=tuple(
                self._action(f"a{number}_{i}", mode()) for i in range(self.number(0, 2))
            ),
            modes=modes,
        )

    def _input(self, name: str) -> PortPlan:
        width = self.one((None, None, None, 2, 3, 1, -1))
        mutable = self.chance(3)
        return PortPlan(
            name, is_input=True, width=width, mutable=mutable, sends_lists=mutable
        )

    def _output(self, name: str) -> PortPlan:
        width = self.one((None, None, None, 2, 3, 1, 0))
        return PortPlan(name, is_input=False, width=width, sends_lists=self.chance(3))

    def _action(self, name: str, mode: str | None) -> ActionPlan:
        if self._physical and self.chance(6):
            return ActionPlan(name, physical=True, mode=mode)
        return ActionPlan(
            name,
            min_delay=self.one(_DELAYS),
            min_spacing=self.one(_SPACINGS),
            policy=self.one(_POLICIES),
            mode=mode,
        )


def _weight(plan: ClassPlan) -> int:
    """Return how many reactors an instance of a class consists of."""
    return 1 + sum((child.width or 1) * _weight(child.cls) for child in plan.children)
