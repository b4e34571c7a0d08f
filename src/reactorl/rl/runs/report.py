# SPDX-License-Identifier: Apache-2.0
"""The report of a run: one page with its results and its configuration."""

from __future__ import annotations

import shlex
import time
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from reactorl._util.files import write_atomic
from reactorl._util.formatting import format_number, format_seconds
from reactorl.dashboard import asset, document
from reactorl.diagram import html_parts
from reactorl.rl.runs.report_curves import Numbers, curves, read_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reactorl.diagram import Scene
    from reactorl.rl.runs.directory import RunDirectory

Phase = Literal["ended", "stopped", "failed"]
_PHASES = {"ended": "done", "stopped": "stopped", "failed": "failed"}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a report shows in addition to the content of the run's directory.

    Attributes:
        title: Algorithm and environment.
        phase: How the training ended.
        scene: The diagram of the program.
        steps: Number of environment steps.
        total: Number of steps of a complete training.
        seconds: Duration, without the time between stop and resume.
        digest: Of the weights; empty if there are none.
        returns: Of the episodes of the final evaluation.
        cut: How many of them were cut at the limit of steps; empty: none.
        defaults: Default values of settings.
        resume: Command that resumes the run, if it is not complete.
        not_exact: Which environments a resumed run cannot continue exactly, and why.
        machine: Names and values about machine and Python.
    """

    title: str
    phase: Phase
    scene: Scene
    steps: int
    total: int
    seconds: float
    digest: str = ""
    returns: Sequence[float] = ()
    cut: str = ""
    defaults: Mapping[str, Any] | None = None
    resume: Sequence[str] = ()
    not_exact: Sequence[str] = ()
    machine: Sequence[tuple[str, str]] = ()


def write_report(run: RunDirectory, outcome: Outcome) -> None:
    """Write ``report.html`` into a run's directory, atomically.

    Raises:
        OSError: It cannot be written, or the numbers cannot be read.
    """
    write_atomic(
        run.path / "report.html", report(run, outcome).encode(errors="replace")
    )


def report(run: RunDirectory, outcome: Outcome) -> str:
    """Return the page: works offline and without a server, fetches nothing.

    Raises:
        OSError: The numbers of the run cannot be read.
    """
    numbers = read_numbers(run.metrics)
    picture = html_parts(outcome.scene, depth=1)
    large, small = curves(numbers)
    body = "\n".join(
        [
            '<main class="report">',
            _header(run, outcome),
            _tiles(outcome, numbers),
            "<h2>Curves</h2>",
            large,
            f'<div class="multiples">{"".join(small)}</div>',
            "<h2>Dataflow</h2>",
            f'<section class="panel graph">{picture.body}</section>',
            "<h2>Configuration and environment</h2>",
            _reproduce(run, outcome),
            '<div class="pair"><div>',
            _settings(run, outcome),
            "</div><div>",
            _table("Machine and Python", outcome.machine),
            _table("Versions", run.config.get("versions", {}).items()),
            "</div></div>",
            "<footer>Written by ReactoRL. This file needs no server and no network; "
            "the numbers are in metrics.csv beside it.</footer>",
            "</main>",
        ]
    )
    style = asset("base.css") + asset("report.css") + picture.style
    page = document(
        title=f"{outcome.title} - run report",
        style=style,
        body=body,
        scripts=[
            picture.script,
            f'(() => {{\n"use strict";\n{asset("report.js")}}})();\n',
        ],
    )
    return page.text


# -- parts ----------------------------------------------------------------------------


def _header(run: RunDirectory, outcome: Outcome) -> str:
    began = time.localtime(int(run.config.get("began", 0)))
    facts = [
        ("run", run.path.resolve().name),
        ("began", time.strftime("%Y-%m-%d %H:%M", began)),
        ("seed", str(run.config["settings"].get("seed"))),
    ]
    return (
        f"<header><div><h1>{escape(outcome.title)}</h1>"
        f'<span class="pill" data-phase="{outcome.phase}">'
        f'{_PHASES[outcome.phase]}</span></div><div class="facts">'
        + " ".join(f"<span><i>{n}</i> {escape(v)}</span>" for n, v in facts)
        + "</div></header>"
    )


def _tiles(outcome: Outcome, numbers: Numbers) -> str:
    steps, seconds = outcome.steps, outcome.seconds
    tiles: list[tuple[str, ...]] = [
        (
            "Steps",
            f"{steps:,}",
            "" if steps == outcome.total else f"of {outcome.total:,}",
        ),
        ("Episodes", f"{len(numbers.returns):,}"),
        ("Return, last 100", format_number(numbers.last_returns)),
        ("Best evaluation", format_number(numbers.best_evaluation)),
    ]
    if outcome.returns:
        mean = sum(outcome.returns) / len(outcome.returns)
        many = f"Final return, {len(outcome.returns)} episodes"
        least = f"min {min(outcome.returns):.4g}"
        tiles.append((many, f"{mean:.4g}", f"{least}; {outcome.cut}".rstrip("; ")))
    tiles += [
        ("Time", format_seconds(seconds)),
        ("Steps/s", f"{steps / seconds:,.0f}" if seconds > 0 else "-"),
    ]
    inner = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}"
        f"<small>{escape(' '.join(more))}</small></dd></div>"
        for name, value, *more in tiles
    )
    return f'<dl class="panel tiles">{inner}</dl>'


def _reproduce(run: RunDirectory, outcome: Outcome) -> str:
    config = run.config
    command = shlex.join(map(str, config.get("command", ())))
    rows = [
        ("revision of your code", str(config.get("revision") or "not in Git")),
        ("weights, SHA-256", outcome.digest or "-"),
    ]
    if outcome.resume:
        rows.append(("resume", shlex.join(outcome.resume)))
    rows += [("not exact", sentence) for sentence in outcome.not_exact]
    resumed = (
        "" if outcome.not_exact else ", and even if the run is stopped and resumed"
    )
    return (
        '<section class="panel"><h2>Reproduce</h2>'
        f"<pre>{escape(command)}</pre>"
        "<p>With the versions below, this command gives bit-identical weights, with "
        f"this digest: for any number of workers{resumed}.</p>"
        f"{_rows(rows, mono=True)}</section>"
    )


def _settings(run: RunDirectory, outcome: Outcome) -> str:
    settings = run.config["settings"]
    defaults = outcome.defaults or {}
    changed = {k for k, v in settings.items() if k in defaults and defaults[k] != v}
    rows = [("algorithm", str(run.config.get("algorithm", "")))]
    rows += [(name, _text(value)) for name, value in settings.items()]
    steps = run.config.get("preprocessing", ())
    if steps:
        rows.append(("preprocessing steps", _text(steps)))
    note = "<p>Bold: not the default.</p>" if changed else ""
    table = _rows(rows, mono=True, bold=changed)
    return f'<section class="panel"><h2>Configuration</h2>{table}{note}</section>'


def _table(title: str, rows: Iterable[tuple[str, Any]]) -> str:
    found = _rows([(name, _text(value)) for name, value in rows])
    return f'<section class="panel"><h2>{escape(title)}</h2>{found}</section>'


def _rows(
    rows: Iterable[tuple[str, str]],
    *,
    mono: bool = False,
    bold: Iterable[str] = (),
) -> str:
    bold = set(bold)
    kind = ' class="mono"' if mono else ""
    inner = "".join(
        f"<tr{' class=changed' if name in bold else ''}><td>{escape(name)}</td>"
        f"<td{kind}>{escape(value)}</td></tr>"
        for name, value in rows
    )
    return f"<table><tbody>{inner}</tbody></table>"


def _text(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "-"
    return "-" if value is None or value == "" else str(value)
