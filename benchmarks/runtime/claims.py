# SPDX-License-Identifier: Apache-2.0
"""What the runtime promises, and whether it keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from benchmarks.runtime.job import Job
from benchmarks.runtime.plan import BUSY, CARTPOLES, FEW, GROUPS, MANY, SHORT
from benchmarks.runtime.results import Spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.runtime.job import Measurement, Python
    from benchmarks.runtime.results import Results

Verdict: TypeAlias = Literal["OK", "MISSED", "not measured"]

KIB = 1024


@dataclass(frozen=True, slots=True)
class Check:
    """A promise, and what was measured of it."""

    claim: str
    python: Python
    measured: Spread | None
    bound: float
    at_most: bool
    unit: str = "x"

    @property
    def verdict(self) -> Verdict:
        """Whether the median keeps the promise."""
        if self.measured is None:
            return "not measured"
        value = self.measured.median
        kept = value <= self.bound if self.at_most else value >= self.bound
        return "OK" if kept else "MISSED"


def checks(results: Results, pythons: tuple[Python, ...]) -> list[Check]:
    """Return all promises that concern these Pythons."""
    found: list[Check] = []
    for python in pythons:
        found += _empty_star(results, python)
        if python == "ft":
            found += _cartpole_star(results)
            found += _busy_star(results)
            found.append(_lookahead(results))
        else:
            found += _two_workers_do_no_harm(results)
        found += _tracing(results, python)
        found += _many_reactors(results, python)
    return found


def _empty_star(results: Results, python: Python) -> Iterator[Check]:
    ours, xronos, plain = (
        Job("star", "16", engine, python) for engine in ("ours-1", "xronos", "plain")
    )
    title = "star, 16 empty clients, 1 worker: time over"
    for other, name, bound in ((xronos, "xronos", 0.25), (plain, "plain loop", 4.0)):
        measured = results.ratio(ours, other)
        yield Check(f"{title} {name}", python, measured, bound, at_most=True)


def _cartpole_star(results: Results) -> Iterator[Check]:
    one, two, plain, free = (
        Job("cartpole_star", CARTPOLES, engine, "ft")
        for engine in ("ours-1", "ours-2", "plain", "free-2")
    )
    fit = results.with_two_cores(plain, free)
    for ours, other, name, bound, repeats in (
        (one, plain, "1 worker over plain loop", 0.93, None),
        (two, plain, "2 workers over plain loop", 1.4, fit),
        (two, free, "2 workers over 2 free threads", 0.85, fit),
    ):
        yield Check(
            f"star, {CARTPOLES} CartPoles: speed of {name}",
            "ft",
            results.ratio(other, ours, repeats=repeats),
            bound,
            at_most=False,
        )


def _busy_star(results: Results) -> Iterator[Check]:
    one, two, plain, free = (
        Job("busy_star", BUSY, engine, "ft")
        for engine in ("ours-1", "ours-2", "plain", "free-2")
    )
    fit = results.with_two_cores(plain, free)
    for other, name, bound in ((one, "1 worker", 1.7), (free, "2 free threads", 0.93)):
        yield Check(
            f"star, {BUSY}: speed of 2 workers over {name}",
            "ft",
            results.ratio(other, two, repeats=fit),
            bound,
            at_most=False,
        )


def _lookahead(results: Results) -> Check:
    both = Job("lookahead", "both", "ours-2", "ft")
    alone = [Job("lookahead", case, "ours-1", "ft") for case in ("long", "chain")]
    fit = results.with_two_cores(
        *(Job("lookahead", "both", engine, "ft") for engine in ("plain", "free-2"))
    )
    ratios = [
        ratio
        for job in alone
        if (ratio := results.ratio(both, job, repeats=fit)) is not None
    ]
    # Over the longer of the two is the smaller ratio, repeat by repeat.
    measured = (
        Spread(tuple(map(min, *(ratio.values for ratio in ratios))))
        if len(ratios) == len(alone)
        else None
    )
    return Check(
        "lookahead, 2 workers: time of both over the longer alone",
        "ft",
        measured,
        1.25,
        at_most=True,
    )


def _two_workers_do_no_harm(results: Results) -> Iterator[Check]:
    cases = dict.fromkeys(
        (group.workload, case)
        for group in GROUPS
        for case, engine in group.jobs
        if engine == "ours-2"
    )
    for workload, case in cases:
        one, two = (Job(workload, case, e, "gil") for e in ("ours-1", "ours-2"))
        yield Check(
            f"{workload} {case}: speed of 2 workers over 1 worker",
            "gil",
            results.ratio(one, two),
            0.9,
            at_most=False,
        )


def _tracing(results: Results, python: Python) -> Iterator[Check]:
    for workload, case in (("busy_star", SHORT), ("cartpole_star", CARTPOLES)):
        on, off = (Job(workload, case, e, python) for e in ("ours-1-trace", "ours-1"))
        yield Check(
            f"{workload} {case}: time with tracing over without",
            python,
            results.ratio(on, off),
            1.05,
            at_most=True,
        )


def _many_reactors(results: Results, python: Python) -> Iterator[Check]:
    few, many = (Job("many_reactors", n, "ours-1", python) for n in (FEW, MANY))
    for name, number in (("build time", _build_seconds), ("memory", _memory)):
        yield Check(
            f"{MANY} reactors: {name} over that of {FEW}",
            python,
            results.ratio(many, few, number),
            11.0,
            at_most=True,
        )
    for size in (FEW, MANY):
        yield Check(
            f"{size} reactors: memory of each beyond its Python object",
            python,
            _beyond(results, size, python),
            4.0,
            at_most=True,
            unit=" KiB",
        )


def _beyond(results: Results, size: str, python: Python) -> Spread | None:
    ours, bare = (
        results.spread(Job("many_reactors", size, engine, python), _memory)
        for engine in ("ours-1", "plain")
    )
    if ours is None or bare is None:
        return None
    each = [(value - bare.median) / int(size) / KIB for value in ours.values]
    return Spread(tuple(each))


def _from_more(name: str) -> Callable[[Measurement], float]:
    return lambda m: float(m.more[name])


_build_seconds = _from_more("build_seconds")
_memory = _from_more("memory")
