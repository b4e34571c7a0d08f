# SPDX-License-Identifier: Apache-2.0
"""Learning curves of runs in one figure: training returns and evaluations.

The colours are those of Okabe and Ito, which are distinguishable with any colour
vision; lines differ in their dashes as well.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reactorl._util.files import write_atomic
from reactorl.rl._public import public
from reactorl.rl.runs.metrics import EVALUATED, RETURN, read_metrics

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reactorl.rl.flow.algorithm import Array
    from reactorl.rl.runs.directory import RunDirectory

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", "-.", ":")
KINDS = ("png", "svg")
WINDOW = 100
"""Number of episodes that a point of the curve averages."""


@dataclass(frozen=True)
class Curve:
    """The learning curve of a run."""

    name: str
    steps: Array
    returns: Array
    """Mean return of the last 100 episodes, after each episode."""
    evaluated_steps: Array
    evaluated: Array


def read_curve(name: str, metrics: Path) -> Curve:
    """Return the learning curve of a run.

    Raises:
        OSError: The metrics cannot be read.
    """
    rows = list(read_metrics(metrics))
    episodes = np.array([(r[0], r[3]) for r in rows if r[2] == RETURN]).reshape(-1, 2)
    evaluations = np.array([(r[0], r[3]) for r in rows if r[2] == EVALUATED])
    evaluations = evaluations.reshape(-1, 2)
    total = np.concatenate([[0.0], np.cumsum(episodes[:, 1])])
    last = np.arange(1, len(episodes) + 1)
    first = np.maximum(last - WINDOW, 0)
    means = (total[last] - total[first]) / (last - first)
    # Of several episodes that end at one step, only the last gives a point.
    known = np.ones(len(episodes), dtype=bool)
    known[:-1] = episodes[1:, 0] != episodes[:-1, 0]
    steps, returns = episodes[known, 0], means[known]
    return Curve(name, steps, returns, evaluations[:, 0], evaluations[:, 1])


@public
def plot_runs(runs: Sequence[RunDirectory], output: Path) -> None:
    """Plot the learning curves of runs in one figure.

    Args:
        runs: The runs.
        output: The figure; a ``.png`` or ``.svg`` file.

    Raises:
        ValueError: The suffix of ``output`` is another.
        OSError: Metrics cannot be read, or the figure cannot be written.
    """
    if output.suffix.lstrip(".").lower() not in KINDS:
        msg = f"output must be a .png or .svg file, got '{output}'"
        raise ValueError(msg)
    curves = [read_curve(run.path.name, run.metrics) for run in runs]
    draw(curves, ", ".join(dict.fromkeys(run.env_id for run in runs)), [output])


def draw(curves: Sequence[Curve], title: str, paths: Sequence[Path]) -> None:
    """Draw curves to files, in the formats of their suffixes.

    Raises:
        OSError: A file cannot be written.
    """
    # Without pyplot: nothing of this process changes, and no window is ever opened.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.8), layout="constrained")
    FigureCanvasAgg(figure)
    axes: Any = figure.add_subplot()
    for place, curve in enumerate(curves):
        colour = COLOURS[place % len(COLOURS)]
        dash = DASHES[place // len(COLOURS) % len(DASHES)]
        label = curve.name if len(curves) > 1 else "training, mean of 100 episodes"
        axes.plot(curve.steps, curve.returns, dash, color=colour, label=label)
        if len(curve.evaluated):
            colour = colour if len(curves) > 1 else COLOURS[1]
            axes.plot(
                curve.evaluated_steps,
                curve.evaluated,
                "o",
                markersize=4,
                color=colour,
                label="evaluation" if len(curves) == 1 else None,
            )
    axes.set_xlabel("steps of environments")
    axes.set_ylabel("return of an episode")
    axes.set_title(title)
    axes.grid(alpha=0.3)
    if any(len(c.steps) or len(c.evaluated) for c in curves):
        axes.legend(loc="best", fontsize="small")
    for path in paths:
        kind = path.suffix.lstrip(".").lower()
        picture = io.BytesIO()
        figure.savefig(picture, format=kind, dpi=150)
        write_atomic(path, picture.getbuffer())
