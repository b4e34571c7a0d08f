# SPDX-License-Identifier: Apache-2.0
"""The metrics of a run as charts for its report."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reactorl.dashboard import Line, Points, Series, line_chart
from reactorl.rl.runs.metrics import (
    EVALUATED,
    FINAL,
    LENGTH,
    RETURN,
    SPEED,
    read_metrics,
)
from reactorl.rl.runs.plot import WINDOW

if TYPE_CHECKING:
    from pathlib import Path

_SPANS = 60
"""Number of time spans for which the speed is computed."""


@dataclass
class Numbers:
    """The metrics of a run, by key."""

    found: dict[str, Points] = field(default_factory=dict)
    clock: Points = field(default_factory=list)
    """Seconds, and the number of steps until then."""

    @property
    def returns(self) -> Points:
        """Returns of all episodes."""
        return self.found.get(RETURN, [])

    @property
    def by_agent(self) -> dict[str, Points]:
        """Returns of all episodes, by agent, if there are several."""
        first = len(RETURN) + 1
        return {
            key[first:]: points
            for key, points in self.found.items()
            if key.startswith(f"{RETURN}-")
        }

    def is_of_agent(self, key: str) -> bool:
        """Whether a key is the metric of one agent, of which there is a mean."""
        mean, dash, _ = key.partition("-")
        return bool(dash) and mean in self.found

    @property
    def last_returns(self) -> float | None:
        """Mean return of the last episodes."""
        last = [value for _, value in self.returns[-WINDOW:]]
        return sum(last) / len(last) if last else None

    @property
    def best_evaluation(self) -> float | None:
        """The best mean return of an evaluation during training."""
        return max((v for _, v in self.found.get(EVALUATED, [])), default=None)


def read_numbers(metrics: Path) -> Numbers:
    """Return the metrics of a run; none if it has none yet.

    Raises:
        OSError: They cannot be read.
    """
    read = Numbers()
    if not metrics.exists():
        return read
    for step, seconds, key, value in read_metrics(metrics):
        if math.isfinite(value):
            read.found.setdefault(key, []).append((step, value))
        if not read.clock or step > read.clock[-1][1]:
            read.clock.append((seconds, step))
    return read


def curves(read: Numbers) -> tuple[str, list[str]]:
    """Return the chart of what a run came to, and smaller ones of everything else."""
    lines = [Line(f"training, mean of {WINDOW} episodes", _means(read.returns))]
    evaluated = read.found.get(EVALUATED)
    if evaluated:
        lines.append(Line("evaluation", _thinned(evaluated), "dots"))
    title = "Return of an episode"
    wide = line_chart(title, lines, width=1060, height=300)
    thin = line_chart(title, lines, height=220)
    large = f'<div class="wide">{wide}</div><div class="thin">{thin}</div>'
    small = [line_chart("Steps per second", [Line("steps/s", _speeds(read.clock))])]
    for agent, points in read.by_agent.items():
        mean = Line(f"mean of {WINDOW} episodes", _means(points))
        small.append(line_chart(f"return of {agent}", [mean]))
    shown = (RETURN, EVALUATED, FINAL, SPEED)
    left = [k for k in read.found if k not in shown and not read.is_of_agent(k)]
    # Losses first, in the order in which the algorithm tells them.
    for key in sorted(left, key=lambda k: (not k.startswith("losses/"), k == LENGTH)):
        name = key.partition("/")[2] or key
        title = name.replace("_", " ")
        small.append(line_chart(title, [Line(name, _thinned(read.found[key]))]))
    return large, small


def _means(points: Points) -> Points:
    series, last = Series(512), deque[float](maxlen=WINDOW)
    for step, value in points:
        last.append(value)
        series.add(step, sum(last) / len(last))
    return series.points()


def _thinned(points: Points) -> Points:
    series = Series(512)
    for step, value in points:
        series.add(step, value)
    return series.points()


def _speeds(clock: Points) -> Points:
    """Return steps a second over steps, span by span."""
    if len(clock) < 2:
        return []
    span = max((clock[-1][0] - clock[0][0]) / _SPANS, 1e-9)
    found: Points = []
    at, steps = clock[0]
    for seconds, step in clock[1:]:
        if seconds - at >= span:
            found.append((step, (step - steps) / (seconds - at)))
            at, steps = seconds, step
    return found
