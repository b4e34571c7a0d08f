# SPDX-License-Identifier: Apache-2.0
"""The report: one table for each task, from stored runs only."""

from __future__ import annotations

from statistics import median, quantiles
from typing import TYPE_CHECKING

from benchmarks.results.engines import ENGINES
from benchmarks.results.tasks import TASKS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from benchmarks.results.runs import Run, Store
    from benchmarks.results.tasks import Task

NAME = "results.md"
ABOUT = """\
# Results

How good policies become and how long that takes, beside other libraries on the same
machine. This page is written by `make bench-results ARGS=--docs` from the runs in
`docs/results`: no number in a table is typed by hand. The command measures what is
missing, and continues after an interruption.

## Protocol

- A run is one process that trains one task with one seed. Engines take turns: all of
  them with seed 1, then all with seed 2.
- **Time to threshold** is wall time from the start of the process (imports, compilation
  and making environments included) until a greedy evaluation reaches the threshold. The
  evaluation plays 20 episodes (100 where the task says so) with the same seeds for all
  engines, every 5,000 environment steps or more; its own time does not count. RLlib
  evaluates itself, with other seeds.
- Tables show the median over seeds and the interquartile range. A run that does not
  reach the threshold within the steps that its library's settings or the task allow
  counts as not reached; a median needs more than half of the runs.
- Every library trains with its own published settings, ReactoRL with its
  [presets](training.md#presets). Metrics, checkpoints and logging are off for all. In
  Taxi, ReactoRL uses the action mask that the environment offers; the others do not.
- The comparison favors ReactoRL in one way: its presets were chosen on these
  environments, some of them on seeds 1 to 3 of this page, and most with this threshold
  in mind. The settings of other libraries are used as published, and were not tuned
  here; some aim at a final return after more steps.
- Runs of ReactoRL may be newer than those of other libraries, which are not repeated
  when ReactoRL changes.
- Memory is the peak of resident memory over all processes of a run, evaluations
  included; pages that processes share count more than once.
- Every run begins with an empty cache directory: nothing is compiled already.

"""


def write(store: Store, page: Path) -> str:
    """Write the report, with pictures of curves beside those; return it."""
    runs, missing = store.all(), store.missing()
    parts = [ABOUT, "## Engines\n", _engines(runs, missing)]
    for task in TASKS.values():
        own = [run for run in runs if run.task == task.name]
        parts.append(
            _curve(task, own, store, page)
            if task.curve
            else _section(task, own, missing)
        )
    parts += [_ahead(runs), _facts(runs)]
    text = "\n".join(part for part in parts if part).rstrip() + "\n"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text)
    return text


def _engines(runs: Sequence[Run], missing: Mapping[str, str]) -> str:
    lines = ["| engine | versions | what it is |", "|---|---|---|"]
    for engine in ENGINES.values():
        own = [run for run in runs if run.engine == engine.name]
        versions = _versions(own[-1], engine.needs) if own else "not measured"
        why = missing.get(engine.name)
        about = (
            f"{engine.about}. Could not be installed: {why}" if why else engine.about
        )
        lines.append(f"| {engine.title} | {versions} | {about} |")
    return "\n".join([*lines, ""])


_PACKAGES = {
    "stable_baselines3": ("stable-baselines3", "torch"),
    "sbx": ("sbx-rl", "jax"),
    "ray.rllib": ("ray", "torch"),
    "rlox": ("rlox", "torch"),
    "gymnax": ("gymnax", "jax"),
    "reactorl": ("jax",),
}


def _versions(run: Run, needs: Sequence[str]) -> str:
    found = run.facts.get("packages", {})
    packages = {name.replace("_", "-"): version for name, version in found.items()}
    names = [n for module in needs for n in _PACKAGES.get(module, (module,))]
    names = [n for n in dict.fromkeys([*names, "gymnasium"]) if n in packages]
    versions = [f"{name} {packages[name]}" for name in names]
    return ", ".join([f"Python {run.facts.get('python', '')}", *versions])


def _section(task: Task, runs: Sequence[Run], missing: Mapping[str, str]) -> str:
    goal = f"Threshold: {task.threshold:g}, {task.episodes} episodes."
    head = f"## {task.env_id}\n\n{goal}\n"
    if not runs:
        return f"{head}\nNot measured yet.\n"
    lines = [
        "| engine | algorithm | time to threshold, s | steps | reached | "
        "best return | peak memory, MiB |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    rows = []
    for engine, algorithm in dict.fromkeys((r.engine, r.algorithm) for r in runs):
        own = [r for r in runs if (r.engine, r.algorithm) == (engine, algorithm)]
        rows.append((_middle(task, own) or float("inf"), _row(task, own)))
    lines += [row for _, row in sorted(rows, key=lambda pair: pair[0])]
    return "\n".join([head, *lines, "", *_notes(task, runs, missing)])


def _row(task: Task, runs: Sequence[Run]) -> str:
    reached = [e for run in runs if (e := run.reached(task.threshold)) is not None]
    best = [max(e["mean_return"] for e in r.evaluations) for r in runs if r.evaluations]
    memory = [run.peak_memory / 2**20 for run in runs if run.peak_memory]
    enough = 2 * len(reached) > len(runs)
    cells = [
        ENGINES[runs[0].engine].title,
        runs[0].algorithm,
        _spread([e["seconds"] for e in reached], "{:.1f}") if enough else "-",
        _spread([e["steps"] for e in reached], "{:,.0f}") if enough else "-",
        f"{len(reached)} of {len(runs)}",
        _spread(best, "{:.4g}") if best else "-",
        f"{median(memory):,.0f}" if memory else "-",
    ]
    return f"| {' | '.join(cells)} |"


def _spread(values: Sequence[float], form: str) -> str:
    """Return the median, and the interquartile range of three or more values."""
    middle = form.format(median(values))
    if len(values) < 3:
        return middle
    low, _, high = quantiles(values, n=4, method="inclusive")
    return f"{middle} ({form.format(low)} to {form.format(high)})"


def _middle(task: Task, runs: Sequence[Run]) -> float | None:
    """Return the median time to threshold; None unless most runs reach it."""
    reached = [e["seconds"] for r in runs if (e := r.reached(task.threshold))]
    return median(reached) if 2 * len(reached) > len(runs) else None


def _notes(task: Task, runs: Sequence[Run], missing: Mapping[str, str]) -> list[str]:
    notes = [
        f"{ENGINES[run.engine].title} {run.algorithm}, seed {run.seed}, failed: "
        f"`{run.failure.splitlines()[-1][:200]}`\n"
        for run in runs
        if run.failure
    ]
    unable = {e: why for e in ENGINES if (why := missing.get(f"{e} on {task.name}"))}
    notes += [f"{ENGINES[e].title}: {why}.\n" for e, why in unable.items()]
    there = {run.engine for run in runs} | unable.keys()
    absent = [
        engine.title
        for engine in ENGINES.values()
        if engine.name not in there and engine.algorithms(task)
    ]
    without = [e.title for e in ENGINES.values() if not e.algorithms(task)]
    if absent:
        notes.append(f"Not measured yet: {', '.join(absent)}.\n")
    if without:
        notes.append(f"Without published settings for it: {', '.join(without)}.\n")
    return notes


def _ahead(runs: Sequence[Run]) -> str:
    """Return how the best of ours compares with the best of each peer."""
    lines = [
        "## Time to threshold of ReactoRL and its peers\n",
        "The median of the best algorithm of each; a ratio above 1 means that ReactoRL "
        "is faster.\n",
        "| task | ReactoRL, s | fastest peer, s | ratio |",
        "|---|--:|--:|--:|",
    ]
    for task in TASKS.values():
        best: dict[bool, tuple[float, str]] = {}
        own = [run for run in runs if run.task == task.name]
        for engine, algorithm in dict.fromkeys((r.engine, r.algorithm) for r in own):
            these = [r for r in own if (r.engine, r.algorithm) == (engine, algorithm)]
            middle = _middle(task, these)
            if middle is not None and not task.curve:
                title = f"{ENGINES[engine].title} {algorithm}"
                ours = ENGINES[engine].ours
                best[ours] = min(best.get(ours, (middle, title)), (middle, title))
        if not best:
            continue
        cells = [
            f"{best[kind][0]:.1f} ({best[kind][1]})" if kind in best else "-"
            for kind in (True, False)
        ]
        ratio = f"{best[False][0] / best[True][0]:.2f}" if len(best) == 2 else "-"
        lines.append(f"| {task.env_id} | {cells[0]} | {cells[1]} | {ratio} |")
    return "\n".join([*lines, ""]) if len(lines) > 4 else ""


def _facts(runs: Sequence[Run]) -> str:
    if not runs:
        return ""
    machine = runs[-1].facts.get("machine", {})
    revisions = sorted({r.facts["revision"] for r in runs if r.facts.get("revision")})
    loads = [run.load for run in runs]
    return "\n".join(
        [
            "## Machine\n",
            f"{machine.get('cpu')}, {machine.get('usable_cores')} cores, "
            f"{machine.get('memory_gib')} GiB, {machine.get('system')}. Load average "
            f"when runs began: {min(loads):.1f} to {max(loads):.1f}, median "
            f"{median(loads):.1f}.",
            f"Revisions of ReactoRL: {', '.join(revisions) or 'unknown'}.",
            "",
        ]
    )


# -- runs of hours --------------------------------------------------------------------


def _curve(task: Task, runs: Sequence[Run], store: Store, page: Path) -> str:
    head = (
        f"## {task.env_id}\n\nA run of hours on two cores, which is interrupted and "
        "resumed; ReactoRL only. Its curve shows training episodes and greedy "
        "evaluations.\n"
    )
    found = [c for c in store.curves() if c.name.startswith(f"{task.name}--")]
    if not found:
        return f"{head}\nNot measured yet.\n"
    lines = [head]
    for curve in found:
        steps, last, best = _evaluated(curve / "metrics.csv")
        done = any(run.more.get("steps") == run.more.get("total_steps") for run in runs)
        state = "complete" if done else "not complete yet"
        picture = _drawn(curve).relative_to(page.parent)
        lines += [
            f"{curve.name.replace('--', ', ')}: {steps:,} environment steps "
            f"({state}), last evaluation {last:g}, best {best:g}.\n",
            f"![Learning curve of {task.env_id}]({picture})\n",
        ]
    return "\n".join(lines)


def _evaluated(metrics: Path) -> tuple[int, float, float]:
    """Return the last step, the last evaluation and the best one of a curve."""
    steps, returns = 0, [float("nan")]
    for line in metrics.read_text().splitlines()[1:]:
        step, _, key, value = line.split(",")
        steps = max(steps, int(step))
        if key == "eval/mean_return":
            returns.append(float(value))
    return steps, returns[-1], max(returns[1:], default=float("nan"))


def _drawn(curve: Path) -> Path:
    """Draw a curve beside its data; return the picture."""
    from reactorl.rl import RunDirectory, plot_runs

    picture = curve / "curve.svg"
    plot_runs([RunDirectory.open(curve)], picture)
    return picture
