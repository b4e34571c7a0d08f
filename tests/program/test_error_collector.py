# SPDX-License-Identifier: Apache-2.0
"""Elaboration finds all errors at once and raises the first."""

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
    analyze,
    bank,
    elaborate,
    param,
    reaction,
)
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
    return [type(error).__name__ for error in analyze(main).errors]


def test_first_error_is_raised_with_notes_for_the_others() -> None:
    class Main(Reactor):
        clock = Clock()
        a = Relay()
        b = Relay()

        def build(self) -> None:
            self.connect(self.a.out, self.b.inp)
            self.connect(self.b.out, self.a.inp)

    with pytest.raises(DelayError, match="must not be negative") as raised:
        elaborate(Main)

    (note,) = raised.value.__notes__
    assert note.startswith("Also: 2 reactions wait for each other")


def test_every_loop_is_found_once() -> None:
    class Main(Reactor):
        rings = bank(Relay(), width=6)

        def build(self) -> None:
            for one, other in ((0, 1), (1, 0), (2, 3), (3, 4), (4, 2), (4, 5)):
                self.connect(self.rings[one].out, self.rings[other].inp)

    loops = [e.cycle for e in analyze(Main).errors if isinstance(e, CausalityError)]

    assert [len(loop) for loop in loops] == [2, 3]


def test_all_statements_of_one_reactor_are_checked() -> None:
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


def test_mistake_of_all_bank_members_is_reported_once() -> None:
    class Main(Reactor):
        clocks = bank(Clock(), width=100)

    assert found(Main) == ["DelayError"]


def test_reaction_that_lists_an_invalid_reactor_is_not_reported() -> None:
    class Main(Reactor):
        comb = Comb(width=-1)
        a = Relay()

        @reaction("a.out", effects=["comb.teeth"])
        def pass_on(self) -> None:
            """Mention both."""

    assert found(Main) == ["WidthError"]


def test_width_that_cannot_be_inferred_causes_no_other_errors() -> None:
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


def test_all_cycles_of_connections_are_found() -> None:
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

    errors = analyze(Main).errors

    assert all(isinstance(error, WiringError) for error in errors)
    assert [str(error).count("main.a") for error in errors] == [4, 0]


def test_legal_program_equals_the_elaborated_one() -> None:
    class Main(Reactor):
        a = Relay()
        comb = Comb()

    found = analyze(Main)

    assert found.program is not None
    assert found.errors == ()
    assert digest(found.program) == digest(elaborate(Main))


def test_program_whose_only_errors_are_loops_is_complete() -> None:
    class Main(Reactor):
        a = Relay()

        def build(self) -> None:
            self.connect(self.a.out, self.a.inp)

    found = analyze(Main)

    assert [type(error) for error in found.errors] == [CausalityError]
    assert found.program is not None
    assert [node.path for node in found.program.reactors] == ["main", "main.a"]
    assert len(found.program.connections) == 1


def test_program_with_another_error_is_not_returned() -> None:
    class Main(Reactor):
        clock = Clock()
        a = Relay()

        def build(self) -> None:
            self.connect(self.a.out, self.a.inp)

    found = analyze(Main)

    assert [type(error) for error in found.errors] == [DelayError, CausalityError]
    assert found.program is None


def test_width_errors_have_a_position() -> None:
    class Main(Reactor):
        comb = Comb(width=-1)

    with pytest.raises(WidthError, match=r"test_error_collector\.py:\d+: .*got -1"):
        elaborate(Main)
