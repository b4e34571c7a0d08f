# SPDX-License-Identifier: Apache-2.0
"""The outcome for people: tables on the screen, as Markdown, and as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Any, ClassVar

from rich.markup import escape
from rich.table import Table

from benchmarks.runtime.job import PYTHONS, Job
from benchmarks.runtime.results import typical_time

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.console import Console, JustifyMethod

    from benchmarks.runtime.claims import Check
    from benchmarks.runtime.results import Results, Spread

STYLES = {"OK": "green", "MISSED": "bold red", "not measured": "dim"}
MOSTLY_CALM = 0.5
"""With fewer calm slices than this the numbers are doubtful."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table, whatever it will be drawn with."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1
    """How many columns, from the left, hold words; the others hold numbers."""

    def as_rich(self) -> Table:
        """Return it for the screen."""
        table = Table(title=self.title, title_justify="left", header_style="bold")
        for index, column in enumerate(self.columns):
            justify: JustifyMethod = "left" if index < self.words else "right"
            table.add_column(column, justify=justify, no_wrap=index > 0)
        for row in self.rows:
            cells = [f"[{STYLES[c]}]{c}[/]" if c in STYLES else c for c in row]
            table.add_row(*cells)
        return table

    def as_markdown(self) -> str:
        """Return it for a file."""
        numbers = len(self.columns) - self.words
        rule = (*["---"] * self.words, *["---:"] * numbers)
        lines = [f"| {' | '.join(row)} |" for row in (self.columns, rule, *self.rows)]
        return f"## {self.title}\n\n" + "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class Report:
    """Everything there is to say about one run of the benchmarks."""

    machine: dict[str, Any]
    interpreters: dict[str, dict[str, Any]]
    settings: dict[str, Any]
    results: Results
    checks: Sequence[Check]
    title: ClassVar[str] = "Runtime benchmarks"

    def grids(self) -> list[Grid]:
        """Return all tables."""
        return [self._facts(), self._times(), *self._sizes(), self._claims()]

    def errors(self) -> list[str]:
        """Return what makes the numbers worthless, in words."""
        failures: dict[Job, str] = {f.job: f.reason for f in self.results.failures}
        found = [
            f"{job.label} failed: {why.splitlines()[-1]} (all of it: "
            f"measurements/{job.file_stem}-*.json)"
            for job, why in failures.items()
        ]
        found += [
            f"engines disagree, {where}" for where in self.results.disagreements()
        ]
        with_gil = dict.fromkeys(
            m.job.engine
            for m in self.results.measurements
            if m.gil and m.job.python == "ft"
        )
        if with_gil:
            found.append(
                "the GIL was on, on the free-threaded Python, with: "
                + ", ".join(with_gil)
            )
        return found

    def warnings(self) -> list[str]:
        """Return what makes the numbers doubtful, in words."""
        found = []
        load, cores = self.machine["load_average"][0], self.machine["usable_cores"]
        if load > 0.25 * cores:
            found.append(
                f"the load average was {load:.1f} at the start, on {cores} cores"
            )
        if (calm := self.results.calm_share()) < MOSTLY_CALM:
            found.append(
                f"others used the processor: {calm:.0%} of all slices were calm"
            )
        return found

    # -- the tables -------------------------------------------------------------------

    def _facts(self) -> Grid:
        machine = self.machine
        load = ", ".join(f"{value:.2f}" for value in machine["load_average"])
        rows = [
            ("processor", machine["cpu"]),
            ("cores", f"{machine['usable_cores']} of {machine['cores']} usable"),
            ("memory", f"{machine['memory_gib']} GiB"),
            ("system", machine["system"]),
            ("load average at the start", load),
        ]
        for name, python in self.interpreters.items():
            builds = [
                "free-threaded" if python["free_threaded"] else "standard build",
                "GIL on" if python["gil"] else "GIL off",
                "PGO" if python["pgo"] else "no PGO",
                "LTO" if python["lto"] else "no LTO",
                python["compiler"],
            ]
            rows.append((name, f"CPython {python['version']}, {', '.join(builds)}"))
            packages = python["packages"].items()
            rows.append(("", ", ".join(f"{key} {value}" for key, value in packages)))
            turns = self.settings["loops_per_us"][name]
            rows.append(("", f"{turns:.1f} turns of the busy loop per µs"))
        how = self.settings
        seconds = how["seconds"]
        length = f"{seconds * 1e3:.0f}" if seconds else "10 to 50"
        rows.append(
            (
                "each measurement",
                f"{how['repeats'] or 'several'} processes with "
                f"{how['slices'] or 'several'} slices of {length} ms each",
            )
        )
        calm = self.results.calm_share()
        rows.append(("calm", f"{calm:.0%} of all slices; the others are left out"))
        return Grid("Machine", ("", "facts"), tuple(rows), words=2)

    def _times(self) -> Grid:
        units = {
            (m.job.workload, m.job.case): m.unit for m in self.results.measurements
        }
        rows = []
        for (workload, case), unit in units.items():
            title = f"{workload} {case}, per {unit}"
            for engine in self._engines(workload, case):
                jobs = [Job(workload, case, engine, p) for p in PYTHONS]
                cells = [cell for job in jobs for cell in self._time_cells(job)]
                rows.append((title, engine, *cells, self._computed(jobs)))
                title = ""
        columns = [c for p in self.interpreters for c in (p, "/ plain")]
        return Grid(
            "Time: median, how far the sets spread, and over the plain loop's time",
            ("workload", "engine", *columns, "computed"),
            tuple(rows),
            words=2,
        )

    def _engines(self, workload: str, case: str) -> list[str]:
        return list(
            dict.fromkeys(
                job.engine
                for job in self.results.jobs()
                if (job.workload, job.case) == (workload, case)
            )
        )

    def _time_cells(self, job: Job) -> tuple[str, ...]:
        if job.python not in self.interpreters:
            return ()
        spread = self.results.spread(job, typical_time)
        ratio = self.results.ratio(job, replace(job, engine="plain"))
        return (
            "" if spread is None else duration(spread),
            "" if ratio is None else f"{ratio.median:.2f}x",
        )

    def _computed(self, jobs: Sequence[Job]) -> str:
        digests = [m.digest[:6] for m in self.results.measurements if m.job in jobs]
        return " ".join(dict.fromkeys(digests))

    def _sizes(self) -> list[Grid]:
        rows = []
        for job in self.results.jobs():
            if job.workload != "many_reactors":
                continue
            build = self.results.spread(job, lambda m: m.more["build_seconds"])
            memory = self.results.spread(job, lambda m: m.more["memory"])
            if build is None or memory is None:
                continue
            rows.append(
                (
                    f"{job.case} {'objects' if job.engine == 'plain' else 'reactors'}",
                    job.python,
                    job.engine,
                    duration(build),
                    f"{memory.median / 2**20:.1f} MiB",
                    f"{memory.median / int(job.case):.0f} B",
                )
            )
        columns = ("what", "Python", "engine", "build time", "memory", "each")
        return [Grid("Many reactors", columns, tuple(rows), words=3)] if rows else []

    def _claims(self) -> Grid:
        rows = []
        for check in self.checks:
            if check.measured is None:
                continue
            measured = f"{check.measured.median:.3f}{check.unit}"
            spread = f"{check.measured.low:.2f} to {check.measured.high:.2f}"
            bound = f"{'≤' if check.at_most else '≥'} {check.bound}{check.unit}"
            rows.append(
                (check.claim, check.python, measured, spread, bound, check.verdict)
            )
        columns = ("claim", "Python", "measured", "sets", "promised", "verdict")
        left_out = len(self.checks) - len(rows)
        title = "What is promised"
        if left_out:
            title += f" ({left_out} promises were not measured)"
        return Grid(title, columns, tuple(rows), words=2)

    # -- where they go ----------------------------------------------------------------

    def show(self, console: Console) -> None:
        """Print everything."""
        for grid in self.grids():
            console.print(grid.as_rich())
        for text in self.warnings():
            console.print(f"[yellow]Caution:[/] {escape(text)}", highlight=False)
        for text in self.errors():
            console.print(f"[bold red]Error:[/] {escape(text)}", highlight=False)

    def write(self, directory: Path) -> None:
        """Write ``table.md`` and ``summary.json``."""
        notes = [f"Caution: {text}" for text in self.warnings()]
        notes += [f"Error: {text}" for text in self.errors()]
        parts = [
            f"# {self.title}\n",
            *(grid.as_markdown() for grid in self.grids()),
        ]
        text = "\n".join([*parts, *notes]) + "\n"
        (directory / "table.md").write_text(text, encoding="utf-8")
        summary = json.dumps(self.as_json(), indent=2, ensure_ascii=False)
        (directory / "summary.json").write_text(summary + "\n", encoding="utf-8")

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain dictionaries."""
        return {
            "machine": self.machine,
            "interpreters": self.interpreters,
            "settings": self.settings,
            "jobs": [self._job_json(job) for job in self.results.jobs()],
            "claims": [
                {
                    "claim": check.claim,
                    "python": check.python,
                    "measured": _spread_json(check.measured),
                    "bound": check.bound,
                    "at_most": check.at_most,
                    "verdict": check.verdict,
                }
                for check in self.checks
            ],
            "warnings": self.warnings(),
            "errors": self.errors(),
        }

    def _job_json(self, job: Job) -> dict[str, Any]:
        mine = [m for m in self.results.measurements if m.job == job]
        return {
            "workload": job.workload,
            "case": job.case,
            "engine": job.engine,
            "python": job.python,
            "per": mine[0].unit,
            "seconds": _spread_json(self.results.spread(job, typical_time)),
            "cpu_seconds": _spread_json(
                self.results.spread(job, lambda m: median(m.cpu))
            ),
            "digests": list(dict.fromkeys(m.digest for m in mine)),
        }


def _spread_json(spread: Spread | None) -> dict[str, Any] | None:
    if spread is None:
        return None
    return {
        "median": spread.median,
        "low": spread.low,
        "high": spread.high,
        "values": list(spread.values),
    }


def duration(spread: Spread) -> str:
    """Return a time in words, and how far it spreads."""
    middle = spread.median
    off = max(spread.high - middle, middle - spread.low) / middle
    for factor, unit in ((1e6, "µs"), (1e3, "ms")):
        if middle * factor < 1_000:
            return f"{middle * factor:.3g} {unit} ±{off:.0%}"
    return f"{middle:.3g} s ±{off:.0%}"
