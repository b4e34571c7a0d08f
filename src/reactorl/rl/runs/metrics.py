# SPDX-License-Identifier: Apache-2.0
"""The numbers of a training, kept beside it: as text, for TensorBoard, for W&B.

Keys are CleanRL's. Text has a line for each number: the step, the seconds since the run
began, the key, the value; so that new keys may come at any time. Of a run that goes on
from a checkpoint, what came after that is taken back first.
"""

from __future__ import annotations

import csv
import io
import time
from typing import TYPE_CHECKING, Any, TypeAlias

from reactorl._util.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from reactorl.rl.flow.task import Round

Row: TypeAlias = "tuple[int, float, str, float]"
"""The step, the seconds, the key, the value."""

RETURN = "charts/episodic_return"
LENGTH = "charts/episodic_length"
SPEED = "charts/SPS"
EVALUATED = "eval/mean_return"
FINAL = "eval/final_return"
_POINTS = 1_000
"""How many values of a loss a run has at most."""
_HEAD = ("global_step", "seconds", "key", "value")


class Logs:
    """Takes down what rounds give.

    Args:
        directory: Of the run.
        rounds: How many there will be.
        done: After how many steps the run goes on; 0: it begins.
        track: A run of W&B, to send the same numbers to.
        also: Told every number, too: the step, the key, the value.

    Raises:
        OSError: Nothing can be written there.
    """

    def __init__(
        self,
        directory: Path,
        *,
        rounds: int,
        done: int = 0,
        track: Any = None,  # noqa: ANN401
        also: Callable[[int, str, float], object] | None = None,
    ) -> None:
        from tensorboardX import SummaryWriter

        self._path = directory / "metrics.csv"
        before = take_back(self._path, done) if done else 0.0
        self._began = time.monotonic() - before
        self._every = max(1, rounds // _POINTS)
        self._file = self._path.open("a", newline="")
        self._csv = csv.writer(self._file)
        if not done:
            self._csv.writerow(_HEAD)
        self._board = SummaryWriter(
            str(directory), purge_step=done + 1 if done else None, flush_secs=10
        )
        self._track = track
        self._unsent: dict[str, list[float]] = {}
        self._unsent_step = 0
        self._also = also
        self._last = (time.monotonic(), done)

    @property
    def seconds(self) -> float:
        """How long the run has taken, without the time it was stopped."""
        return time.monotonic() - self._began

    def add(self, found: Round, step: int) -> None:
        """Take down what a round gave; there are so many steps after it."""
        for episode in found.episodes:
            self.number(step, RETURN, episode.score)
            for agent, score in episode.by_agent:
                self.number(step, f"{RETURN}-{agent}", score)
            self.number(step, LENGTH, episode.length)
        if found.evaluation is not None:
            self.number(step, EVALUATED, found.evaluation.mean)
        if found.number % self._every == 0:
            for key, value in (found.metrics or {}).items():
                self.number(step, key, value)
            before, steps = self._last
            now = time.monotonic()
            if now - before > 1.0:
                self.number(step, SPEED, int((step - steps) / (now - before)))
                self._last = (now, step)

    def number(self, step: int, key: str, value: float) -> None:
        """Take down a number."""
        self._csv.writerow((step, f"{self.seconds:.3f}", key, repr(float(value))))
        self._board.add_scalar(key, value, step)
        if self._track is not None:
            if step != self._unsent_step:
                self._send()
            self._unsent_step = step
            self._unsent.setdefault(key, []).append(float(value))
        if self._also is not None:
            self._also(step, key, float(value))

    def _send(self) -> None:
        """Send what came since the last step to W&B.

        It keeps one value of a key for a step, and many episodes end in one: the mean.
        """
        if self._unsent:
            means = {key: sum(v) / len(v) for key, v in self._unsent.items()}
            self._track.log(means, step=self._unsent_step)
        self._unsent = {}

    def flush(self) -> None:
        """Let everything so far be seen by others."""
        self._file.flush()
        self._board.flush()

    def close(self) -> None:
        """End; everything is written."""
        try:
            self._file.close()
        finally:
            self._board.close()
            if self._track is not None:
                self._send()
                self._track.finish()


def numbers(path: Path) -> Iterator[Row]:
    """Yield the numbers of a run; a line that was cut off is left out."""
    with path.open(newline="") as file:
        for row in csv.reader(file):
            try:
                step, seconds, key, value = row
                yield int(step), float(seconds), key, float(value)
            except ValueError:
                continue  # the head, or the last line of a process that was killed


def take_back(path: Path, done: int) -> float:
    """Remove what was taken down after a step; return how long it took until then."""
    kept = io.StringIO(newline="")
    rows = csv.writer(kept)
    rows.writerow(_HEAD)
    latest = 0.0
    found = numbers(path) if path.exists() else iter(())
    for step, seconds, key, value in found:
        if step <= done:
            rows.writerow((step, f"{seconds:.3f}", key, repr(value)))
            latest = max(latest, seconds)
    write_atomic(path, kept.getvalue().encode())
    return latest
