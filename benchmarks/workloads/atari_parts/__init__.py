# SPDX-License-Identifier: Apache-2.0
"""Atari: where the time of a step goes, part by part."""

from __future__ import annotations

from statistics import quantiles
from typing import TYPE_CHECKING

from benchmarks.harness.tables import table
from benchmarks.harness.workload import Case, Pace, Workload, paces

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmarks.harness.outcome import Outcome

GAME = "ALE/Pong-v5"
FRAMES = 4
STACKED = 4
STEPS = 40
"""Steps of a slice."""
PARTS = {
    "emulate": f"{FRAMES} frames of the emulator",
    "rgb": "screens in color",
    "grey": "screens in grey",
    "resize": "84x84 by areas",
    "stack": f"stack of {STACKED}",
}
VARIANTS = {
    "game": "game alone",
    "gymnasium": "Gymnasium's wrappers",
    "ours": "our preprocessing, Gymnasium's stack",
}
PYTHONS = {"plain": "GIL", "plain-ft": "3.14t"}
KINDS = {"timed": "parts timed", "whole": "parts not timed"}


def _typical(values: Iterable[float]) -> float:
    """Return the lower quartile: a disturbance only ever adds time."""
    known = list(values)
    return quantiles(known, n=4)[0] if len(known) > 1 else known[0]


def _column(outcome: Outcome, variant: str, engine: str) -> dict[str, float] | None:
    """Return the seconds of each part of a step; None if it was not measured."""
    timed = outcome.results.of(outcome.job(f"{variant}-timed", engine)).values()
    whole = outcome.results.of(outcome.job(f"{variant}-whole", engine)).values()
    slices = [each for m in timed for each in m.more["slices"]]
    if not slices or not whole:
        return None
    column = {part: _typical(each[part] for each in slices) for part in PARTS}
    column["all"] = _typical(s for m in timed for s in m.seconds)
    column["rest"] = column["all"] - sum(column[part] for part in PARTS)
    column["whole"] = _typical(s for m in whole for s in m.seconds)
    column["reset"] = _typical(s for m in whole for s in m.more["resets"])
    return column


def _microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:,.0f}" if seconds > 5e-8 else ""


def _notes(outcome: Outcome) -> list[str]:
    columns = {
        f"{title}, {python}": column
        for engine, python in PYTHONS.items()
        for variant, title in VARIANTS.items()
        if (column := _column(outcome, variant, engine)) is not None
    }
    if not columns:
        return []
    rows = {
        **PARTS,
        "rest": "the rest: calls, copies, infos",
        "all": "**a step, parts timed**",
        "whole": "**a step, parts not timed**",
        "reset": "a reset with a seed",
    }
    body = [
        (title, *(_microseconds(column[key]) for column in columns.values()))
        for key, title in rows.items()
    ]
    text = f"{GAME}, lower quartiles of all slices of {STEPS} steps, in µs:\n\n"
    return [text + table(("µs", *columns), body, numbers=range(1, len(columns) + 1))]


WORKLOAD = Workload(
    name="atari_parts",
    title="Parts of a step",
    about=f"Steps of {GAME} with random actions. Parts are timed from outside while "
    "the game is played; the rest is overhead. The same without timers shows their "
    "cost.",
    unit="step",
    cases=[
        Case(
            f"{variant}-{kind}",
            f"{title}, {kind_title}",
            {"variant": variant, "timed": kind == "timed"},
            # Gymnasium's preprocessing needs OpenCV.
            engines=("plain",) if variant == "gymnasium" else (),
            modules=("ale_py", "gymnasium", "reactorl")
            + (("cv2",) if variant == "gymnasium" else ()),
        )
        for variant, title in VARIANTS.items()
        for kind, kind_title in KINDS.items()
    ],
    engines=dict.fromkeys(PYTHONS, "atari_parts.parts"),
    partly={"plain-ft": "not with Gymnasium's wrappers: OpenCV has no wheel for it."},
    incomparable=dict.fromkeys(PYTHONS, "frames are not looked at."),
    baseline={"gil": "plain", "ft": "plain-ft"},
    own_process=True,
    pace=paces(Pace(compared=STEPS, sets=6, slices=30, whole=30 * STEPS)),
    notes=_notes,
)
