# SPDX-License-Identifier: Apache-2.0
"""Measuring in fresh processes that take turns: one works, the others wait.

Jobs that are compared live side by side, each in a process of its own. A slice of one
is followed by a slice of the next, ten milliseconds later: what disturbs the machine
disturbs neighbours alike. Before and after every slice a small piece of work is timed
on each core; where that took longer than it should, somebody else was there. A turn
waits a while for calm, and a slice that was disturbed nevertheless is marked.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import threading
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from benchmarks.runtime.job import Failure, Measurement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

    from benchmarks.runtime.job import Job, Settings

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 300
"""Seconds after which a process is given up."""
CALM = 1.2
"""How much longer than usual the small piece of work may take."""
SAMPLE = 100
"""So many times show how long it takes usually."""
TRIES = 40
"""How often to ask for calm before a turn; each takes a few milliseconds."""


class ChildError(RuntimeError):
    """A process did not answer; the text says what it said instead."""


class Child:
    """A process that answers, line by line."""

    module = "benchmarks.runtime.child"
    """What it runs."""
    environment: Mapping[str, str] = {}
    """What it finds in its environment besides."""

    def __init__(
        self, interpreter: str, what: str, *words: str, **more: object
    ) -> None:
        request = json.dumps({"what": what, **more})
        command = [interpreter, "-m", self.module, request, *words]
        try:
            self._process = subprocess.Popen(
                command,
                cwd=ROOT,
                env={**os.environ, **self.environment},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        except OSError as error:
            raise ChildError(str(error)) from None
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._said: list[str] = []
        self._readers = [
            threading.Thread(target=read, daemon=True)
            for read in (self._read_answers, self._read_complaints)
        ]
        for reader in self._readers:
            reader.start()

    def _read_answers(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def _read_complaints(self) -> None:
        assert self._process.stderr is not None
        self._said.extend(self._process.stderr)

    def hear(self) -> Any:  # noqa: ANN401
        """Return the next answer.

        Raises:
            ChildError: There is none, or it takes too long.
        """
        try:
            line = self._lines.get(timeout=PATIENCE)
        except queue.Empty:
            self.end()
            msg = f"no answer after {PATIENCE} s"
            raise ChildError(msg) from None
        if not line:
            status = self._process.wait()
            self._readers[1].join()
            raise ChildError("".join(self._said).strip() or f"ended with {status}")
        return json.loads(line)

    def tell(self, word: str) -> None:
        """Say a word to it; a process that has ended is found out by ``hear``."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(f"{word}\n")
            self._process.stdin.flush()

    def end(self) -> None:
        """Let go of it, whatever it does."""
        self._process.kill()
        self._process.wait()
        for reader in self._readers:
            reader.join()
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # what it had not read yet
            self._process.stdin.close()


def ask(interpreter: str, what: str) -> Any:  # noqa: ANN401
    """Return the answer of a fresh process to a request, see ``child``.

    Raises:
        ChildError: It failed, or took too long.
    """
    child = Child(interpreter, what)
    try:
        return child.hear()
    finally:
        child.end()


class Feelers:
    """A small piece of work on each core, to tell whether the machine is calm."""

    def __init__(self, interpreter: str) -> None:
        cores = (
            sorted(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else range(os.cpu_count() or 1)
        )
        self._children = [Child(interpreter, "feel", str(core)) for core in cores]
        for child in self._children:
            child.hear()
        # A core that works alone, undisturbed, shows how long it should take.
        self._usual = [
            _undisturbed([self._feel(child)[0] for _ in range(SAMPLE)])
            for child in self._children
        ]
        self._felt: list[tuple[float, ...]] = []

    @staticmethod
    def _feel(*children: Child) -> tuple[float, ...]:
        """Return how long it takes on some cores, at the same time."""
        for child in children:
            child.tell("go")
        return tuple(child.hear() for child in children)

    def calm(self) -> bool:
        """Return whether all cores are there at once, and nobody else is on them.

        Cores of a virtual machine may be two halves of one for a while.
        """
        felt = self._feel(*self._children)
        self._learn(felt)
        return all(f <= CALM * u for f, u in zip(felt, self._usual, strict=True))

    def _learn(self, felt: tuple[float, ...]) -> None:
        """Find out that the machine was busy when it was to show how long it takes."""
        self._felt.append(felt)
        if len(self._felt) == SAMPLE:
            each = map(_undisturbed, zip(*self._felt, strict=True))
            self._usual = [min(pair) for pair in zip(self._usual, each, strict=True)]
            self._felt.clear()

    def wait_for_calm(self) -> bool:
        """Return as soon as it is calm; False if it was not for a while."""
        return any(self.calm() for _ in range(TRIES))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for child in self._children:
            child.end()


def _undisturbed(times: Sequence[float]) -> float:
    """Return how long something takes if nobody else is there, of times it took."""
    return sorted(times)[len(times) // 10]


class Turns:
    """Jobs that are measured in turns, once."""

    child = Child
    """What measures a job."""

    def __init__(
        self,
        interpreter: str,
        jobs: Sequence[Job],
        settings: Settings,
        feelers: Feelers,
        repeat: int,
    ) -> None:
        self._interpreter = interpreter
        self._jobs = jobs
        self._settings = settings
        self._feelers = feelers
        self._repeat = repeat
        self._children: dict[Job, Child] = {}
        self._slices: dict[Job, list[dict[str, float]]] = {job: [] for job in jobs}
        self._calm: dict[Job, list[bool]] = {job: [] for job in jobs}
        self._failures: list[Failure] = []

    def run(self, slices: int) -> tuple[list[Measurement], list[Failure]]:
        """Start every job, give each so many turns, and return what came out."""
        try:
            for job in self._jobs:
                self._start(job)
            for _ in range(slices):
                for job in list(self._children):
                    self._turn(job)
            rest = {job: self._finish(job) for job in list(self._children)}
        finally:
            for child in self._children.values():
                child.end()
        return self._measurements(
            {job: r for job, r in rest.items() if r}
        ), self._failures

    def _start(self, job: Job) -> None:
        try:
            child = self.child(
                self._interpreter,
                "measure",
                job=asdict(job),
                settings=asdict(self._settings),
            )
            self._children[job] = child
            child.hear()
        except ChildError as error:
            self._fail(job, error)

    def _turn(self, job: Job) -> None:
        child = self._children[job]
        calm = self._feelers.wait_for_calm()
        try:
            child.tell("go")
            found = child.hear()
        except ChildError as error:
            self._fail(job, error)
            return
        self._slices[job].append(found)
        self._calm[job].append(self._feelers.calm() and calm)

    def _finish(self, job: Job) -> dict[str, Any] | None:
        child = self._children[job]
        try:
            child.tell("stop")
            found: dict[str, Any] = child.hear()
        except ChildError as error:
            self._fail(job, error)
            return None
        return found

    def _fail(self, job: Job, error: ChildError) -> None:
        self._failures.append(Failure(job, self._repeat, str(error)))
        child = self._children.pop(job, None)
        if child is not None:
            child.end()

    def _measurements(self, rest: dict[Job, dict[str, Any]]) -> list[Measurement]:
        return [
            Measurement(
                job=job,
                repeat=self._repeat,
                seconds=tuple(each["seconds"] for each in self._slices[job]),
                cpu=tuple(each["cpu"] for each in self._slices[job]),
                calm=tuple(self._calm[job]),
                **found,
            )
            for job, found in rest.items()
        ]
