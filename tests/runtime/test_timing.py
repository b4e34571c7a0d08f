# SPDX-License-Identifier: Apache-2.0
"""Times are measured beside a run, and traces of runs that fail are kept."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from reactorl import (
    Input,
    LogicalAction,
    Output,
    ReactionError,
    Reactor,
    Result,
    Tag,
    Timer,
    bank,
    drive,
    msec,
    param,
    reaction,
    run,
    sec,
    startup,
    trace,
)

if TYPE_CHECKING:
    from pathlib import Path


class Source(Reactor):
    out = Output[int]()
    tick = Timer(0, msec(1))

    def setup(self) -> None:
        self.count = 0

    @reaction(tick, effects=[out])
    def send(self) -> None:
        self.count += 1
        self.out.set(self.count)


class Member(Reactor):
    x = Input[int]()
    y = Output[int]()
    fails_at: int = param(0)

    @reaction(x, effects=[y])
    def work(self) -> None:
        self.y.set(self.x.value * 2)
        if self.x.value == self.fails_at:
            msg = "as asked"
            raise RuntimeError(msg)


class Main(Reactor):
    fails_at: int = param(0)
    source = Source()
    members = bank(Member(fails_at=fails_at), width=4)

    def build(self) -> None:
        self.connect(self.source.out, self.members.x, broadcast=True)


class Late(Reactor):
    go = LogicalAction()

    @reaction(startup, effects=[go])
    def begin(self) -> None:
        self.go.schedule(msec(1))
        time.sleep(0.02)

    @reaction(go, deadline=msec(1))
    def act(self) -> None:
        """Too late, always."""

    @act.deadline_handler
    def missed(self) -> None:
        """Say nothing."""


TAGS = 20


def timed(**options: object) -> Result:
    return run(Main, fast=True, timeout=msec(TAGS - 1), timing=True, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_every_invocation_is_measured_on_any_worker(workers: int) -> None:
    timing = timed(workers=workers, shuffle=workers).timing

    assert timing.tags == TAGS
    assert len(timing.workers) == workers
    assert len(timing.recent) == 5 * TAGS
    assert [r.runs for r in timing.reactions] == [TAGS] * 5
    assert sum(w.runs for w in timing.workers) == 5 * TAGS
    for ran in timing.recent:
        tag = timing.recent_tags[ran.tag]
        assert tag.begin <= ran.begin <= ran.end <= tag.end <= timing.span
    assert [t.tag for t in timing.recent_tags] == [Tag(msec(k), 0) for k in range(TAGS)]
    assert timing.busy == sum(i.end - i.begin for i in timing.recent)
    assert timing.structure.reactions[0] == "main.source.send"
    assert timing.structure.levels == (0, 1, 1, 1, 1)
    assert timing.structure.after[0] == (1, 2, 3, 4)


def test_sums_are_of_all_invocations_and_details_of_the_last() -> None:
    timing = run(Main, fast=True, workers=1, timeout=msec(TAGS - 1), timing=12).timing

    assert timing.tags == TAGS
    assert [r.runs for r in timing.reactions] == [TAGS] * 5
    # Twelve are two tags of five, and a part of a third that is left out.
    assert [t.tag.time for t in timing.recent_tags] == [msec(18), msec(19)]
    assert len(timing.recent) == 10
    assert timing.recent[0].begin > 0


def test_a_driven_program_is_measured() -> None:
    class Echo(Reactor):
        x = Input[int]()
        y = Output[int]()

        @reaction(x, effects=[y])
        def answer(self) -> None:
            self.y.set(self.x.value)

    with drive(Echo, timing=True, workers=1) as echo:
        for number in range(3):
            echo.step(x=number)

    assert echo.result.timing.reactions[0].runs == 3


def test_times_change_neither_trace_nor_digest() -> None:
    plain = run(Main, fast=True, timeout=msec(5), trace=True)
    both = run(Main, fast=True, timeout=msec(5), trace=True, timing=True)

    assert plain.digest == both.digest
    assert trace.diff(plain.trace, both.trace) is None


def test_lag_and_missed_deadlines_are_measured() -> None:
    timing = run(Late, timing=True, workers=1, timeout=sec(1)).timing

    assert not timing.fast
    assert timing.missed == 1
    assert timing.longest_lag >= msec(10)
    late = next(i for i in timing.recent if i.missed)
    assert timing.structure.reactions[late.reaction] == "main.act"


def test_a_fast_run_has_no_lag() -> None:
    timing = timed().timing

    assert timing.fast
    assert timing.longest_lag == 0


def test_without_asking_there_are_no_times() -> None:
    result = run(Main, fast=True, timeout=0)

    with pytest.raises(ValueError, match="timing=True"):
        _ = result.timing
    with pytest.raises(ValueError, match="neither traced nor timed"):
        result.save_trace("nowhere")


@pytest.mark.parametrize("wrong", [-1, 2**40])
def test_a_wrong_number_to_keep_is_refused(wrong: int) -> None:
    with pytest.raises(ValueError, match="timing must be"):
        run(Main, timing=wrong)


def test_trace_and_times_go_into_one_file_or_two(tmp_path: Path) -> None:
    result = timed(trace=True)

    result.save_trace(tmp_path / "both", scene='{"any": 1}')
    result.save_trace(tmp_path / "trace", timing=False)
    result.save_trace(tmp_path / "times", trace=False)

    both, traced, times = (trace.load(tmp_path / n) for n in ("both", "trace", "times"))
    assert both.trace == traced.trace == result.trace
    assert both.timing == times.timing == result.timing
    assert (both.kept, traced.kept, times.kept) == (True, True, False)
    assert traced.timing is None
    assert traced.structure == result.timing.structure
    assert both.scene == '{"any":1}'


# -- however it ends --


def test_at_end_gets_the_result_that_run_returns() -> None:
    seen: list[Result] = []

    result = run(Main, fast=True, timeout=0, at_end=seen.append)

    assert seen == [result]


def test_a_failed_run_leaves_the_trace_up_to_there() -> None:
    digests = set()
    for workers in (1, 2, 4):
        for shuffle in range(4):
            seen: list[Result] = []
            with pytest.raises(ReactionError, match="as asked"):
                run(
                    Main(fails_at=3),
                    fast=True,
                    workers=workers,
                    shuffle=shuffle,
                    trace=True,
                    timing=True,
                    at_end=seen.append,
                )
            (ended,) = seen
            digests.add(ended.digest)
            assert ended.final_tag == Tag(msec(2), 0)
            assert ended.timing.tags == 3

    # All members fail; that the first one did is what all runs agree on.
    assert len(digests) == 1
    last = ended.trace.tags[-1]
    assert [r.reaction for r in last.reactions] == [
        "main.source.send",
        "main.members[0].work",
    ]
    assert last.reactions[1].sets == (("main.members[0].y", "6"),)


def test_a_failed_step_leaves_the_trace_up_to_there() -> None:
    class Picky(Reactor):
        x = Input[int]()

        @reaction(x)
        def take(self) -> None:
            assert self.x.value != 2

    seen: list[Result] = []
    with drive(Picky, trace=True, at_end=seen.append) as picky:
        picky.step(x=0)
        picky.step(x=1)
        with pytest.raises(ReactionError):
            picky.step(x=2)

    (ended,) = seen
    assert [len(t.reactions) for t in ended.trace] == [1, 1, 1]


def test_at_end_is_called_if_setup_fails() -> None:
    class Broken(Reactor):
        def setup(self) -> None:
            msg = "no"
            raise LookupError(msg)

        @reaction(startup)
        def begin(self) -> None:
            """Never."""

    seen: list[Result] = []
    with pytest.raises(LookupError):
        run(Broken, trace=True, timing=True, at_end=seen.append)

    assert len(seen[0].trace) == 0
    assert seen[0].timing.tags == 0
