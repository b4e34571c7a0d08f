# SPDX-License-Identifier: Apache-2.0
"""Measured times of federations: merged, on one clock, and never part of a trace."""

from __future__ import annotations

import time
from array import array
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from reactorl import (
    Federation,
    Input,
    Output,
    Reactor,
    Result,
    Tag,
    Timer,
    drive,
    elaborate,
    msec,
    reaction,
    run,
    trace,
)
from reactorl._federation import coordinator_server, probes
from reactorl._federation.codec import encode
from reactorl._federation.frames import Probe, Reading
from reactorl._federation.merged_timing import ClockOffset, merged_timing
from reactorl._federation.probes import Probes, steady_clock
from reactorl._program.cut import cut_program
from reactorl.trace import WaitKind
from tests.federation.driven_programs import PERIOD, Driven
from tests.federation.test_driven import split

if TYPE_CHECKING:
    from reactorl._runtime.timing import Numbers
    from reactorl.trace import Timing

TAGS = 12


class Asks(Reactor):
    """Asks at each tag, and needs the answer at the same tag."""

    question = Output[int]()
    answer = Input[int]()
    timer = Timer(0, msec(1))

    @reaction(timer, effects=[question])
    def ask(self) -> None:
        self.question.set(3)

    @reaction(answer)
    def hear(self) -> None:
        assert self.answer.value == 9


class Answers(Reactor):
    question = Input[int]()
    answer = Output[int]()

    @reaction(question, effects=[answer])
    def work(self) -> None:
        time.sleep(0.003)
        self.answer.set(self.question.value**2)


class Exchange(Reactor):
    def build(self) -> None:
        asks, answers = self.add("asks", Asks()), self.add("answers", Answers())
        self.connect(asks.question, answers.question)
        self.connect(answers.answer, asks.answer)


PLACEMENT = Federation({"main.answers": "there"}, rest="here")


def exchange(**options: Any) -> Result:
    given = {"fast": True, "timeout": msec(TAGS - 1), "trace": True, "workers": 1}
    return run(Exchange, **(given | options))


@pytest.fixture(scope="module")
def timed() -> Result:
    return exchange(federation=PLACEMENT, timing=True)


# -- a run --


def test_times_are_no_part_of_the_trace(timed: Result) -> None:
    assert timed.digest == exchange().digest
    assert timed.digest == exchange(federation=PLACEMENT).digest


def test_every_invocation_of_all_federates_is_measured(timed: Result) -> None:
    timing = timed.timing

    assert timing.tags == TAGS
    assert [sums.runs for sums in timing.reactions] == [TAGS] * 3
    assert [worker.runs for worker in timing.workers] == [2 * TAGS, TAGS]
    assert len(timing.recent) == 3 * TAGS
    assert [tag.tag for tag in timing.recent_tags] == [
        Tag(msec(k), 0) for k in range(TAGS)
    ]
    assert [(each.name, each.workers) for each in timing.federates] == [
        ("here", 1),
        ("there", 1),
    ]
    for ran in timing.recent:
        tag = timing.recent_tags[ran.tag]
        assert tag.begin <= ran.begin <= ran.end <= tag.end <= timing.span


def test_federates_of_one_machine_share_a_clock(timed: Result) -> None:
    """The question comes before the answer, by the clocks of two processes."""
    timing = timed.timing

    assert [(each.offset, each.offset_error) for each in timing.federates] == [
        (0, 0),
        (0, 0),
    ]
    names = timing.structure.reactions
    for tag in range(TAGS):
        ran = {names[i.reaction]: i for i in timing.recent if i.tag == tag}
        ask, work, hear = (
            ran[f"main.{name}"] for name in ("asks.ask", "answers.work", "asks.hear")
        )
        assert ask.end <= work.begin
        assert work.end <= hear.begin


def test_waits_name_both_federates(timed: Result) -> None:
    here, there = timed.timing.federates

    # The answer takes longer than anything else that is done here.
    found = {(wait.federate, wait.kind): wait for wait in here.waits}
    waited = found[1, WaitKind.SLOT]
    assert waited.longest <= waited.total <= here.span
    assert 0 < waited.waits <= len(here.recent_waits)
    assert {wait.federate for wait in there.waits} <= {0}
    for each in (here, there):
        for wait in each.recent_waits:
            assert 0 <= wait.begin <= wait.end
        for sums in each.waits:
            spans = [
                wait.end - wait.begin
                for wait in each.recent_waits
                if (wait.federate, wait.kind) == sums[:2]
            ]
            assert (len(spans), sum(spans), max(spans)) == sums[2:]


def test_no_reaction_runs_while_its_federate_waits(timed: Result) -> None:
    timing = timed.timing

    for each in timing.federates:
        for wait in each.recent_waits:
            for ran in timing.recent:
                if ran.worker == each.first_worker:
                    assert ran.end <= wait.begin or ran.begin >= wait.end


def test_times_of_a_federation_come_back_from_a_file(
    timed: Result, tmp_path: Any
) -> None:
    timed.save_trace(tmp_path / "a.trace")

    assert trace.load(tmp_path / "a.trace").timing == timed.timing


def test_perfetto_has_a_process_for_each_federate(timed: Result) -> None:
    from reactorl.trace.perfetto import events

    found = list(events(timed.timing, "not shown"))

    processes = {e["pid"]: e["args"]["name"] for e in found if "process_n" in e["name"]}
    assert processes == {1: "federate here", 2: "federate there"}
    tracks = {
        (e["pid"], e["tid"]): e["args"]["name"]
        for e in found
        if e["name"] == "thread_name"
    }
    assert tracks[1, 0] == tracks[2, 0] == "tags"
    assert tracks[1, 1] == "waits for there"
    assert sorted(name for (pid, _), name in tracks.items() if pid == 1)[-1:] == [
        "worker 0"
    ]
    places = {
        e["name"]: tracks[e["pid"], e["tid"]] + f" of {processes[e['pid']]}"
        for e in found
        if e.get("cat") == "reaction"
    }
    assert places == {
        "main.asks.ask": "worker 0 of federate here",
        "main.asks.hear": "worker 0 of federate here",
        "main.answers.work": "worker 0 of federate there",
    }


def test_driven_federation_is_measured_as_well() -> None:
    with drive(Driven, federation=split(2), timing=True, workers=1) as running:
        for _ in range(3):
            running.step(after=PERIOD)

    timing = running.result.timing
    assert [each.name for each in timing.federates] == list(
        cut_program(elaborate(Driven), split(2)).names
    )
    assert all(each.recent_tags for each in timing.federates)


# -- clocks of other machines --


class FakeLink:
    def __init__(self) -> None:
        self.put_frames: list[Probe] = []

    def put(self, frame: Probe) -> None:
        self.put_frames.append(frame)

    def flush(self) -> None:
        pass

    is_connected = True


def test_offset_is_that_of_the_shortest_exchange(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A clock that is 1,000,000 ahead; each way takes another time."""
    now = 5_000
    monkeypatch.setattr(probes.time, "monotonic_ns", lambda: now)
    link = FakeLink()
    asked = Probes([link], clocks=True)  # type: ignore[list-item]
    ways = [(40, 90), (30, 10), (500, 100), (15, 25)] + [(200, 200)] * 12

    asked.begin(0, {"clock": "another machine"})
    for there, back in ways:
        now += there
        reading = Reading(link.put_frames[-1].number, now + 1_000_000, encode(None))
        now += back
        asked.take(0, reading)

    assert len(link.put_frames) == len(ways)
    (clock,) = asked.clocks
    assert clock.error == 20  # half of 30 + 10; the first of two that are as short
    assert abs(clock.offset + 1_000_000) <= clock.error


def test_clock_of_another_machine_is_estimated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Federates that seem to be elsewhere: the estimate must be near to nothing."""
    monkeypatch.setattr(probes, "steady_clock", lambda: "elsewhere")

    timing = exchange(federation=PLACEMENT, timing=True).timing

    for each in timing.federates:
        assert each.offset_error > 0
        assert abs(each.offset) <= each.offset_error


def test_clock_belongs_to_a_machine_also_where_there_is_no_proc(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(path: Path) -> str:
        raise FileNotFoundError(path)

    monkeypatch.setattr(Path, "read_text", missing)
    clocks = []
    for name in ("one", "two"):
        monkeypatch.setattr("platform.node", lambda name=name: name)
        clocks.append(steady_clock())

    assert clocks == ["one", "two"]


def test_nothing_is_asked_if_times_are_not_wanted() -> None:
    link = FakeLink()

    Probes([link], clocks=False).begin(0, {"clock": "elsewhere"})  # type: ignore[list-item]
    Probes([link], clocks=True).begin(0, {"clock": steady_clock()})  # type: ignore[list-item]

    assert link.put_frames == []
    assert coordinator_server.Probes is Probes


# -- merging --


def numbers(
    begin: int,
    *rows: tuple[int, int, int, int],
    reaction: int = 0,
    forgotten: int = 0,
) -> Numbers:
    """Return times of a federate: per tag its time, begin, end and lag."""
    tags = [len(rows) + forgotten, 0, 0, begin, rows[-1][2]]
    ran = []
    for number, (tag, began, ended, lag) in enumerate(rows, forgotten + 1):
        tags += [number, tag, 0, began, ended, lag]
        ran += [number, reaction, 0, began, ended]
    sums = [0] * 12
    sums[4 * reaction : 4 * reaction + 4] = [len(rows), 0, 10, 10]
    work = [len(rows), 10, forgotten]
    parts = (sums, work, tags)
    return (
        *(array("q", each).tobytes() for each in parts),
        [array("q", ran).tobytes()],
        b"",
        b"",
    )  # type: ignore[return-value]


def merged(*each: Numbers, offsets: tuple[ClockOffset, ...]) -> Timing:
    program = elaborate(Exchange)
    cut = cut_program(program, PLACEMENT)
    return merged_timing(program, cut, each, offsets, fast=False)


def test_times_are_moved_to_one_clock() -> None:
    found = merged(
        numbers(1_000, (0, 1_000, 1_050, 7), (5, 1_100, 1_200, 3)),
        numbers(90_020, (0, 90_020, 90_080, 9), reaction=2),
        offsets=(ClockOffset(), ClockOffset(-89_000, 4)),
    )

    assert [tuple(tag) for tag in found.recent_tags] == [
        (Tag(0, 0), 0, 80, 9),
        (Tag(5, 0), 100, 200, 3),
    ]
    assert [ran[:5] for ran in found.recent] == [
        (0, 0, 0, 0, 50),
        (0, 2, 1, 20, 80),
        (1, 0, 0, 100, 200),
    ]
    assert (found.tags, found.lag, found.span) == (2, 12, 200)
    assert [each.offset_error for each in found.federates] == [0, 4]


def test_only_tags_that_all_federates_have_kept_are_shown_together() -> None:
    found = merged(
        numbers(0, (0, 0, 10, 0), (5, 20, 30, 0), (9, 40, 50, 0)),
        # The oldest that is kept may have lost some of its invocations.
        numbers(0, (5, 21, 31, 0), (9, 41, 51, 0), reaction=2, forgotten=1),
        offsets=(ClockOffset(), ClockOffset()),
    )

    assert [tag.tag.time for tag in found.recent_tags] == [9]
    assert [ran.tag for ran in found.recent] == [0, 0]
    assert found.tags == 3
    assert len(found.federates[0].recent_tags) == 3
