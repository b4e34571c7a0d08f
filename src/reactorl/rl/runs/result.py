# SPDX-License-Identifier: Apache-2.0
"""The result of a training run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from reactorl._util.formatting import format_number, format_seconds
from reactorl.rl._public import public

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.flow.algorithm import Weights


@public
@dataclass(frozen=True, kw_only=True)
class TrainingResult:
    """The result of ``Trainer.fit``."""

    title: str
    """Algorithm and environment."""
    algorithm: str
    """Name of the algorithm in the configuration of the run."""
    weights: Weights = field(repr=False)
    digest: str
    """SHA-256 of the weights: equal if all bits are."""
    directory: Path
    """The directory of the run, as an absolute path."""
    iterations: int
    """Number of iterations, those of earlier runs included."""
    steps: int
    """Number of environment steps."""
    total_steps: int
    """Number of environment steps if the training is not stopped."""
    seconds: float
    last_returns: Sequence[float] = field(repr=False)
    """Returns of the last 100 training episodes."""
    final_returns: Sequence[float] = field(repr=False)
    """Returns of the final evaluation."""
    final_cut: str = ""
    """How many of its episodes were cut at the limit of steps; empty: none."""
    stopped: str = ""
    """Why the training was stopped; empty: it is complete."""
    signal: int | None = None
    """The signal that stopped it, if one did."""
    trace_error: OSError | None = None
    """Why the trace could not be written, if it could not."""
    traced: bool = False
    """Whether the run's directory has a trace."""
    not_exact: Sequence[str] = ()
    """Which environments a resumed run cannot continue exactly, and why."""
    shown: str = field(default="", repr=False)
    """The directory as it was given, for messages."""

    @property
    def final_return(self) -> float | None:
        """Mean return of the final evaluation, None if there was none."""
        return _mean(self.final_returns)

    def summary(self) -> str:
        """Return a table of the results, and where to find more."""
        path = Path(self.shown or self.directory)
        rows = [
            ("steps", f"{self.steps:,} of {self.total_steps:,}"),
            ("return, last 100", format_number(_mean(self.last_returns))),
            ("time", format_seconds(self.seconds)),
        ]
        if self.final_returns:
            count, least = len(self.final_returns), min(self.final_returns)
            mean = f"{self.final_return:.4g}, mean of {count} episodes"
            rows.append(("final return", f"{mean} (min {least:g})"))
            if self.final_cut:
                rows.append(("", self.final_cut))
        rows += [
            ("report", str(path / "report.html")),
            ("curve", str(path / "curve.png")),
            ("dataflow", str(path / "dataflow.md")),
            ("TensorBoard", f"tensorboard --logdir {path.parent}"),
            ("checkpoint", str(path / "checkpoint")),
            ("evaluate", f"reactorl eval {path} --episodes 20"),
        ]
        if self.traced:
            rows.append(("trace", f"reactorl trace {path}"))
        if self.stopped:
            rows.append(("resume", f"reactorl train {self.algorithm} --resume {path}"))
            rows += [("not exact", sentence) for sentence in self.not_exact]
        width = max(len(name) for name, _ in rows)
        head = f"{self.title}: {self.stopped or 'done'}"
        return "\n".join([head, *(f"  {n:<{width}}  {v}" for n, v in rows)])


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
