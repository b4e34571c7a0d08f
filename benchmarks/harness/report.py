# SPDX-License-Identifier: Apache-2.0
"""Report: a page of Markdown, made from results and declarations only."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from benchmarks.engines import engine_named
from benchmarks.harness import plots, setup
from benchmarks.harness.claims import regressions
from benchmarks.harness.outcome import Outcome, computed, errors, headline
from benchmarks.harness.process import ROOT
from benchmarks.harness.results import Results
from benchmarks.harness.tables import number_text, table, time_text
from benchmarks.suites import SUITES
from benchmarks.workloads import load

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from benchmarks.harness.claims import Claim
    from benchmarks.harness.store import Run
    from benchmarks.harness.workload import Case

NOTES = ROOT / "benchmarks" / "notes.toml"
PAGE = "benchmarks.md"
PICTURES = "benchmarks"
"""The directory of plots, beside the page."""
BEGIN, END = "<!-- measured -->", "<!-- end -->"
CALM_ENOUGH = 0.5


def outcomes(run: Run, results: Results) -> list[Outcome]:
    """Return the measurements by workload, in the order of the report."""
    found = []
    for name in run.workloads:
        mine = Results(
            [m for m in results.measurements if m.job.workload == name],
            [f for f in results.failures if f.job.workload == name],
        )
        found.append(Outcome(load(name), run.effort, mine))
    return found


def claims_of(found: Sequence[Outcome]) -> list[Claim]:
    """Return the claims; with two builds, only those that were measured."""
    claims = [claim for each in found for claim in each.workload.claims(each)]
    compared = [claim for each in found for claim in regressions(each)]
    if compared:
        claims = [claim for claim in claims if claim.measured is not None]
    return claims + compared


def write(run: Run, results: Results, target: Path, notes: Path = NOTES) -> str:
    """Write the page and its plots into a directory; return the page.

    Args:
        run: The run.
        results: Its measurements.
        target: The directory.
        notes: The causes of missed claims.
    """
    directory = target / PICTURES
    pictures: dict[str, list[str]] = {}
    for outcome in outcomes(run, results):
        for plot in filter(plots.Plot.has_data, outcome.workload.plots(outcome)):
            directory.mkdir(parents=True, exist_ok=True)
            svg, *_ = plots.draw(plot, directory)
            shown = f"![{plot.title}]({PICTURES}/{svg})"
            pictures.setdefault(outcome.workload.name, []).append(shown)
    text = render(run, results, pictures, notes)
    (target / PAGE).write_text(text, encoding="utf-8")
    return text


def write_docs(run: Run, results: Results, docs: Path) -> Path:
    """Write the page of the suite in ``docs``; return its path."""
    path = docs / SUITES[run.suite].docs
    head, mark, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    if not mark:
        write(run, results, docs)
        return path
    notes = [n for each in outcomes(run, results) for n in each.workload.notes(each)]
    machine = run.machine
    texts = [setup.versions(facts) for facts in run.engines.values()]
    where = f"{machine['cpu']}, {machine['usable_cores']} cores, {machine['system']}"
    facts = "; ".join([where, *dict.fromkeys(texts)]) + ".\n"
    text = "\n".join([head + BEGIN, "", *notes, facts, END + rest.partition(END)[2]])
    path.write_text(text, encoding="utf-8")
    return path


def render(
    run: Run,
    results: Results,
    pictures: Mapping[str, Sequence[str]],
    notes: Path = NOTES,
) -> str:
    """Return the page.

    Args:
        run: The run.
        results: Its measurements.
        pictures: The plots of each workload, in Markdown.
        notes: The causes of missed claims.
    """
    suite = SUITES[run.suite]
    found = outcomes(run, results)
    causes = tomllib.loads(notes.read_text(encoding="utf-8"))
    parts = [
        f"# {suite.title}\n\n{suite.about.format(effort=f'--{run.effort}')}",
        *_cautions(run, results),
        *_claims(claims_of(found), causes),
        *(_workload(each, run, pictures) for each in found),
        *setup.sections(run, results.calm_share()),
    ]
    return "\n".join(parts)


def _cautions(run: Run, results: Results) -> list[str]:
    texts = []
    if run.effort != "full":
        texts.append(
            f"These numbers are from a `{run.effort}` run: few slices and not all "
            "cases. Those of `--full` count."
        )
    names = SUITES[run.suite].workloads
    absent = [load(name).title for name in names if name not in run.workloads]
    if absent:
        texts.append(f"Not part of this run: {', '.join(absent)}.")
    if results.calm_share() < CALM_ENOUGH:
        texts.append("The machine was busy for most of the time: measure again.")
    load_average, cores = run.machine["load_average"][0], run.machine["usable_cores"]
    if load_average > 0.25 * cores:
        texts.append(
            f"The load average was {load_average:.1f} at the start, on {cores} cores."
        )
    texts += [f"{error}." for error in errors(results)]
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
        value = spread = ""
        if claim.measured is not None:
            value = f"{number_text(claim.measured.median)}{claim.unit}"
            if len(claim.measured.values) > 1:
                low, high = claim.measured.low, claim.measured.high
                spread = f"{number_text(low)} to {number_text(high)}"
        bound = f"{sign} {claim.bound:g}{claim.unit}"
        rows.append((claim.text, bound, value, spread, marks[claim.verdict]))
    kept = sum(claim.verdict == "kept" for claim in claims)
    head = ("figure", "bound", "measured", "sets", "verdict")
    text = f"## Claims\n\n{kept} of {len(claims)} claims are kept.\n\n"
    text += table(head, rows, numbers=(1, 2, 3))
    missed = [claim for claim in claims if claim.verdict == "missed"]
    if missed:
        text += "\n### Missed claims\n\n"
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
        f"- {engine_named(name).title}: {why}"
        for name, why in (*workload.absent.items(), *_partly(outcome))
        if name in run.asked
    ]
    for why in dict.fromkeys(workload.incomparable.values()):
        who = [n for n, w in workload.incomparable.items() if w == why]
        titles = [engine_named(name).title for name in who if name in run.asked]
        if titles:
            remarks.append(f"- Not compared: {', '.join(titles)}, as {why}")
    remarks += [
        f"- Left out: {what.partition(': ')[2]}: {why}."
        for what, why in run.left_out.items()
        if what.startswith(f"{workload.title}: ")
    ]
    large = [case.title for case in outcome.cases() if case.needs]
    if large:
        remarks.append(
            "- As many engines take turns as fit into memory, in the order of the "
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
    engines = outcome.engines(*(case.name for case in cases))
    rows = [
        (engine_named(engine).title, *(_cell(outcome, case, engine) for case in cases))
        for engine in engines
    ]
    rows.append(("*computed*", *(_computed(outcome, case) for case in cases)))
    head = (f"time per {workload.unit}", *(case.title for case in cases))
    return table(head, rows, numbers=range(1, len(head)))


def _cell(outcome: Outcome, case: Case, engine: str) -> str:
    spread = outcome.time(case.name, engine)
    if spread is None:
        failed = any(
            failure.job == outcome.job(case.name, engine)
            for failure in outcome.results.failures
        )
        return "failed" if failed else ""
    text = time_text(spread)
    if outcome.workload.rate:
        text += f", {1 / spread.median:,.0f} {outcome.workload.rate}/s"
    baseline = outcome.workload.baseline[engine_named(engine).python]
    ratio = outcome.ratio(engine, baseline, case.name)
    if ratio is not None and engine != baseline:
        text += f" ({number_text(ratio.median)}x)"
    return text


def _computed(outcome: Outcome, case: Case) -> str:
    texts = []
    for (_, name, python), by_digest in computed(outcome.results).items():
        if name != case.name:
            continue
        where = f" on {python}" if python else ""
        if len(by_digest) == 1:
            (digest, engines) = next(iter(by_digest.items()))
            texts.append(f"all {len(engines)}{where}: `{digest}`")
        else:
            texts += [f"{', '.join(who)}: `{d}`" for d, who in by_digest.items()]
    return "; ".join(texts)
