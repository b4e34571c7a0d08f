# SPDX-License-Identifier: Apache-2.0
"""Elaboration finds everything that is wrong at once; the first error is raised."""

from __future__ import annotations

import pytest

from reactorl import (
    CausalityError,
    DelayError,
    Input,
    MultiInput,
    MultiOutput,
    Output,
    Reactor,
    Timer,
    WidthError,
    WiringError,
    bank,
    elaborate,
    param,
    reaction,
)
from reactorl._program.elaborate import examine
from reactorl._program.faults import Faults
from reactorl._program.text import digest


class Relay(Reactor):
    inp = Input[int]()
    out = Output[int]()

    @reaction(inp, effects=[out])
    def pass_on(self) -> None:
        """Pass on."""


class Clock(Reactor):
    period: int = param(-1)
    timer = Timer(0, period)


class Comb(Reactor):
    teeth = MultiInput[int](lambda self: self.width)
    width: int = param(2)


def found(main: type[Reactor]) -> list[str]:
    faults = Faults()
    program = examine(main, faults)
    assert (program is None) == bool(faults)
    return [type(error).__name__ for error in faults]


def test_the_first_error_is_raised_and_its_notes_tell_the_others() -> None:
    class Main(Reactor):
        clock = Clock()
        a = Relay()
        b = Relay()

        def build(self) -> None:
            self.connect(self.a.out, self.b.inp)
            self.connect(self.b.out, self.a.inp)

    with pytest.raises(DelayError, match="below zero") as raised:
        elaborate(Main)

    (note,) = raised.value.__notes__
    assert note.startswith("Also: 2 reactions wait for each other")


def test_every_loop_is_found_once() -> None:
    class Main(Reactor):
        rings = bank(Relay(), width=6)

        def build(self) -> None:
            for one, other in ((0, 1), (1, 0), (2, 3), (3, 4), (4, 2), (4, 5)):
                self.connect(self.rings[one].out, self.rings[other].inp)

    faults = Faults()
    assert examine(Main, faults) is None

    loops = [e.cycle for e in faults if isinstance(e, CausalityError)]
    assert [len(loop) for loop in loops] == [2, 3]


def test_all_statements_of_one_reactor_are_judged() -> None:
    class Main(Reactor):
        a = Relay()
        b = Relay()
        c = Relay()

        def build(self) -> None:
            self.connect(self.a.inp, self.b.inp)  # an input as source
            self.connect(self.a.out, self.b.inp)
            self.connect(self.c.out, self.b.inp)  # a second driver
            self.connect(self.b.out, self.c.out)  # an output as target

    assert found(Main) == ["WiringError"] * 3


def test_members_of_a_bank_make_one_mistake_together() -> None:
    class Main(Reactor):
        clocks = bank(Clock(), width=100)

    assert found(Main) == ["DelayError"]


def test_what_mentions_a_wrong_reactor_is_not_blamed() -> None:
    class Main(Reactor):
        comb = Comb(width=-1)
        a = Relay()

        @reaction("a.out", effects=["comb.teeth"])
        def pass_on(self) -> None:
            """Mention both."""

    assert found(Main) == ["WidthError"]


def test_a_width_that_cannot_be_inferred_spoils_nothing_else() -> None:
    class Inner(Reactor):
        xs = MultiInput[int]()
        first = Output[int]()

        def build(self) -> None:
            self.connect(self.xs[1], self.first)

    class Source(Reactor):
        ys = MultiOutput[int](3)

    class Main(Reactor):
        source = Source()
        inner = bank(Inner(), width=2)
        clock = Clock()

        def build(self) -> None:
            self.connect(self.source.ys, self.inner.xs)

    assert found(Main) == ["WidthError", "DelayError"]


def test_circles_of_connections_are_all_found() -> None:
    class Short(Reactor):
        inp = Input[int]()
        out = Output[int]()

        def build(self) -> None:
            self.connect(self.inp, self.out)

    class Main(Reactor):
        a = Short()
        b = Short()

        def build(self) -> None:
            self.connect(self.a.out, self.a.inp)
            self.connect(self.b.out, self.b.inp)

    faults = Faults()
    assert examine(Main, faults) is None
    assert [str(e).count("main.a") for e in faults if isinstance(e, WiringError)] == [
        4,
        0,
    ]


def test_a_program_without_faults_is_the_same_as_ever() -> None:
    class Main(Reactor):
        a = Relay()
        comb = Comb()

    faults = Faults()
    program = examine(Main, faults)

    assert program is not None
    assert not faults
    assert digest(program) == digest(elaborate(Main))


def test_width_errors_name_the_place() -> None:
    class Main(Reactor):
        comb = Comb(width=-1)

    with pytest.raises(WidthError, match=r"test_faults\.py:\d+: .*-1, below zero"):
        elaborate(Main)
