# SPDX-License-Identifier: Apache-2.0
"""The canonical text of a trace and the trace are one another's inverse."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactorl.errors import TraceError
from reactorl.tag import Tag
from reactorl.trace import Event, ReactionRecord, TagRecord, Trace, digest, parse, text
from reactorl.trace.text import parse_lines

names = st.text(max_size=8) | st.sampled_from(["main.a", "x = 1", "a | b", "e dropped"])
tags = st.builds(Tag, st.integers(-9, 2**63 - 1), st.integers(0, 2**32 - 1))
events = st.lists(st.builds(Event, names, st.none() | tags), max_size=3).map(tuple)
reactions = st.builds(
    ReactionRecord,
    names,
    st.booleans(),
    st.lists(st.tuples(names, names), max_size=3).map(tuple),
    events,
    st.lists(names, max_size=2).map(tuple),
)
records = st.builds(TagRecord, tags, st.lists(reactions, max_size=3).map(tuple), events)
traces = st.lists(records, max_size=4, unique_by=lambda record: record.tag).map(
    lambda found: Trace(tuple(sorted(found, key=lambda record: record.tag)))
)


def setting(
    reaction: str,
    *sets: tuple[str, str],
    missed: bool = False,
    modes: tuple[str, ...] = (),
) -> ReactionRecord:
    return ReactionRecord(reaction, missed, sets, (), modes)


EXAMPLE = Trace(
    (
        TagRecord(
            Tag(0, 0),
            (
                ReactionRecord(
                    reaction="main.clock.tick",
                    missed_deadline=False,
                    sets=(("main.clock.count", "1"), ("main.clock.word", "'a|b'")),
                    events=(
                        Event("main.clock.beat", Tag(5, 0)),
                        Event("main.clock.x", None),
                    ),
                    modes=(),
                ),
            ),
            (Event("main.clock.count after 5", Tag(5, 0)),),
        ),
        TagRecord(
            Tag(5, 1),
            (setting("main.go", missed=True, modes=("main.green reset",)),),
            (),
        ),
    )
)
EXAMPLE_TEXT = r"""(0, 0)
  run main.clock.tick | set main.clock.count = 1 | set main.clock.word = 'a\pb' | event main.clock.beat at (5, 0) | event main.clock.x dropped
  event main.clock.count after 5 at (5, 0)
(5, 1)
  run main.go | missed deadline | mode main.green reset
"""  # noqa: E501 - a line per reaction is the format


def test_trace_reads_like_this() -> None:
    assert text(EXAMPLE) == EXAMPLE_TEXT


@given(traces)
def test_parsing_undoes_writing(trace: Trace) -> None:
    assert parse(text(trace)) == trace


@given(traces)
def test_text_is_utf8_and_has_one_line_per_thing(trace: Trace) -> None:
    written = text(trace)

    things = sum(1 + len(tag.reactions) + len(tag.events) for tag in trace)
    assert len(written.encode().decode().splitlines()) == things
    assert not written or written.endswith("\n")


@given(st.text(alphabet="(0, 1)\nrunevtmodsa|=\\px ", max_size=60))
def test_parsed_text_is_canonical(source: str) -> None:
    try:
        trace = parse(source)
    except TraceError:
        return
    assert text(trace) == source


@given(traces, traces)
def test_digests_agree_exactly_if_traces_do(a: Trace, b: Trace) -> None:
    assert (digest(a) == digest(b)) == (a == b)


def test_digest_is_that_of_the_text() -> None:
    assert digest(EXAMPLE) == hashlib.sha256(EXAMPLE_TEXT.encode()).hexdigest()


@pytest.mark.parametrize(
    ("source", "line", "what"),
    [
        ("(0, 0)", 1, "truncated"),
        ("(0, 0)\n  run a", 2, "truncated"),
        ("  run a\n", 1, "unexpected line"),
        ("(0, 0)\n(0, 0)\n", 2, "must ascend"),
        ("(0, 0)\nrun a\n", 2, "unexpected line"),
        ("(0, 00)\n", 1, "not a tag"),
        ("(0, 0)\n  event a at 5\n", 2, "not a tag"),
        ("(0, 0)\n  event a at (5, 0)\n  run a\n", 3, "unexpected line"),
        ("(0, 0)\n  run a | jump b\n", 2, "not a field of a reaction"),
        ("(0, 0)\n  run a | mode b | set c = 1\n", 2, "canonical"),
        ("(0, 0)\n  run a | set c\n", 2, "canonical"),
        ("(0, 0)\n  run a\\q\n", 2, "not an escape"),
        ("(0, 0)\r\n", 1, "not a tag"),
    ],
)
def test_bad_line_is_named(source: str, line: int, what: str) -> None:
    with pytest.raises(TraceError, match=what) as caught:
        parse(source)

    assert caught.value.where is not None
    assert caught.value.where.line == line


def test_lines_are_parsed_one_by_one() -> None:
    stream = parse_lines(["(0, 0)", "  run a", "(1, 0)", "nonsense"])

    assert next(stream).tag == Tag(0, 0)
    with pytest.raises(TraceError, match="<trace>:4"):
        next(stream)


def test_values_are_scalars_where_the_text_is_a_literal() -> None:
    assert EXAMPLE.values("clock.count") == [(Tag(0, 0), 1)]
    assert EXAMPLE.values("main.clock.word") == [(Tag(0, 0), "a|b")]
    assert EXAMPLE.values("nothing") == []


def test_values_of_an_ambiguous_name_are_rejected() -> None:
    ran = setting("r", ("main.a.x", "1"), ("main.b.x", "<T>"))
    trace = Trace((TagRecord(Tag(0, 0), (ran,), ()),))

    assert trace.values("b.x") == [(Tag(0, 0), "<T>")]
    with pytest.raises(ValueError, match=r"main\.a\.x, main\.b\.x"):
        trace.values("x")


def test_last_reaction_to_set_a_channel_counts() -> None:
    first = setting("r", ("main.x", "1"))
    second = setting("s", ("main.x", "nan"))
    trace = Trace((TagRecord(Tag(0, 0), (first, second), ()),))

    ((_, value),) = trace.values("x")

    assert value != value
