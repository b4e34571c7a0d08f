# SPDX-License-Identifier: Apache-2.0
"""``Session.preload``: values in flight on delayed connections at the start."""

from __future__ import annotations

from typing import Any

import pytest

from reactorl import Input, Output, Reactor, UnknownNameError, drive, msec, reaction


class Source(Reactor):
    go = Input[int]()
    out = Output[int]()

    @reaction(go, effects=[out])
    def send(self) -> None:
        self.out.set(self.go.value)


class Sink(Reactor):
    early = Input[int]()
    late = Input[int]()
    out = Output[Any]()

    @reaction(early, late, effects=[out])
    def receive(self) -> None:
        found = [
            port.value if port.is_present else None for port in (self.early, self.late)
        ]
        self.out.set(found)


class Main(Reactor):
    go = Input[int]()
    out = Output[Any]()

    def build(self) -> None:
        source, sink = self.add("source", Source), self.add("sink", Sink)
        self.connect(self.go, source.go)
        self.connect(source.out, sink.early, after=msec(1))
        self.connect(source.out, sink.late, after=msec(3))
        self.connect(sink.out, self.out)


def outputs(session: Any, steps: int) -> list[Any]:  # noqa: ANN401
    return [session.step(after=msec(1)).get("out") for _ in range(steps)]


def test_a_preloaded_value_arrives_after_the_delay_of_each_connection() -> None:
    session = drive(Main)
    session.preload("main.source.out", 7, sent=msec(1))
    with session:
        found = outputs(session, 5)

    assert found == [None, [7, None], None, [None, 7], None]


def test_preloaded_and_sent_values_arrive_as_in_one_run() -> None:
    with drive(Main) as session:
        first = [session.step(go=k, after=msec(1)).get("out") for k in (1, 2)]
        rest = outputs(session, 3)

    resumed = drive(Main)
    resumed.preload("main.source.out", 1, sent=msec(1))
    resumed.preload("main.source.out", 2, sent=msec(2))
    with resumed:
        again = [resumed.step(after=msec(3)).get("out"), *outputs(resumed, 2)]

    assert first == [None, [1, None]]
    assert rest == [[2, None], [None, 1], [None, 2]]
    assert again == rest


def test_preload_needs_a_port_with_a_delayed_connection() -> None:
    session = drive(Main)
    with pytest.raises(UnknownNameError, match=r"main\.source\.out"):
        session.preload("main.source.ou", 7, sent=0)
    with (
        session,
        pytest.raises(RuntimeError, match="must be called before the program starts"),
    ):
        session.preload("main.source.out", 7, sent=0)
