# SPDX-License-Identifier: Apache-2.0
"""The page ``docs/benchmarks.md``: all of it comes from results and declarations."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.evidence.engines import ENGINES
from benchmarks.evidence.outcome import (
    Outcome,
    computed,
    disagreements,
    headline,
    job_of,
)
from benchmarks.evidence.tables import number_text, table, time_text
from benchmarks.evidence.workloads import NAMES, load
from benchmarks.runtime.results import Results

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmarks.evidence.claims import Claim
    from benchmarks.evidence.store import Run
    from benchmarks.evidence.workload import Case

NOTES = Path(__file__).parent / "notes.toml"
OURS = "ours-ft"
CALM_ENOUGH = 0.5

INTRODUCTION = """\
# Benchmarks

ReactoRL beside Ray and today's peers, on one machine: the engines of a workload take
turns within a set. Sets of workloads follow one another, in one call or in several.
The workloads are those of the paper that compared Lingua Franca with Ray (SPAA 2024),
and some more. This page is made by `reactorl bench` from what it measured: no number
in a table is typed by hand. To repeat it: `make bench ARGS="{effort}"` in a clone.
"""
METHOD = """\
## How it was measured

- Every engine has a virtual environment of its own with pinned packages, and for each
  workload a process of its own, used the way its documentation recommends.
- The processes of all engines live side by side and take turns: one works for a slice,
  the others wait; so what disturbs the machine disturbs neighbours alike. Cases where
  memory has no room for all of them are marked. Engines that do not wait quietly
  ({restless}) come right after the others in every case, or they would
  take the processor from whoever has the turn.
- Start-up, the first rounds and a warm-up are not timed, nor the first rounds of a
  turn; nothing is printed in timed parts; every environment has a seed of its own.
- The C library keeps memory that is given back to it, in the processes of all engines
  alike. Else chance would decide whether an array of 10 MiB goes back to the system,
  and to get it again takes longer than to copy it.
- Before and after each slice a small piece of work is timed on all cores at once.
  Where it took longer than usual, somebody else was there, and the slice is left out
  if enough others remain. {calm:.0%} of all slices were calm.
- A number is the median over sets of processes; ± is how far the farthest set is from
  it (one set alone has none). A ratio is taken within a set, between processes that
  took turns.
- After a fixed number of rounds a digest of what was computed is compared: all engines
  of a case must agree, and the tables show it.
"""


def outcomes(run: Run, results: Results) -> list[Outcome]:
    """Return what was measured, by workload, in the order of the report."""
    found = []
    for name in NAMES:
        mine = Results(
            [m for m in results.measurements if m.job.workload == name],
            [f for f in results.failures if f.job.workload == name],
        )
        if name in run.workloads:
            found.append(Outcome(load(name), run.effort, mine))
    return found


def claims_of(found: Sequence[Outcome]) -> list[Claim]:
    """Return all claims about workloads."""
    return [claim for each in found for claim in each.workload.claims(each)]


def render(
    run: Run,
    results: Results,
    pictures: Mapping[str, Sequence[str]],
    notes: Path = NOTES,
) -> str:
    """Return the page.

    Args:
        run: What the run was.
        results: What was measured.
        pictures: The pictures of each workload, in Markdown.
        notes: The causes of missed figures.
    """
    found = outcomes(run, results)
    causes = tomllib.loads(notes.read_text(encoding="utf-8"))
    parts = [
        INTRODUCTION.format(effort=f"--{run.effort}"),
        *_cautions(run, results),
        *_claims(claims_of(found), causes),
        *(_workload(each, run, pictures) for each in found),
        METHOD.format(calm=results.calm_share(), restless=_restless()),
        _machine(run),
        _engines(run),
    ]
    return "\n".join(parts)


def _cautions(run: Run, results: Results) -> list[str]:
    texts = []
    if run.effort != "full":
        texts.append(
            f"These numbers are of a `{run.effort}` run: few slices and not all cases. "
            "Those of `--full` count."
        )
    absent = [load(name).title for name in NAMES if name not in run.workloads]
    if absent:
        texts.append(f"Not part of this run: {', '.join(absent)}.")
    if results.calm_share() < CALM_ENOUGH:
        texts.append("Others used the processor for most of the time: measure again.")
    load_average, cores = run.machine["load_average"][0], run.machine["usable_cores"]
    if load_average > 0.25 * cores:
        texts.append(
            f"The load average was {load_average:.1f} at the start, on {cores} cores."
        )
    texts += [f"Engines disagree: {where}." for where in disagreements(results)]
    failed: dict[tuple[str, str, str], list[str]] = {}
    for failure in results.failures:
        job, why = failure.job, headline(failure.reason)
        failed.setdefault((job.workload, job.engine, why), []).append(job.case)
    for (workload, engine, why), cases in failed.items():
        where = ", ".join(dict.fromkeys(cases))
        texts.append(f"{engine} failed in {workload} ({where}): {why}")
    return [f"> **Caution:** {text}\n" for text in texts]


def _claims(claims: Sequence[Claim], causes: Mapping[str, str]) -> list[str]:
    if not claims:
        return []
    marks = {"kept": "✓ kept", "missed": "✗ missed", "not measured": "not measured"}
    rows = []
    for claim in claims:
        sign = "≤" if claim.at_most else "≥"
        measured = claim.measured
        rows.append(
            (
                claim.text,
                f"{sign} {claim.bound:g}{claim.unit}",
                ""
                if measured is None
                else f"{number_text(measured.median)}{claim.unit}",
                ""
                if measured is None or len(measured.values) < 2
                else f"{number_text(measured.low)} to {number_text(measured.high)}",
                marks[claim.verdict],
            )
        )
    kept = sum(claim.verdict == "kept" for claim in claims)
    text = (
        f"## What it shows\n\n{kept} of {len(claims)} figures are reached.\n\n"
        + table(("figure", "must be", "measured", "sets", ""), rows, numbers=(1, 2, 3))
    )
    missed = [claim for claim in claims if claim.verdict == "missed"]
    if missed:
        text += "\n### Why figures are missed\n\n"
        for claim in missed:
            cause = causes.get(claim.key, "the cause is not known yet")
            text += f"- **{claim.text}**: {' '.join(cause.split())}\n"
    return [text]


def _workload(outcome: Outcome, run: Run, pictures: Mapping[str, Sequence[str]]) -> str:
    workload = outcome.workload
    parts = [f"## {workload.title}\n\n{workload.about.strip()}\n"]
    for line in dict.fromkeys(case.line for case in outcome.cases()):
        cases = [case for case in outcome.cases() if case.line == line]
        parts.append(_times(outcome, cases))
    parts += (f"{note.strip()}\n" for note in workload.notes(outcome))
    parts += (f"{picture}\n" for picture in pictures.get(workload.name, ()))
    remarks = [
        f"- {ENGINES[name].title}: {why}"
        for name, why in (*workload.absent.items(), *_partly(outcome))
        if name in run.asked
    ]
    remarks += [
        f"- Not compared: {ENGINES[name].title}, as {why}"
        for name, why in workload.incomparable.items()
        if name in run.asked
    ]
    remarks += [
        f"- Left out: {what.partition(': ')[2]}: {why}."
        for what, why in run.left_out.items()
        if what.startswith(f"{workload.title}: ")
    ]
    large = [case.title for case in outcome.cases() if case.needs]
    if large:
        remarks.append(
            "- As many engines take turns as have room in memory, in the order of the "
            f"table: {', '.join(large)}."
        )
    if remarks:
        parts.append("\n".join(remarks) + "\n")
    return "\n".join(parts)


def _partly(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """Yield engines that some of the cases shown do not have, and why."""
    workload = outcome.workload
    for name, why in workload.partly.items():
        if any(name not in workload.engines_of(case) for case in outcome.cases()):
            yield name, why


def _times(outcome: Outcome, cases: Sequence[Case]) -> str:
    """Return a table: a row for each engine, a column for each case."""
    workload = outcome.workload
    engines = [
        engine
        for engine in workload.engines
        if any(engine in outcome.engines(case.name) for case in cases)
    ]
    rows = [
        (ENGINES[engine].title, *(_cell(outcome, case, engine) for case in cases))
        for engine in engines
    ]
    rows.append(("*computed*", *(_computed(outcome, case) for case in cases)))
    head = (f"time per {workload.unit}", *(case.title for case in cases))
    return table(head, rows, numbers=range(1, len(head)))


def _cell(outcome: Outcome, case: Case, engine: str) -> str:
    spread = outcome.time(case.name, engine)
    if spread is None:
        failed = any(
            failure.job == job_of(outcome.workload.name, case.name, engine)
            for failure in outcome.results.failures
        )
        return "failed" if failed else ""
    text = time_text(spread)
    if outcome.workload.rate:
        text += f", {1 / spread.median:,.0f} {outcome.workload.rate}/s"
    ratio = outcome.ratio(engine, OURS, case.name)
    if ratio is not None and engine != OURS:
        text += f" ({number_text(ratio.median)}x)"
    return text


def _computed(outcome: Outcome, case: Case) -> str:
    by_digest = computed(outcome.results).get((outcome.workload.name, case.name), {})
    if len(by_digest) == 1:
        (digest, engines) = next(iter(by_digest.items()))
        return f"all {len(engines)}: `{digest}`"
    return "; ".join(f"{', '.join(who)}: `{what}`" for what, who in by_digest.items())


def _restless() -> str:
    return ", ".join(e.title for e in ENGINES.values() if e.restless)


def _machine(run: Run) -> str:
    machine = run.machine
    rows = [
        ("processor", machine["cpu"]),
        ("cores", f"{machine['usable_cores']} of {machine['cores']} usable"),
        ("memory", f"{machine['memory_gib']} GiB"),
        ("system", machine["system"]),
        (
            "load average at the start, the highest of all calls",
            ", ".join(f"{value:.2f}" for value in machine["load_average"]),
        ),
    ]
    return "## Machine\n\n" + table(("", "facts"), rows)


def _engines(run: Run) -> str:
    rows = []
    for name in run.asked:
        engine = ENGINES[name]
        if name in run.missing:
            said = " ".join(run.missing[name].split())
            rows.append((engine.title, engine.about, f"**missing**: {said}"))
            continue
        facts = run.engines.get(name)
        if facts is None:
            continue
        kind = "free-threaded" if facts["free_threaded"] else "with GIL"
        pgo = "PGO" if facts["pgo"] else "no PGO"
        versions = [f"CPython {facts['version']} {kind}, {pgo}"]
        packages = facts["packages"]
        shown = ("reactorl", "ray", "gymnasium", "ale-py", "envpool", "xronos")
        shown += ("numpy", "torch", "jax", "pettingzoo")
        versions += [f"{key} {packages[key]}" for key in shown if key in packages]
        rows.append((engine.title, engine.about, ", ".join(versions)))
    return "## Engines\n\n" + table(("engine", "what it is", "versions"), rows)
