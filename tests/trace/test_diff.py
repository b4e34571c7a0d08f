# SPDX-License-Identifier: Apache-2.0
"""The first difference of two runs, as data and as text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from reactorl.tag import Tag
from reactorl.trace import Difference, Event, ReactionRecord, TagRecord, Trace, diff
from tests.trace.test_text import traces


def ran(name: str, **fields: object) -> ReactionRecord:
    plain = ReactionRecord(name, missed_deadline=False, sets=(), events=(), modes=())
    return replace(plain, **fields)  # type: ignore[arg-type]


def at(
    time: int, *reactions: ReactionRecord, events: tuple[Event, ...] = ()
) -> TagRecord:
    return TagRecord(Tag(time, 0), reactions, events)


ONE = at(0, ran("main.a.go"), ran("main.b.go"))


def trace(*tags: TagRecord) -> Trace:
    return Trace(tags)


@given(traces)
def test_trace_does_not_differ_from_itself(run: Trace) -> None:
    assert diff(run, Trace(tuple(run.tags))) is None


@given(traces, traces)
def test_traces_that_differ_have_a_difference_both_ways(a: Trace, b: Trace) -> None:
    one, other = diff(a, b), diff(b, a)

    assert (one is None) == (other is None) == (a == b)
    if one is not None and other is not None:
        assert (one.kind, one.tag) == (other.kind, other.tag)
        assert str(one)


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        (trace(), trace(ONE), "at tag (0, 0): A is empty, B is not"),
        (
            trace(ONE, at(5)),
            trace(ONE),
            "at tag (5, 0): B ended at (0, 0), A continued",
        ),
        (
            trace(ONE, at(5)),
            trace(ONE, at(4)),
            "at tag (4, 0): A continued with tag (5, 0), B with (4, 0)",
        ),
        (
            trace(ONE),
            trace(at(0, ran("main.b.go"))),
            "at tag (0, 0): A ran main.a.go, B did not",
        ),
        (
            trace(at(0, ran("main.a.go"))),
            trace(ONE),
            "at tag (0, 0): B ran main.b.go, A did not",
        ),
        (
            trace(at(0, ran("x"))),
            trace(at(0, ran("y"))),
            "at tag (0, 0): A ran x, B y",
        ),
        (
            trace(at(0, ran("x", missed_deadline=True))),
            trace(at(0, ran("x"))),
            "at tag (0, 0), in x: A missed the deadline, B did not",
        ),
        (
            trace(at(0, ran("x", sets=(("x.out", "1"),)))),
            trace(at(0, ran("x", sets=(("x.out", "2"),)))),
            "at tag (0, 0), in x: A set x.out to 1, B to 2",
        ),
        (
            trace(at(0, ran("x", sets=(("x.out", "1"), ("x.two", "2"))))),
            trace(at(0, ran("x", sets=(("x.two", "2"),)))),
            "at tag (0, 0), in x: A set x.out, B did not",
        ),
        (
            trace(at(0, ran("x", events=(Event("x.act", Tag(5)),)))),
            trace(at(0, ran("x", events=(Event("x.act", None),)))),
            "at tag (0, 0), in x: A scheduled x.act for (5, 0), "
            "B x.act, which was dropped",
        ),
        (
            trace(at(0, ran("x", events=(Event("x.act", Tag(5)),)))),
            trace(at(0, ran("x"))),
            "at tag (0, 0), in x: A scheduled x.act for (5, 0), B did not",
        ),
        (
            trace(at(0, ran("x", modes=("x.on reset",)))),
            trace(at(0, ran("x", modes=("x.off history",)))),
            "at tag (0, 0), in x: A switched to x.on reset, B x.off history",
        ),
        (
            trace(at(0, ran("x"), events=(Event("x.out after 5", Tag(5)),))),
            trace(at(0, ran("x"))),
            "at tag (0, 0): A put x.out after 5 for (5, 0) on the queue, B did not",
        ),
    ],
)
def test_difference_as_text(a: Trace, b: Trace, words: str) -> None:
    assert str(diff(a, b)) == f"the runs diverge {words}"


def test_difference_has_fields() -> None:
    a = trace(ONE, at(5, ran("x", sets=(("x.out", "1"),))))
    b = trace(ONE, at(5, ran("x", sets=(("x.out", "2"),))))

    assert diff(a, b) == Difference("value", Tag(5, 0), "x", "x.out", "1", "2")


def test_streams_are_read_no_further_than_the_difference() -> None:
    def stream() -> object:
        yield at(0, ran("x"))
        pytest.fail("read on")

    found = diff(stream(), iter([at(0, ran("y"))]))  # type: ignore[arg-type]

    assert found is not None
    assert found.reaction == "x"
