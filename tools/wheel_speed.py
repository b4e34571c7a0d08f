# SPDX-License-Identifier: Apache-2.0
"""Compare the speed of two builds of the package: a wheel, and gcc's build.

Measures the rows of ``make bench-runtime`` about the star and the star of CartPoles,
with processes of both builds in turns, and prints the speed of the wheel over that of
gcc's build. Run by tools/wheel_test.py, with this repository on ``PYTHONPATH``::

    python tools/wheel_speed.py PYTHON_WITH_WHEEL PYTHON_WITH_GCC_BUILD

Exit status: 0; 1 if the wheel is too slow, a process failed, results differ, or the
machine was too busy to tell.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, field
from importlib import import_module
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.harness.calm import CalmProbes
from benchmarks.harness.process import Child, ChildError, ask

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

WORKLOADS = ("star", "cartpole_star")
BUILDS = ("wheel", "gcc")
SLOWEST = 0.97
"""Speed that a wheel must have in every row, over gcc's build."""
CALM_ENOUGH = 0.5
"""Fraction of slices on an idle machine that a verdict needs."""


@dataclass
class Set:
    """One process of each build, measured in turns.

    Attributes:
        seconds: Times of the slices, by build.
        digests: Digests of the results, by build.
        calm: Whether the machine was idle otherwise, for each slice of either build.
    """

    seconds: dict[str, list[float]]
    digests: dict[str, str] = field(default_factory=dict)
    calm: list[bool] = field(default_factory=list)

    @property
    def speed(self) -> float:
        """Speed of the wheel over that of gcc's build: the ratio of median times."""
        return median(self.seconds["gcc"]) / median(self.seconds["wheel"])


# --- Measuring ------------------------------------------------------------------------


def requests(effort: str) -> Iterator[tuple[str, str, int, int]]:
    """Yield name, request, number of sets and number of slices of each case."""
    load: Any = import_module("benchmarks.workloads").load
    for name in WORKLOADS:
        workload = load(name)
        for case in workload.cases_in(effort):
            pace = workload.pace_of(case, effort)
            params = workload.params_of(case, effort) | {"turns_per_us": 0.0}
            request = {"workload": name, "params": params, "pace": asdict(pace)}
            yield f"{name} {case.name}", json.dumps(request), pace.sets, pace.slices


def in_turns(
    pythons: Mapping[str, str],
    engine: str,
    request: str,
    slices: int,
    probes: CalmProbes,
) -> Set:
    """Measure a case with one process of each build.

    Raises:
        ChildError: A process failed.
    """
    found = Set({build: [] for build in BUILDS})
    children: dict[str, Child] = {}
    try:
        for build in BUILDS:
            children[build] = Child(pythons[build], "measure", engine=engine)
            children[build].receive()
            children[build].send(request)
            children[build].receive()
        for _ in range(slices):
            for build, child in children.items():
                calm = probes.wait_for_calm()
                child.send("go")
                found.seconds[build].append(child.receive()["seconds"])
                found.calm.append(probes.calm() and calm)
        for build, child in children.items():
            child.send("stop")
            found.digests[build] = child.receive()["digest"]
    finally:
        for child in children.values():
            child.kill()
    return found


def measure(pythons: Mapping[str, str], effort: str = "full") -> dict[str, list[Set]]:
    """Return the sets of each row.

    Args:
        pythons: Interpreters of both builds, by the name of the build.
        effort: How long to measure, as in the benchmarks.

    Raises:
        ChildError: A process failed.
    """
    free_threaded = ask(pythons["wheel"], "facts")["free_threaded"]
    kind = "ft" if free_threaded else "gil"
    rows: dict[str, list[Set]] = {}
    with CalmProbes(sys.executable) as probes:
        for name, request, sets, slices in requests(effort):
            for workers, engine in ((1, f"ours-1-{kind}"), (2, f"ours-{kind}")):
                row = f"{name}, workers {workers}"
                print(row, file=sys.stderr, flush=True)
                rows[row] = [
                    in_turns(pythons, engine, request, slices, probes)
                    for _ in range(sets)
                ]
    return rows


# --- Judging --------------------------------------------------------------------------


def lines(rows: Mapping[str, Sequence[Set]]) -> Iterator[str]:
    """Yield a line for each row: the median of its sets, and their range."""
    for name, sets in rows.items():
        speeds = [one.speed for one in sets]
        low, high = min(speeds), max(speeds)
        yield f"{median(speeds):7.3f} ({low:.3f} to {high:.3f})  {name}"


def problems(rows: Mapping[str, Sequence[Set]]) -> Iterator[str]:
    """Yield why the wheel is not good enough, or why that is unknown."""
    for name, sets in rows.items():
        if any(len(set(one.digests.values())) > 1 for one in sets):
            yield f"{name}: both builds must compute the same, got different digests"
    calm = [is_calm for sets in rows.values() for one in sets for is_calm in one.calm]
    share = sum(calm) / len(calm) if calm else 0.0
    if share < CALM_ENOUGH:
        yield (
            f"the machine must be idle during {CALM_ENOUGH:.0%} of the slices, "
            f"got {share:.0%}: speeds are not judged"
        )
        return
    for name, sets in rows.items():
        speed = median(one.speed for one in sets)
        if speed < SLOWEST:
            yield f"{name}: speed must be at least {SLOWEST}, got {speed:.3f}"


def main(wheel: str, gcc: str) -> int:
    """Measure and print; returns the exit status."""
    try:
        rows = measure({"wheel": wheel, "gcc": gcc})
    except ChildError as error:
        print(f"measuring failed: {error}", file=sys.stderr)
        return 1
    print("Speed of the wheel over gcc's build: median (lowest to highest set)")
    for line in lines(rows):
        print(line)
    found = list(problems(rows))
    for problem in found:
        print(f"- {problem}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
