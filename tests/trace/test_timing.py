# SPDX-License-Identifier: Apache-2.0
"""Measured times: in files, on the critical path, for Perfetto."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from reactorl import Tag
from reactorl.errors import TraceError
from reactorl.trace import (
    Invocation,
    ReactionTiming,
    SavedTrace,
    Structure,
    TagTiming,
    Timing,
    Trace,
    WorkerTiming,
    load,
    save,
)
from reactorl.trace.counts import count
from reactorl.trace.critical import critical_path
from reactorl.trace.perfetto import write_perfetto
from tests.trace.test_text import EXAMPLE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# a and b both before c; d alone; n never runs, and is between b and e.
STRUCTURE = Structure(
    reactions=("main.a", "main.b", "main.c", "main.d", "main.n", "main.e"),
    levels=(0, 0, 1, 0, 1, 2),
    after=((2,), (2, 4), (), (), (5,), ()),
)


def timing(
    *ran: tuple[int, int, int, int, int], tags: int = 2, fast: bool = False
) -> Timing:
    """Return times of invocations: tag, reaction, worker, begin, end."""
    recent = tuple(Invocation(*row, missed=row[1] == 3) for row in ran)
    sums = []
    for reaction in range(len(STRUCTURE.reactions)):
        spent = [i.end - i.begin for i in recent if i.reaction == reaction]
        missed = len(spent) if reaction == 3 else 0
        sums.append(
            ReactionTiming(len(spent), missed, sum(spent), max(spent, default=0))
        )
    workers = []
    for worker in range(2):
        spent = [i.end - i.begin for i in recent if i.worker == worker]
        workers.append(WorkerTiming(len(spent), sum(spent)))
    return Timing(
        structure=STRUCTURE,
        fast=fast,
        span=1000,
        reactions=tuple(sums),
        workers=tuple(workers),
        tags=tags,
        lag=30,
        longest_lag=20,
        recent_tags=tuple(
            TagTiming(Tag(5 * k, k), 500 * k, 500 * k + 400, 10 * k + 10)
            for k in range(tags)
        ),
        recent=recent,
    )


TIMING = timing(
    (0, 0, 0, 0, 100),
    (0, 1, 1, 0, 150),
    (0, 3, 0, 100, 180),
    (0, 2, 1, 150, 200),
    (1, 1, 0, 500, 530),
    (1, 3, 1, 500, 520),
    (1, 5, 0, 530, 570),
)


# -- files --


@pytest.mark.parametrize("name", ["run.trace", "run.trace.gz"])
def test_times_come_back_from_a_file(tmp_path: Path, name: str) -> None:
    saved = SavedTrace(
        EXAMPLE,
        "abc",
        7,
        {"fast": True},
        structure=STRUCTURE,
        scene='{"format":1}',
        timing=TIMING,
    )

    save(tmp_path / name, saved)

    assert load(tmp_path / name) == saved


def test_file_may_have_times_only(tmp_path: Path) -> None:
    saved = SavedTrace(Trace(()), kept=False, structure=STRUCTURE, timing=TIMING)

    save(tmp_path / "a", saved)

    assert load(tmp_path / "a") == saved


def test_times_leave_the_trace_as_it_is(tmp_path: Path) -> None:
    save(tmp_path / "plain", EXAMPLE)
    save(tmp_path / "timed", SavedTrace(EXAMPLE, timing=TIMING))

    plain = (tmp_path / "plain").read_text().splitlines()
    timed = (tmp_path / "timed").read_text().splitlines()
    assert timed[: len(plain) - 1] == plain[:-1]
    assert [line.split(" ")[0] for line in timed[len(plain) - 1 :]] == [
        "structure",
        "timing",
        "end",
    ]


def test_file_of_the_first_version_is_read(tmp_path: Path) -> None:
    save(tmp_path / "a", EXAMPLE)
    lines = (tmp_path / "a").read_text().splitlines(keepends=True)
    lines[0] = 'reactorl trace 1 {"options": {}, "program": "p", "seed": 3}\n'
    digest = hashlib.sha256("".join(lines[:-1]).encode()).hexdigest()
    lines[-1] = f"end {len(EXAMPLE)} tags {digest}\n"
    (tmp_path / "a").write_text("".join(lines))

    assert load(tmp_path / "a") == SavedTrace(EXAMPLE, "p", 3)


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found.pop("span"),
        lambda found: found.update(span="long"),
        lambda found: found.update(workers=[[1]]),
        lambda found: found["reactions"][0].__setitem__(0, 77),
        lambda found: found["recent"][0].__setitem__(0, 2),
        lambda found: found["recent"][0].__setitem__(1, -1),
        lambda found: found["recent"][0].__setitem__(2, 9),
        lambda found: found["recent"][0].append(1),
        lambda found: found["recent_tags"][0].__setitem__(2, 1.5),
        lambda found: found.update(recent=5),
    ],
)
def test_times_that_do_not_fit_are_rejected(
    change: Callable[[dict[str, Any]], object],
) -> None:
    from reactorl.trace.timing_text import parse_timing, timing_json

    found = json.loads(timing_json(TIMING))
    change(found)

    with pytest.raises((ValueError, TypeError)):
        parse_timing(json.dumps(found), STRUCTURE)


@pytest.mark.parametrize("section", ["structure", "scene", "timing"])
def test_damaged_section_is_named(tmp_path: Path, section: str) -> None:
    path = tmp_path / "a"
    save(path, SavedTrace(EXAMPLE, scene="{}", timing=TIMING))
    lines = path.read_text().splitlines(keepends=True)
    at = next(k for k, line in enumerate(lines) if line.startswith(f"{section} "))
    lines[at] = f"{section} {{\n"
    path.write_text("".join(lines))

    with pytest.raises(TraceError, match=f"the {section} is damaged") as caught:
        load(path)

    assert caught.value.where is not None
    assert caught.value.where.line == at + 1


# -- critical path --


def test_critical_path_is_the_longest_chain_of_each_tag() -> None:
    path = critical_path(TIMING)

    assert path is not None
    assert path.tags == 2
    # b (150) then c (50); then b (30), e (40) with n between them, which did not run.
    assert path.length == 200 + 70
    assert path.work == 100 + 150 + 80 + 50 + 30 + 20 + 40
    assert path.speed_up == pytest.approx(470 / 270)
    assert path.longest.tag == Tag(0, 0)
    assert path.longest.steps == ((1, 150), (2, 50))
    assert path.shares == ((1, 180), (2, 50), (5, 40))


def test_independent_reactions_are_no_chain() -> None:
    path = critical_path(timing((0, 0, 0, 0, 10), (0, 3, 1, 0, 10), tags=1))

    assert path is not None
    assert path.length == 10
    assert path.speed_up == 2.0


def test_without_invocations_there_is_no_critical_path() -> None:
    assert critical_path(timing()) is None


def test_reactions_without_measurable_time_have_a_critical_path() -> None:
    path = critical_path(timing((0, 0, 0, 5, 5), tags=1))

    assert path is not None
    assert path.speed_up == 1.0


# -- Perfetto --


def perfetto(found: Timing) -> list[dict[str, Any]]:
    file = io.StringIO()
    write_perfetto(file, found, "hello <name>")
    events: list[dict[str, Any]] = json.loads(file.getvalue())["traceEvents"]
    return events


def test_perfetto_gets_a_track_for_each_worker_and_one_for_tags() -> None:
    events = perfetto(TIMING)

    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert names == {0: "tags", 1: "worker 0", 2: "worker 1"}
    assert events[0]["args"] == {"name": "hello <name>"}
    assert {e["pid"] for e in events} == {1}


def test_perfetto_events_have_all_that_the_format_wants() -> None:
    events = perfetto(TIMING)

    complete = [e for e in events if e["ph"] == "X"]
    assert len(complete) == len(TIMING.recent) + len(TIMING.recent_tags)
    for event in complete:
        assert event.keys() == {
            "ph", "name", "cat", "pid", "tid", "ts", "dur", "args",
        }  # fmt: skip
        assert event["ts"] >= 0
        assert event["dur"] >= 0
    assert {e["ph"] for e in events} == {"M", "X", "C"}


def test_perfetto_knows_tags_levels_and_missed_deadlines() -> None:
    complete = [e for e in perfetto(TIMING) if e["ph"] == "X"]

    first = next(e for e in complete if e["name"] == "main.c")
    assert first["tid"] == 2
    assert (first["ts"], first["dur"]) == (0.15, 0.05)  # microseconds
    assert first["args"] == {"tag": "(0, 0)", "level": 1}
    missed = [e for e in complete if e["args"].get("missed deadline")]
    assert [e["name"] for e in missed] == ["main.d", "main.d"]
    tag = next(e for e in complete if e["name"] == "tag (5, 1)")
    assert tag["args"] == {"time": 5, "microstep": 1, "lag": 20}


def test_fast_run_has_no_lag_to_show() -> None:
    events = perfetto(replace(TIMING, fast=True))

    assert not [e for e in events if e["ph"] == "C"]
    assert not [e for e in events if "lag" in e["args"]]


# -- counts --


def test_counting_a_trace() -> None:
    found = count(EXAMPLE)

    assert found.tags == len(EXAMPLE)
    assert found.last == EXAMPLE.tags[-1].tag
    assert sum(found.runs.values()) == sum(len(t.reactions) for t in EXAMPLE)
    assert found.most == max(len(t.reactions) for t in EXAMPLE)
    assert found.sets == sum(len(r.sets) for t in EXAMPLE for r in t.reactions)
    assert found.missed == {
        r.reaction: 1 for t in EXAMPLE for r in t.reactions if r.missed_deadline
    }


def test_counting_nothing() -> None:
    found = count(())

    assert (found.tags, found.last, found.events, found.most) == (0, None, 0, 0)
