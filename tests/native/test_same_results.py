# SPDX-License-Identifier: Apache-2.0
"""Native bodies and those in Python give the same trace, digest and recording."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reactorl import (
    Input,
    LogicalAction,
    Mode,
    MultiInput,
    Output,
    PhysicalAction,
    Reactor,
    Timer,
    elaborate,
    msec,
    native,
    native_state,
    param,
    reaction,
    reset_to,
    run,
    startup,
)
from reactorl.trace import digest, text

SETTINGS = [(1, 0), (2, 0), (2, 1), (4, 2), (4, 3)]


def ring(library: str, *, nodes: bool, gather: bool) -> type[Reactor]:
    """Return a ring of nodes that report to one; each kind native or in Python."""

    class Node(Reactor):
        inp = Input[int](dtype="int64")
        out = Output[int](dtype="int64")
        seen = Output[Any](dtype="float64[3]")
        again = LogicalAction[int](msec(1), dtype="int64")

        if nodes:
            memory = native_state(library, "ring_state")
            begin = reaction(startup, effects=[out])(native(library, "ring_begin"))
            go_on = reaction(inp, effects=[out, seen, again])(
                native(library, "ring_pass", state=memory)
            )
            retry = reaction(again, effects=[out])(
                native(library, "ring_again", state=memory)
            )
        else:

            def setup(self) -> None:
                self.total = self.bank_index + 1

            @reaction(startup, effects=[out])
            def begin(self) -> None:
                self.out.set(1)

            @reaction(inp, effects=[out, seen, again])
            def go_on(self) -> None:
                self.total = (self.total * 31 + self.inp.value) % 10007
                self.out.set(self.total)
                self.seen.set(np.array([self.total, self.total / 7, 0.0]))
                if self.total % 3 == 0:
                    self.again.schedule(self.total % 2, self.total)

            @reaction(again, effects=[out])
            def retry(self) -> None:
                self.total += self.again.value
                self.out.set(self.total)

    class Gather(Reactor):
        seen = MultiInput[Any](dtype="float64[3]")
        sum = Output[float](dtype="float64")

        if gather:
            add_up = reaction(seen, effects=[sum])(native(library, "ring_gather"))
        else:

            @reaction(seen, effects=[sum])
            def add_up(self) -> None:
                total = 0.0
                for one in self.seen.values():
                    total += one[0] + one[1] + one[2]
                self.sum.set(float(total))

    class Main(Reactor):
        width: int = param(5)

        def build(self) -> None:
            nodes = self.add_bank("nodes", Node, width=self.width)
            gather = self.add("gather", Gather)
            last = self.width - 1
            for i in range(self.width):
                after = msec(i % 3)
                self.connect(nodes[i].out, nodes[(i + 1) % (last + 1)].inp, after=after)
            self.connect(nodes.seen, gather.seen)

    return Main


def traced(main: type[Reactor], **options: Any) -> Any:  # noqa: ANN401
    options = {"fast": True, "trace": "values", "timeout": msec(15), **options}
    return run(main, **options).trace


def test_native_and_python_bodies_give_the_same_trace(library: str) -> None:
    expected = traced(ring(library, nodes=False, gather=False), workers=1)
    assert len(expected.tags) > 50
    for nodes, gather in [(True, True), (True, False), (False, True)]:
        for workers, shuffle in SETTINGS:
            main = ring(library, nodes=nodes, gather=gather)
            found = traced(main, workers=workers, shuffle=shuffle)
            assert text(found) == text(expected), (nodes, gather, workers, shuffle)
            assert digest(found) == digest(expected)


def test_a_trace_without_values_is_the_same_too(library: str) -> None:
    traces = [
        text(traced(ring(library, nodes=native, gather=native), trace=True))
        for native in (False, True)
    ]
    assert traces[0] == traces[1]
    assert "<ndarray>" in traces[0]


def test_the_program_has_the_same_digest(library: str) -> None:
    programs = [
        elaborate(ring(library, nodes=native, gather=native))
        for native in (False, True)
    ]
    assert programs[0].digest == programs[1].digest


def test_the_check_for_nondeterminism_runs_with_native_bodies(library: str) -> None:
    main = ring(library, nodes=True, gather=False)
    expected = traced(ring(library, nodes=False, gather=False))
    assert text(traced(main, check=True)) == text(expected)


def clocked(library: str, *, native_body: bool) -> type[Reactor]:
    """Return a program that reads the clock and sends itself a physical event."""

    class Clocked(Reactor):
        tick = Timer(0, msec(1))
        poke = PhysicalAction[float](dtype="float64")
        since = Output[int](dtype="int64")
        microstep = Output[int](dtype="int64")
        clock = Output[int](dtype="int64")

        if native_body:
            send = reaction(startup, effects=[poke])(native(library, "send_later"))
            tell = reaction(tick, effects=[since, microstep, clock])(
                native(library, "tell_time")
            )
        else:

            @reaction(startup, effects=[poke])
            def send(self) -> None:
                self.poke.schedule(1_000_000, 2.5)

            @reaction(tick, effects=[since, microstep, clock])
            def tell(self) -> None:
                self.since.set(self.tag.time - self.start_time)
                self.microstep.set(self.tag.microstep)
                self.clock.set(self.physical_time())

        @reaction(poke)
        def poked(self) -> None:
            assert self.poke.value == 2.5

    class Main(Reactor):
        clocked = Clocked()

    return Main


def test_recordings_of_native_bodies_replay_in_python_and_the_other_way(
    library: str,
) -> None:
    options: dict[str, Any] = {"timeout": msec(8), "trace": "values"}
    options |= {"start_time": 5, "keepalive": True}
    for recorded in (False, True):
        main = clocked(library, native_body=recorded)
        first = run(main, record=True, workers=2, **options)
        assert first.recording is not None
        assert first.recording.events[0][1:] == ("main.clocked.poke", 2.5)
        assert len(first.recording.clock["main.clocked.tell"]) == 9
        for replayed in (False, True):
            again = clocked(library, native_body=replayed)
            second = run(again, replay=first.recording, fast=True, **options)
            assert text(second.trace) == text(first.trace)


def modal(library: str, *, native_body: bool) -> type[Reactor]:
    """Return a program whose connections and reactions change with its mode."""

    class One(Reactor):
        tick = Timer(0, msec(2))
        out = Output[int](dtype="int64")

        if native_body:
            send = reaction(tick, effects=[out])(native(library, "one"))
        else:

            @reaction(tick, effects=[out])
            def send(self) -> None:
                self.out.set(1)

    class Two(Reactor):
        tick = Timer(0, msec(1))
        out = Output[int](dtype="int64")

        if native_body:
            send = reaction(tick, effects=[out])(native(library, "two"))
        else:

            @reaction(tick, effects=[out])
            def send(self) -> None:
                self.out.set(2)

    class Modal(Reactor):
        out = Output[int](dtype="int64")
        tick = Timer(msec(5), msec(5))
        first = Mode(initial=True)
        second = Mode()

        with first:
            one = One()
            if native_body:
                leave = reaction(tick, effects=[reset_to(second)])(
                    native(library, "enter_other")
                )
            else:

                @reaction(tick, effects=[reset_to(second)])
                def leave(self) -> None:
                    self.second.set()

        with second:
            two = Two()
            if native_body:
                back = reaction(tick, effects=[reset_to(first)])(
                    native(library, "enter_other")
                )
            else:

                @reaction(tick, effects=[reset_to(first)])
                def back(self) -> None:
                    self.first.set()

        def build(self) -> None:
            with self.first:
                self.connect(self.one.out, self.out)
            with self.second:
                self.connect(self.two.out, self.out)

    class Main(Reactor):
        def build(self) -> None:
            self.add("modal", Modal)

    return Main


def test_modes_and_connections_in_modes_work_with_native_bodies(library: str) -> None:
    expected = text(traced(modal(library, native_body=False)))
    assert "second reset" in expected
    for workers, shuffle in SETTINGS:
        main = modal(library, native_body=True)
        assert text(traced(main, workers=workers, shuffle=shuffle)) == expected


@pytest.mark.parametrize("workers", [1, 2])
def test_the_costs_of_native_bodies_are_measured(library: str, workers: int) -> None:
    main = ring(library, nodes=True, gather=True)
    result = run(main, fast=True, timeout=msec(15), workers=workers, timing=True)
    assert result.timing is not None
    names = {time.reaction for time in result.times}
    assert {"main.nodes[0].go_on", "main.gather.add_up"} <= names
