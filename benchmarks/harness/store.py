# SPDX-License-Identifier: Apache-2.0
"""Store: the directory of results, with one file for each measurement.

``run.json`` lists what belongs to the run, ``measurements/`` has it. A measurement that
exists with the right key is not repeated, so that an interrupted run continues.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from benchmarks.harness.measurement import Failure, Job, Measurement
from benchmarks.harness.results import Results

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchmarks.harness.plan import CaseSet
    from benchmarks.harness.workload import Effort

FORMAT = 1
RUN = "run.json"
MEASUREMENTS = "measurements"


class StoreError(Exception):
    """Results cannot be read; the text names the file and the remedy."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run without its measurements.

    Attributes:
        effort: How much was measured.
        files: The measurements that belong to it, by file name, and their keys.
        machine: Facts about the machine.
        engines: Facts about the interpreter of each engine that was measured.
        missing: Engines that cannot be installed, and why.
        left_out: Cases that need more memory than there is.
        workloads: The workloads.
        asked: The engines.
        suite: The suite.
        turns_per_us: Speed of the busy loop, by Python; the same for all sets.
    """

    effort: Effort
    files: dict[str, str]
    machine: dict[str, Any]
    engines: dict[str, dict[str, Any]]
    missing: dict[str, str]
    left_out: dict[str, str]
    workloads: list[str]
    asked: list[str]
    suite: str = "main"
    turns_per_us: dict[str, float] = field(default_factory=dict)


class Store:
    """A directory of results."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._measurements = directory / MEASUREMENTS

    # -- writing ----------------------------------------------------------------------

    def begin(self, run: Run) -> None:
        """Write what belongs to the run that begins."""
        self._measurements.mkdir(parents=True, exist_ok=True)
        _write(self.directory / RUN, {"format": FORMAT, **asdict(run)})

    def add(
        self,
        case_set: CaseSet,
        found: Sequence[Measurement | Failure],
        machine: dict[str, Any],
        engines: dict[str, dict[str, Any]],
    ) -> None:
        """Write measurements, with the facts about machine and interpreter."""
        for each in found:
            kind = "measurement" if isinstance(each, Measurement) else "failure"
            content = {
                "format": FORMAT,
                "key": case_set.keys[each.job],
                **case_set.request(each.job),
                "machine": machine,
                "python": engines[each.job.engine],
                kind: asdict(each),
            }
            path = self._measurements / each.job.file_name(case_set.number)
            _write(path, content)

    def is_done(self, case_set: CaseSet) -> bool:
        """Return whether all of it was measured before; failures are tried again."""
        return all(self._has(name, key) for name, key in case_set.files().items())

    def turns_per_us(self) -> dict[str, float]:
        """Return the speed of the busy loop that an earlier call measured."""
        path = self.directory / RUN
        try:
            return dict(_read(path).get("turns_per_us", {})) if path.exists() else {}
        except StoreError:
            return {}

    def _has(self, name: str, key: str) -> bool:
        path = self._measurements / name
        if not path.exists():
            return False
        try:
            content = _read(path)
        except StoreError:
            return False  # a damaged file is measured again
        return content.get("key") == key and "measurement" in content

    # -- reading ----------------------------------------------------------------------

    def read(self) -> tuple[Run, Results]:
        """Return the run and its measurements.

        Raises:
            StoreError: Something is missing or damaged.
        """
        path = self.directory / RUN
        if not path.exists():
            msg = (
                f"{self.directory} has no results: {RUN} is missing. Measure first: "
                f"reactorl bench --out {self.directory}"
            )
            raise StoreError(msg)
        content = _read(path)
        try:
            del content["format"]
            run = Run(**content)
        except (KeyError, TypeError) as error:
            raise StoreError(_damaged(path, str(error))) from None
        results = Results()
        absent = [n for n in run.files if not (self._measurements / n).exists()]
        if absent:
            first = ", ".join(absent[:3]) + (", ..." if len(absent) > 3 else "")
            msg = (
                f"{self.directory} is incomplete: {len(absent)} of {len(run.files)} "
                f"measurements are missing ({first}). Run the same command again: it "
                "continues where it stopped."
            )
            raise StoreError(msg)
        loads = [
            self._read_one(self._measurements / name, key, results)
            for name, key in run.files.items()
        ]
        # The last call may have measured nothing: the load counts of those that did.
        run.machine["load_average"] = max(loads, default=run.machine["load_average"])
        return run, results

    def _read_one(self, path: Path, key: str, results: Results) -> list[float]:
        """Add a file to the results; return the load average of its call."""
        content = _read(path)
        if content.get("key") != key:
            msg = (
                f"{path} belongs to another run: its key is {content.get('key')}, not "
                f"{key}. Run the same command again: it repeats this measurement."
            )
            raise StoreError(msg)
        try:
            load: list[float] = content["machine"]["load_average"]
            if "failure" in content:
                fields = content["failure"]
                fields["job"] = Job(**fields["job"])
                results.failures.append(Failure(**fields))
                return load
            fields = content["measurement"]
            fields["job"] = Job(**fields["job"])
            for name in ("seconds", "cpu", "calm"):
                fields[name] = tuple(fields[name])
            measurement = Measurement(**fields)
            if not measurement.seconds or len(measurement.seconds) != len(
                measurement.calm
            ):
                raise ValueError("it has no slices, or lacks some")  # noqa: EM101
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError(_damaged(path, str(error))) from None
        results.measurements.append(measurement)
        return load


def _write(path: Path, content: object) -> None:
    """Write a file whole or not at all."""
    part = path.with_suffix(".part")
    text = json.dumps(content, indent=1, ensure_ascii=False)
    part.write_text(text + "\n", encoding="utf-8")
    part.replace(path)


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError(_damaged(path, str(error))) from None
    if not isinstance(content, dict):
        raise StoreError(_damaged(path, "it is not a JSON object"))
    if content.get("format") != FORMAT:
        why = f"its format is {content.get('format')}, this version reads {FORMAT}"
        raise StoreError(_damaged(path, why))
    return content


def _damaged(path: Path, why: str) -> str:
    return (
        f"{path} is damaged: {why}. Delete it and run the same command again: only "
        "what is missing is measured."
    )
