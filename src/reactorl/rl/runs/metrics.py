# SPDX-License-Identifier: Apache-2.0
"""Metrics of a run: as CSV, for TensorBoard, and for Weights & Biases.

Keys are CleanRL's. The CSV has a line for each value: step, seconds since the start of
the run, key, value; so that new keys may appear at any time. A run that is resumed from
a checkpoint first removes the values that are newer.
"""

from __future__ import annotations

import csv
import io
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from reactorl._util.files import write_atomic
from reactorl.rl.runs.tensorboard import EventFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from reactorl.rl.flow.task import Iteration

Row: TypeAlias = "tuple[int, float, str, float]"
"""Step, seconds, key, value."""

RETURN = "charts/episodic_return"
LENGTH = "charts/episodic_length"
SPEED = "charts/SPS"
EVALUATED = "eval/mean_return"
FINAL = "eval/final_return"
CUT = "eval/cut_episodes"
"""Episodes of an evaluation that were cut at the limit of steps, if there were any."""
_POINTS = 1_000
"""Upper bound of the number of values of a loss."""
_HEAD = ("global_step", "seconds", "key", "value")


class MetricsWriter:
    """Writes the metrics of iterations.

    Args:
        directory: Of the run.
        iterations: Total number of iterations.
        done: Environment steps before a resumed run continues; 0: a new run.
        track: A run of Weights & Biases that gets the same values.
        also: Called with every step, key and value.

    Raises:
        OSError: The files cannot be written.
    """

    def __init__(
        self,
        directory: Path,
        *,
        iterations: int,
        done: int = 0,
        track: Any = None,  # noqa: ANN401
        also: Callable[[int, str, float], object] | None = None,
    ) -> None:
        self._path = directory / "metrics.csv"
        before = truncate(self._path, done) if done else 0.0
        self._began = time.monotonic() - before
        self._every = max(1, iterations // _POINTS)
        self._file = self._path.open("a", newline="")
        self._csv = csv.writer(self._file)
        if not done:
            self._csv.writerow(_HEAD)
        self._board = EventFile(directory, purge_step=done + 1 if done else None)
        self._track = track
        self._unsent: dict[str, list[float]] = {}
        self._unsent_step = 0
        self._also = also
        self._last = (time.monotonic(), done)

    @property
    def seconds(self) -> float:
        """Duration of the run, without the time between stop and resume."""
        return time.monotonic() - self._began

    def add(self, iteration: Iteration, step: int) -> None:
        """Write what an iteration gave, which ended at a step."""
        for episode in iteration.episodes:
            self.write(step, RETURN, episode.episode_return)
            for agent, value in episode.by_agent:
                self.write(step, f"{RETURN}-{agent}", value)
            self.write(step, LENGTH, episode.length)
        if iteration.evaluation is not None:
            self.write(step, EVALUATED, iteration.evaluation.mean)
            if iteration.evaluation.num_cut:
                self.write(step, CUT, iteration.evaluation.num_cut)
        if iteration.number % self._every == 0:
            for key, value in (iteration.metrics or {}).items():
                self.write(step, key, value)
            before, steps = self._last
            now = time.monotonic()
            if now - before > 1.0:
                self.write(step, SPEED, int((step - steps) / (now - before)))
                self._last = (now, step)

    def write(self, step: int, key: str, value: float) -> None:
        """Write one value; a key has one line, as every row of the file."""
        key = "".join(c if c.isprintable() else " " for c in key)
        with _naming(self._path):
            self._csv.writerow((step, f"{self.seconds:.3f}", key, repr(float(value))))
        with _naming(self._board.path):
            self._board.add_scalar(key, value, step)
        if self._track is not None:
            if step != self._unsent_step:
                self._send()
            self._unsent_step = step
            self._unsent.setdefault(key, []).append(float(value))
        if self._also is not None:
            self._also(step, key, float(value))

    def _send(self) -> None:
        """Send the values of one step to Weights & Biases.

        It keeps one value per key and step; of several episodes that is their mean.
        """
        if self._unsent:
            means = {key: sum(v) / len(v) for key, v in self._unsent.items()}
            self._track.log(means, step=self._unsent_step)
        self._unsent = {}

    def flush(self) -> None:
        """Write buffered values to the files."""
        with _naming(self._path):
            self._file.flush()
        with _naming(self._board.path):
            self._board.flush()

    def close(self) -> None:
        """Close the files, and finish the run of Weights & Biases."""
        try:
            with ExitStack() as stack:
                stack.enter_context(_naming(self._board.path))
                stack.callback(self._board.close)
                with _naming(self._path):
                    self._file.close()
        finally:
            if self._track is not None:
                self._send()
                self._track.finish()


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Let errors name the file: those of files that are open do not."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def read_metrics(path: Path) -> Iterator[Row]:
    """Yield the values of a run; incomplete and damaged lines are left out."""
    with path.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                return  # of a process that was killed: a part of a number is a number
            try:
                ((step, seconds, key, value),) = csv.reader([line.decode()])
                yield int(step), float(seconds), key, float(value)
            except (ValueError, csv.Error):
                continue  # the head, or what a crash of the machine left


def truncate(path: Path, done: int) -> float:
    """Remove values that are newer than a step; return the seconds until then."""
    kept = io.StringIO(newline="")
    rows = csv.writer(kept)
    rows.writerow(_HEAD)
    latest = 0.0
    found = read_metrics(path) if path.exists() else iter(())
    for step, seconds, key, value in found:
        if step <= done:
            rows.writerow((step, f"{seconds:.3f}", key, repr(value)))
            latest = max(latest, seconds)
    write_atomic(path, kept.getvalue().encode())
    return latest
