# SPDX-License-Identifier: Apache-2.0
"""The progress of all federates, followed from the process that has started them."""

from __future__ import annotations

import time
from array import array
from typing import TYPE_CHECKING, Any

import pytest

from reactorl import Sample, drive, elaborate, msec
from reactorl._federation.codec import encode
from reactorl._federation.frames import Reading
from reactorl._federation.probes import Probes, Progress
from reactorl._federation.watching import FederationWatch
from reactorl._program.cut import cut_program
from reactorl._runtime.options import make_options
from tests.federation.driven_programs import PERIOD, Driven
from tests.federation.pairs import HANG
from tests.federation.test_driven import split
from tests.federation.test_timing import PLACEMENT, TAGS, Exchange, FakeLink, exchange

if TYPE_CHECKING:
    from reactorl import Watch


def test_last_sample_has_the_counts_of_the_run() -> None:
    watches: list[Watch] = []

    result = exchange(federation=PLACEMENT, at_start=watches.append)

    (watch,) = watches
    last = watch.sample()
    assert watch.ended
    assert [(each.name, each.elapsed) for each in last.federates] == [
        ("here", msec(TAGS - 1)),
        ("there", msec(TAGS - 1)),
    ]
    assert (last.elapsed, last.tags) == (msec(TAGS - 1), TAGS)
    assert list(last.costs[::3]) == [TAGS] * 3
    assert result.digest == exchange().digest


def test_progress_of_every_federate_arrives_while_it_runs() -> None:
    watches: list[Watch] = []
    with drive(
        Driven, federation=split(3), at_start=watches.append, workers=1
    ) as running:
        (watch,) = watches
        for _ in range(5):
            running.step(after=PERIOD)
        end = time.monotonic() + HANG
        sample = watch.sample()
        while min(f.elapsed for f in sample.federates) < 5 * PERIOD:
            assert time.monotonic() < end
            time.sleep(0.01)
            sample = watch.sample()
        assert not watch.ended

    assert len(sample.federates) == len(cut_program(elaborate(Driven), split(3)).names)
    assert all(each.process_time > 0 for each in sample.federates)
    assert len(sample.cpu) == len(sample.federates)
    assert watch.ended
    assert watch.sample().elapsed >= 5 * PERIOD


def test_watch_of_a_run_that_fails_ends() -> None:
    watches: list[Watch] = []

    with (
        pytest.raises(AssertionError, match="as asked"),
        drive(Driven, federation=split(2), at_start=watches.append),
    ):
        raise AssertionError("as asked")  # noqa: EM101

    assert watches[0].ended


def progress(tags: int, elapsed: int, costs: list[int]) -> Progress:
    sample = Sample(1.0, elapsed, tags, 2 * tags, 0, (0.5,), array("q", costs))
    return Progress(sample, 3.0)


def test_samples_of_federates_are_put_together() -> None:
    links = [FakeLink(), FakeLink()]
    asked = Probes(links, clocks=False)  # type: ignore[arg-type]
    program = elaborate(Exchange)
    cut = cut_program(program, PLACEMENT)
    options: dict[str, Any] = dict.fromkeys(("check", "trace", "fast", "stay_home"))
    options |= {"timeout": None, "keepalive": None, "seed": 0, "start_time": None}
    made = make_options(
        program, workers=1, freeze=None, shuffle=0, **(options | {"trace": False})
    )
    watch = FederationWatch(program, cut, made, asked)
    assert watch.sample().cpu == (None, None)

    found = [
        progress(7, 60, [7, 1, 10, 7, 1, 20, 9, 9, 9]),
        progress(5, 40, [9, 9, 9, 9, 9, 9, 5, 1, 30]),
    ]
    for federate, (link, each) in enumerate(zip(links, found, strict=True)):
        probe = link.put_frames[-1]
        assert probe.progress == 1
        asked.take(federate, Reading(probe.number, 0, encode(each)))
    sample = watch.sample()

    assert (sample.elapsed, sample.tags, sample.events) == (40, 7, 24)
    assert sample.cpu == (0.5, 0.5)
    # Of each reaction what the federate says that has it.
    assert list(sample.costs) == [7, 1, 10, 7, 1, 20, 5, 1, 30]
    assert [(f.name, f.tags) for f in sample.federates] == [("here", 7), ("there", 5)]


def test_federates_that_have_not_answered_are_not_asked_again() -> None:
    link = FakeLink()
    asked = Probes([link], clocks=False)  # type: ignore[list-item]

    for _ in range(3):
        asked.ask_progress()

    assert len(link.put_frames) == 1
