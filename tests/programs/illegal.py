# SPDX-License-Identifier: Apache-2.0
"""Illegal programs, each with the error that elaboration must raise.

Each is a function, because some are rejected as soon as their class is created.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reactorl import CausalityError, Input, Output, Reactor, bank, elaborate, reaction
from reactorl._program.rules import check_main_has_no_ports

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl import ReactorlError


@dataclass(frozen=True)
class Illegal:
    """An illegal program.

    Attributes:
        name: The rule that it breaks.
        make: Makes the main reactor's class; may raise already.
        error: The error to expect.
    """

    name: str
    make: Callable[[], type[Reactor]]
    error: type[ReactorlError]

    def __str__(self) -> str:
        return self.name


def check(main: type[Reactor] | Reactor) -> None:
    """Elaborate and order a program, as a run does before time starts.

    Raises:
        ReactorlError: It is not legal.
    """
    program = elaborate(main)
    check_main_has_no_ports(program)


def ring(size: int) -> Illegal:
    """Return a program of ``size`` reactors that wait for each other in a ring."""

    def make() -> type[Reactor]:
        class Ring(Reactor):
            links = bank(Relay, width=size)

            def build(self) -> None:
                for index in range(size):
                    after = self.links[(index + 1) % size]
                    self.connect(self.links[index].out, after.x)

        return Ring

    return Illegal(f"a ring of {size}", make, CausalityError)


class Relay(Reactor):
    """Passes on what it gets, at the same tag, by a reaction."""

    x = Input[int]()
    out = Output[int]()

    @reaction(x, effects=[out])
    def relay(self) -> None:
        """Pass it on."""
        self.out.set(self.x.value)


class Wire(Reactor):
    """Passes on what it gets, at the same tag, by a connection."""

    x = Input[int]()
    out = Output[int]()

    def build(self) -> None:
        """Join the two."""
        self.connect(self.x, self.out)
