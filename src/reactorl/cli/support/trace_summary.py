# SPDX-License-Identifier: Apache-2.0
"""The summary of a trace, as tables, for ``reactorl trace``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reactorl._util.formatting import format_nanoseconds
from reactorl.cli.support.console import Table
from reactorl.trace import WaitKind, count, critical_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reactorl.trace import ReactionTiming, SavedTrace, Timing

_MEMBER = re.compile(r"\[\d+\]")
_CHAIN = 12
"""Maximum number of shown steps of a chain."""


def summary(saved: SavedTrace, name: str, *, most: int, members: bool) -> list[Table]:
    """Return the summary of a trace.

    Args:
        saved: The trace, with times or without.
        name: The name of the file.
        most: Maximum number of rows in a table.
        members: Whether each member of a bank has a row of its own.
    """
    tables = [_overview(saved, name)]
    if saved.timing is None:
        if saved.kept:
            tables.append(_runs(saved, most, members=members))
        tables.append(Table("times", notes=[HOW]))
        return tables
    tables += _timed(saved.timing, most, members=members)
    return tables


HOW = "Not recorded. Run again with '--timing FILE', or run(..., timing=True)."


def _overview(saved: SavedTrace, name: str) -> Table:
    rows = []
    if saved.kept:
        counts = count(saved.trace)
        end = "no events" if counts.last is None else f"ended at {counts.last}"
        rows.append(f"{_many(counts.tags, 'tag')}, {end}")
        dropped = f" ({counts.dropped:,} dropped)" if counts.dropped else ""
        rows.append(
            f"{_many(sum(counts.runs.values()), 'reaction')} run, at most "
            f"{counts.most:,} at one tag; {_many(counts.sets, 'port')} set, "
            f"{_many(counts.events, 'event')} scheduled{dropped}"
        )
        if counts.missed:
            rows.append(_many(sum(counts.missed.values()), "deadline") + " missed")
    else:
        rows.append("execution times only, no events")
    if saved.timing is not None:
        timing = saved.timing
        rows.append(
            f"{format_nanoseconds(timing.span)} on "
            f"{_many(len(timing.workers), 'worker')}, "
            f"{_many(timing.tags, 'tag')} timed"
        )
    rows.append(f"seed {saved.seed}, program {saved.program[:12] or 'unknown'}")
    return Table(name, notes=rows)


# -- without times --


def _runs(saved: SavedTrace, most: int, *, members: bool) -> Table:
    counts = count(saved.trace)
    found: dict[str, list[int]] = {}
    for name, runs in counts.runs.items():
        group = found.setdefault(_group(name, members=members), [0, 0, 0])
        group[0] += 1
        group[1] += runs
        group[2] += counts.missed.get(name, 0)
    ordered = sorted(found.items(), key=lambda item: (-item[1][1], item[0]))
    rows = [
        (_counted(name, group[0]), f"{group[1]:,}", _or_dash(group[2]))
        for name, group in ordered
    ]
    return _cut(Table("reactions", ("reaction", "runs", "missed"), rows), most)


# -- with times --


def _timed(timing: Timing, most: int, *, members: bool) -> Iterator[Table]:
    busy = timing.busy or 1
    yield _busiest(timing, busy, most, members=members)
    yield _levels(timing, busy, most)
    if timing.federates:
        yield _federates(timing)
        yield _waits(timing, most)
    yield _workers(timing)
    yield _critical(timing, members=members)
    yield _late(timing, most)


def _busiest(timing: Timing, busy: int, most: int, *, members: bool) -> Table:
    found: dict[str, list[ReactionTiming]] = {}
    for name, sums in zip(timing.structure.reactions, timing.reactions, strict=True):
        if sums.runs:
            found.setdefault(_group(name, members=members), []).append(sums)
    lines = [
        (
            _counted(name, len(group)),
            sum(sums.runs for sums in group),
            sum(sums.total for sums in group),
            max(sums.longest for sums in group),
        )
        for name, group in found.items()
    ]
    lines.sort(key=lambda line: (-line[2], line[0]))
    rows = [
        (
            name,
            f"{runs:,}",
            format_nanoseconds(total),
            format_nanoseconds(total / runs),
            format_nanoseconds(longest),
            f"{total / busy:.1%}",
        )
        for name, runs, total, longest in lines
    ]
    head = ("reaction", "runs", "total", "mean", "max", "share")
    return _cut(Table("busiest reactions", head, rows), most)


def _levels(timing: Timing, busy: int, most: int) -> Table:
    found: dict[int, list[ReactionTiming]] = {}
    for level, sums in zip(timing.structure.levels, timing.reactions, strict=True):
        if sums.runs:
            found.setdefault(level, []).append(sums)
    rows = []
    for level in sorted(found):
        total = sum(sums.total for sums in found[level])
        runs = sum(sums.runs for sums in found[level])
        many = f"{len(found[level]):,}"
        share = f"{total / busy:.1%}"
        rows.append((str(level), many, f"{runs:,}", format_nanoseconds(total), share))
    head = ("level", "reactions", "runs", "total", "share")
    return _cut(Table("time per level", head, rows), most)


def _federates(timing: Timing) -> Table:
    """Return how much of its time each federate ran reactions, or waited."""
    rows = []
    for each in timing.federates:
        own = timing.workers[each.first_worker : each.first_worker + each.workers]
        busy, span = sum(worker.busy for worker in own), each.span or 1
        rows.append(
            (
                each.name,
                str(each.workers),
                format_nanoseconds(each.span),
                format_nanoseconds(busy),
                f"{busy / span / each.workers:.1%}",
            )
        )
    notes = [
        f"The clock of {each.name} was moved by {format_nanoseconds(each.offset)}, "
        f"estimated to within {format_nanoseconds(each.offset_error)}: its times are "
        "comparable with others as far as that."
        for each in timing.federates
        if each.offset_error
    ]
    head = ("federate", "workers", "first to last tag", "busy", "utilization")
    return Table("federates", head, rows, notes)


_WAITS = {
    WaitKind.SLOT: "a port at the same tag",
    WaitKind.TAG: "the next tag may begin",
    WaitKind.EVENT: "anything arrives",
}


def _waits(timing: Timing, most: int) -> Table:
    """Return which federate waited for which, and how long."""
    federates = timing.federates
    lines = [
        (wait, number) for number, each in enumerate(federates) for wait in each.waits
    ]
    lines.sort(key=lambda line: (-line[0].total, line[1], line[0][:2]))
    rows = [
        (
            federates[number].name,
            "coordinator" if wait.federate == number else federates[wait.federate].name,
            _WAITS[wait.kind],
            f"{wait.waits:,}",
            format_nanoseconds(wait.total),
            format_nanoseconds(wait.longest),
            f"{wait.total / (federates[number].span or 1):.1%}",
        )
        for wait, number in lines
    ]
    notes = [
        "A federate waits if none of its reactions can run; for several others at the "
        "same time, if it needs all of them."
    ]
    if not rows:
        notes = ["No federate waited for another one."]
    head = ("federate", "waited for", "until", "waits", "total", "max", "share")
    return _cut(Table("waits between federates", head, rows, notes), most)


def _workers(timing: Timing) -> Table:
    spans = [
        (f"{each.name} {k}", each.span or 1)
        for each in timing.federates
        for k in range(each.workers)
    ] or [(str(k), timing.span or 1) for k in range(len(timing.workers))]
    rows = [
        (name, f"{w.runs:,}", format_nanoseconds(w.busy), f"{w.busy / span:.1%}")
        for (name, span), w in zip(spans, timing.workers, strict=True)
    ]
    note = "Busy is time in bodies of reactions; the rest is waiting and scheduling."
    return Table("workers", ("worker", "runs", "busy", "utilization"), rows, [note])


def _critical(timing: Timing, *, members: bool) -> Table:
    path = critical_path(timing)
    if path is None:
        return Table("critical path", notes=["No single invocation was recorded."])
    names = timing.structure.reactions
    which = "all tags" if path.tags == timing.tags else f"the last {path.tags:,} tags"
    shares: dict[str, int] = {}
    for reaction, spent in path.shares:
        name = _group(names[reaction], members=members)
        shares[name] = shares.get(name, 0) + spent
    ordered = sorted(shares.items(), key=lambda share: (-share[1], share[0]))[:5]
    rows = [
        (name, format_nanoseconds(spent), f"{spent / (path.length or 1):.1%}")
        for name, spent in ordered
    ]
    longest = path.longest
    steps = [f"{names[r]} {format_nanoseconds(spent)}" for r, spent in longest.steps]
    if len(steps) > _CHAIN:
        steps = [*steps[: _CHAIN - 1], f"... {len(steps) - _CHAIN} more ...", steps[-1]]
    notes = [
        f"Of {which}: {format_nanoseconds(path.work)} of work, "
        f"{format_nanoseconds(path.length)} in longest chains.",
        f"Upper bound of the speed-up by more workers: {path.speed_up:.2f}.",
        f"The longest chain, at {longest.tag}: {format_nanoseconds(longest.length)} of "
        f"{format_nanoseconds(longest.work)}:",
        *(f"  {step}" for step in steps),
    ]
    head = ("reaction on the longest chains", "total", "share")
    return Table("critical path", head, rows, notes)


def _late(timing: Timing, most: int) -> Table:
    found = zip(timing.structure.reactions, timing.reactions, strict=True)
    late = [(sums.missed, name, sums.runs) for name, sums in found if sums.missed]
    late.sort(key=lambda one: (-one[0], one[1]))
    rows = [
        (name, f"{missed:,}", f"{missed / runs:.1%}") for missed, name, runs in late
    ]
    if timing.fast:
        lag = "The run did not wait for the clock (fast), so there is no lag."
    else:
        mean = format_nanoseconds(timing.lag / timing.tags if timing.tags else 0)
        most_late = format_nanoseconds(timing.longest_lag)
        lag = f"Tags began {mean} late on average, {most_late} at most."
    none = [] if rows else ["No deadline was missed."]
    head = ("deadline of", "missed", "share")
    return _cut(Table("lag and deadlines", head, rows, [lag, *none]), most)


# -- formatting --


def _group(name: str, *, members: bool) -> str:
    return name if members else _MEMBER.sub("[*]", name)


def _counted(name: str, members: int) -> str:
    return name if members == 1 else f"{name} ({members} members)"


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _or_dash(number: int) -> str:
    return f"{number:,}" if number else "-"


def _cut(table: Table, most: int) -> Table:
    """Return the table with at most ``most`` rows, and a note on the others."""
    left = len(table.rows) - most
    if left <= 0:
        return table
    note = f"... and {left:,} more; '--most N' shows more."
    return Table(table.title, table.head, table.rows[:most], [note, *table.notes])
