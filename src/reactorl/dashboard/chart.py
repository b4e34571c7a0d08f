# SPDX-License-Identifier: Apache-2.0
"""Charts as SVG text: lines and dots, for static pages."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

Points = list[tuple[float, float]]
_LEFT, _RIGHT, _TOP, _BOTTOM = 54, 16, 10, 24


@dataclass(frozen=True, slots=True)
class Line:
    """One curve.

    Attributes:
        name: Its label.
        points: With ascending x, without NaN and infinity.
        kind: Whether points are joined.
    """

    name: str
    points: Points
    kind: Literal["line", "dots"] = "line"


def line_chart(
    title: str,
    lines: Sequence[Line],
    *,
    x: str = "steps",
    width: int = 440,
    height: int = 170,
) -> str:
    """Return a panel with a chart; all names are escaped."""
    shown = [line for line in lines if line.points]
    legend = "".join(
        f'<span class="c{k} {line.kind}">{escape(line.name)}</span>'
        for k, line in enumerate(lines)
    )
    legend = f'<div class="legend">{legend}</div>' if len(lines) > 1 else ""
    return (
        f'<section class="panel chart"><h2>{escape(title)}</h2>{legend}'
        f'<svg viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(title)}">{_drawn(shown, lines, x, width, height)}'
        "</svg></section>"
    )


def _drawn(
    shown: Sequence[Line], lines: Sequence[Line], x: str, width: int, height: int
) -> str:
    if not shown:
        place = f'x="{width / 2:g}" y="{height / 2:g}" text-anchor="middle"'
        return f'<text {place} class="none">no numbers</text>'
    xs = [p[0] for line in shown for p in line.points]
    ys = [p[1] for line in shown for p in line.points]
    first, last, low, high = min(xs), max(xs), min(ys), max(ys)
    first = 0.0 if 0 < first < last / 4 else first
    room = ((high - low) or abs(high) or 1.0) * 0.06
    low, high = (0.0 if low >= 0 > low - room else low - room), high + room

    def px(value: float) -> float:
        across = (value - first) / ((last - first) or 1.0)
        return _LEFT + across * (width - _LEFT - _RIGHT)

    def py(value: float) -> float:
        up = (value - low) / (high - low)
        return height - _BOTTOM - up * (height - _TOP - _BOTTOM)

    right, base = width - _RIGHT, height - _BOTTOM
    parts = []
    for tick in ticks(low, high, 4):
        y = f"{py(tick):.1f}"
        parts.append(
            f'<line x1="{_LEFT}" x2="{right}" y1="{y}" y2="{y}" class="grid"/>'
            f'<text x="{_LEFT - 7}" y="{py(tick) + 4:.1f}" text-anchor="end">'
            f"{short(tick)}</text>"
        )
    parts.append(
        f'<line x1="{_LEFT}" x2="{right}" y1="{base}" y2="{base}" class="axis"/>'
    )
    for tick in ticks(first, last, width / 90) if last > first else [first]:
        at = px(tick)
        anchor = "end" if at > width - 34 else "start" if at < _LEFT + 8 else "middle"
        words = f"0 {x}" if tick == 0 else short(tick)
        parts.append(
            f'<text x="{at:.1f}" y="{height - 8}" text-anchor="{anchor}">'
            f"{escape(words)}</text>"
        )
    for k, line in enumerate(lines):
        if line.kind == "line" and len(line.points) > 1:
            path = "L".join(f"{px(a):.1f} {py(b):.1f}" for a, b in line.points)
            parts.append(f'<path d="M{path}" class="line c{k}"/>')
            continue
        parts += [
            f'<circle cx="{px(a):.1f}" cy="{py(b):.1f}" r="3.6" class="dot c{k}">'
            f"<title>{short(b)} at {short(a)} {escape(x)}</title></circle>"
            for a, b in line.points
        ]
    return "".join(parts)


def ticks(low: float, high: float, about: float) -> list[float]:
    """Return about ``count`` round numbers from low to high."""
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next((m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw), raw)
    begin = math.ceil(low / step - 1e-9)
    end = math.floor(high / step + 1e-9)
    return [k * step for k in range(begin, end + 1)]


def short(value: float) -> str:
    """Return a number for people: a few digits, thousands as k and M."""
    size = abs(value)
    if size >= 1e6:
        return f"{value / 1e6:.3g}M"
    if size >= 1e4:
        return f"{value / 1e3:.3g}k"
    if size >= 1e3:
        return f"{value:.0f}"
    return f"{value:.3g}"
