# SPDX-License-Identifier: Apache-2.0
"""Runs: what is to be measured, one process each, and the files of what was."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from benchmarks.harness.fingerprints import files_digest, value_digest
from benchmarks.results.engines import ENGINES, HERE
from benchmarks.results.tasks import TASKS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmarks.results.engines import TrainingEngine
    from benchmarks.results.tasks import Task

FORMAT = 1
_CURVE_HEAD = "global_step,"
_RETURNS = ("charts/episodic_return", "eval/mean_return", "eval/final_return")


def _is_return(line: str) -> bool:
    return any(f",{key}," in line for key in _RETURNS)


@dataclass(frozen=True, slots=True)
class Cell:
    """A task, an engine and an algorithm: a row of a table."""

    task: Task
    engine: TrainingEngine
    algorithm: str
    settings: dict[str, Any]

    @property
    def label(self) -> str:
        """Its name in messages."""
        return f"{self.task.name}, {self.engine.name} {self.algorithm}"

    @property
    def key(self) -> str:
        """Depends on all that decides about results but the packages.

        Our own code is not part of it: a run of hours stays when a comment changes. The
        report shows which revisions were measured; ``--fresh`` measures again.
        """
        task = asdict(self.task)
        del task["seeds"]  # more seeds are more runs, not other ones
        code = [HERE / "referee.py", HERE / "runners" / f"{self.engine.runner}.py"]
        return value_digest(
            [task, self.settings, dict(self.engine.options)]
        ) + files_digest(code)

    def file_name(self, seed: int) -> str:
        """Return the name of the file of a run."""
        return f"{self.task.name}--{self.engine.name}--{self.algorithm}--{seed}.json"

    def request(self, seed: int) -> dict[str, Any]:
        """Return the request to the process of a run."""
        return {
            "task": asdict(self.task),
            "runner": self.engine.runner,
            "options": dict(self.engine.options),
            "algorithm": self.algorithm,
            "settings": self.settings,
            "seed": seed,
        }


@dataclass(frozen=True, slots=True)
class Run:
    """What one process found.

    Attributes:
        task: Name of the task.
        engine: Name of the engine.
        algorithm: Name of the algorithm.
        seed: The seed.
        evaluations: In order; with ``steps``, ``seconds``, ``cpu``, ``mean_return``.
        failure: Why the process failed; empty: it did not.
        peak_memory: Bytes of resident memory of all its processes together, at most.
        load: Load average of the machine when it began.
        facts: Versions of packages, revision, machine.
        more: What the runner returned.
        key: See ``Cell.key``.
    """

    task: str
    engine: str
    algorithm: str
    seed: int
    evaluations: list[dict[str, float]] = field(default_factory=list)
    failure: str = ""
    peak_memory: int = 0
    load: float = 0.0
    facts: dict[str, Any] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)
    key: str = ""

    def reached(self, threshold: float) -> dict[str, float] | None:
        """Return the first evaluation that reaches a threshold, None if none does."""
        found = (e for e in self.evaluations if e["mean_return"] >= threshold)
        return next(found, None)


class Store:
    """A directory of runs, one file each, and of the curves of runs of hours.

    Args:
        directory: The directory.
        run_directories: Where runs of hours have their run directories, with
            checkpoints; None: below ``directory``.
    """

    def __init__(self, directory: Path, run_directories: Path | None = None) -> None:
        self.directory = directory
        self._runs = directory / "runs"
        self._run_directories = run_directories or directory / "training"

    def run_directory(self, cell: Cell, seed: int) -> Path:
        """Return the run directory of a run of hours, which is resumed."""
        return self._run_directories / cell.file_name(seed).removesuffix(".json")

    def keep_curves(self) -> None:
        """Keep the configuration and the returns of runs of hours, as they are now."""
        for metrics in self._run_directories.glob("*/metrics.csv"):
            lines = metrics.read_text().splitlines(keepends=True)
            kept = [n for n in lines if n.startswith(_CURVE_HEAD) or _is_return(n)]
            if len(kept) < 2:
                continue  # no episode has ended yet
            home = self.directory / "curves" / metrics.parent.name
            home.mkdir(parents=True, exist_ok=True)
            (home / "config.json").write_text(
                (metrics.parent / "config.json").read_text()
            )
            (home / "metrics.csv").write_text("".join(kept))

    def curves(self) -> list[Path]:
        """Return the directories of kept curves, which can be plotted like runs."""
        return sorted(p.parent for p in self.directory.glob("curves/*/metrics.csv"))

    def add(self, cell: Cell, run: Run) -> None:
        """Write a run; a file is complete or absent."""
        self._runs.mkdir(parents=True, exist_ok=True)
        path = self._runs / cell.file_name(run.seed)
        text = json.dumps({"format": FORMAT, **asdict(run)}) + "\n"
        path.with_suffix(".tmp").write_text(text)
        path.with_suffix(".tmp").replace(path)

    def note_missing(self, found: dict[str, str]) -> None:
        """Remember which engines, or engines on a task, cannot run here, and why."""
        known = {**self.missing(), **found}
        if known:
            self.directory.mkdir(parents=True, exist_ok=True)
            text = json.dumps(known, indent=1, sort_keys=True) + "\n"
            (self.directory / "missing.json").write_text(text)

    def missing(self) -> dict[str, str]:
        """Return which engines, or engines on a task, cannot run, and why."""
        try:
            found: dict[str, str] = json.loads(
                (self.directory / "missing.json").read_text()
            )
        except (OSError, ValueError):
            return {}
        return found

    def is_done(self, cell: Cell, seed: int) -> bool:
        """Return whether a run was measured; one that failed is tried again."""
        run = self._read(self._runs / cell.file_name(seed))
        return run is not None and run.key == cell.key and not run.failure

    def all(self) -> list[Run]:
        """Return all runs of tasks and engines that exist, in their order."""
        order = [*TASKS], [*ENGINES]
        found = [run for path in self._runs.glob("*.json") if (run := self._read(path))]
        known = [r for r in found if r.task in order[0] and r.engine in order[1]]

        def place(run: Run) -> tuple[int, int, str, int]:
            task, engine = order[0].index(run.task), order[1].index(run.engine)
            return task, engine, run.algorithm, run.seed

        return sorted(known, key=place)

    @staticmethod
    def _read(path: Path) -> Run | None:
        try:
            content = json.loads(path.read_text())
            return Run(**content) if content.pop("format") == FORMAT else None
        except (OSError, ValueError, KeyError, TypeError):
            return None  # damaged or of another version: measured again


def cells(
    tasks: list[Task], engines: list[TrainingEngine], algorithms: list[str] | None
) -> Iterator[Cell]:
    """Yield what is to be measured: engines in turns within a task."""
    for task in tasks:
        for engine in engines:
            for name, settings in engine.algorithms(task).items():
                if algorithms is None or name in algorithms:
                    yield Cell(task, engine, name, settings)
