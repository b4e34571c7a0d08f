# SPDX-License-Identifier: Apache-2.0
"""Plots: lines and bars that can be read without colour.

Colours are those of Okabe and Ito, which are distinct for any kind of colour vision;
markers of lines and hatches of bars make the same distinction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.engines import engine_named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from benchmarks.harness.outcome import Outcome
    from benchmarks.harness.results import Spread

SIZE = (8.0, 4.6)
DPI = 120
KINDS = ("svg", "png")
STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "svg.hashsalt": "reactorl",  # names in the file depend on nothing else
    "svg.fonttype": "none",
}


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot, as data.

    Attributes:
        name: Its file, without ending.
        title: Above it; also its alternative text.
        x_label: Label of the horizontal axis.
        y_label: Label of the vertical axis.
        lines: For each engine the points of its line.
        bars: Instead of lines: for each engine a bar in each group.
        log_x: Whether the horizontal axis is logarithmic.
        log_y: Whether the vertical axis is logarithmic.
        x_names: Names of positions on the horizontal axis, instead of numbers.
        y_unit: Unit of the vertical axis; its numbers get prefixes, as in 10 ms.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    lines: Mapping[str, Sequence[tuple[float, Spread]]] | None = None
    bars: Mapping[str, Mapping[str, Spread]] | None = None
    log_x: bool = True
    log_y: bool = True
    x_names: Mapping[float, str] | None = None
    y_unit: str = "s"

    def has_data(self) -> bool:
        """Return whether there is anything to draw."""
        return bool(self.lines or self.bars)


def lines_of(outcome: Outcome, line: str) -> dict[str, list[tuple[float, Spread]]]:
    """Return the points of the cases of a line, by engine."""
    found: dict[str, list[tuple[float, Spread]]] = {}
    for case in outcome.cases():
        if case.line == line and case.x is not None:
            for engine in outcome.engines(case.name):
                spread = outcome.time(case.name, engine)
                if spread is not None:
                    found.setdefault(engine, []).append((case.x, spread))
    return found


def bars_of(outcome: Outcome, *lines: str) -> dict[str, dict[str, Spread]]:
    """Return bars of the cases of some lines (all if none is given), by engine."""
    found: dict[str, dict[str, Spread]] = {}
    for case in outcome.cases():
        if not lines or case.line in lines:
            for engine in outcome.engines(case.name):
                spread = outcome.time(case.name, engine)
                if spread is not None:
                    found.setdefault(engine, {})[case.title] = spread
    return found


def draw(plot: Plot, directory: Path) -> list[str]:
    """Draw a plot into files; return their names."""
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=SIZE, layout="constrained")
        axes = figure.add_subplot()
        if plot.bars is not None:
            _draw_bars(axes, plot.bars)
        else:
            _draw_lines(axes, plot.lines or {}, plot.x_names or {}, log_x=plot.log_x)
        if plot.log_y:
            axes.set_yscale("log")
            # Within a decade or two, tens alone would leave most of the axis bare.
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=12))
            axes.yaxis.set_minor_formatter(NullFormatter())
        axes.yaxis.set_major_formatter(EngFormatter(unit=plot.y_unit))
        axes.set_title(plot.title, loc="left", fontweight="bold")
        axes.set_xlabel(plot.x_label)
        axes.set_ylabel(plot.y_label)
        figure.legend(loc="outside right upper", frameon=False, fontsize=9)
        names = [f"{plot.name}.{kind}" for kind in KINDS]
        for name in names:
            # Without a date a plot changes only when its numbers do.
            metadata = {"Date": None} if name.endswith("svg") else {"Software": None}
            figure.savefig(directory / name, dpi=DPI, metadata=metadata)
    return names


def _draw_lines(
    axes: Any,  # noqa: ANN401
    lines: Mapping[str, Sequence[tuple[float, Spread]]],
    names: Mapping[float, str],
    *,
    log_x: bool,
) -> None:
    places = sorted({x for points in lines.values() for x, _ in points})
    if log_x:
        axes.set_xscale("log")
    if len(places) <= 8:
        axes.set_xticks(places, [names.get(x) or f"{x:,g}" for x in places])
        if names:  # words, some of which are close to each other
            axes.tick_params("x", rotation=45)
        axes.minorticks_off()
    for name, points in lines.items():
        engine = engine_named(name)
        middle = [spread.median for _, spread in points]
        axes.errorbar(
            [x for x, _ in points],
            middle,
            yerr=[
                [m - s.low for m, (_, s) in zip(middle, points, strict=True)],
                [s.high - m for m, (_, s) in zip(middle, points, strict=True)],
            ],
            label=engine.title,
            color=engine.colour,
            marker=engine.marker,
            markersize=7,
            linestyle="--" if engine.is_limit else "-",
            capsize=2,
        )


def _draw_bars(axes: Any, bars: Mapping[str, Mapping[str, Spread]]) -> None:  # noqa: ANN401
    groups = list(dict.fromkeys(group for each in bars.values() for group in each))
    width = 0.8 / max(1, len(bars))
    for index, (name, each) in enumerate(bars.items()):
        engine = engine_named(name)
        there = [group for group in groups if group in each]
        places = [
            groups.index(g) + (index - (len(bars) - 1) / 2) * width for g in there
        ]
        middle = [each[group].median for group in there]
        axes.bar(
            places,
            middle,
            width,
            yerr=[
                [m - each[g].low for m, g in zip(middle, there, strict=True)],
                [each[g].high - m for m, g in zip(middle, there, strict=True)],
            ],
            label=engine.title,
            color=engine.colour,
            hatch=engine.hatch,
            edgecolor="white",
            linewidth=0.5,
            error_kw={"elinewidth": 1, "ecolor": "#333333"},
        )
    # In a line each, or long names would run into each other.
    axes.set_xticks(range(len(groups)), [name.replace(", ", ",\n") for name in groups])
    axes.grid(visible=False, axis="x")
