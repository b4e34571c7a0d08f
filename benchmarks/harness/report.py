# SPDX-License-Identifier: Apache-2.0
"""Report: a page of Markdown, made from results and declarations only."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from benchmarks.engines import ENGINES, engine_named
from benchmarks.harness import plots
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

METHOD = """\
## Method

- Every engine has an environment with pinned packages, and for each workload a process
  of its own, used the way its documentation recommends.
- The processes of all engines exist at the same time and take turns: one works for a
  slice, the others wait, so that disturbances of the machine hit neighbours alike.
  Cases for which memory is too small for all of them are marked. Engines that use the
  processor while they wait ({busy}) come right after the others in every case.
- Start-up, the first rounds and a warm-up are not timed, nor the first rounds of a
  turn; nothing is printed in timed parts; every environment has a seed of its own.
- The C library keeps freed memory, in the processes of all engines alike. Otherwise
  chance would decide whether an array of 10 MiB goes back to the system, and to get it
  again takes longer than to copy it.
- Before and after each slice a small piece of work is timed on all cores at once.
  Where it took longer than usual, the machine was busy, and the slice is left out if
  enough others remain. {calm:.0%} of all slices were calm.
- A number is the median over sets of processes; ± is the distance of the farthest set
  (one set alone has none). A ratio is taken within a set, between processes that took
  turns.
- After a fixed number of rounds a digest of the results is compared: all engines of a
  case must agree, and the tables show it.
"""


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
    """Return all claims about workloads, and those about two builds of ours."""
    claims = [claim for each in found for claim in each.workload.claims(each)]
    return claims + [claim for each in found for claim in regressions(each)]


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
    text = "\n".join([head + BEGIN, "", *notes, END + rest.partition(END)[2]])
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
        METHOD.format(calm=results.calm_share(), busy=_busy_waiting()),
        _machine(run),
        _engines(run),
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
    remarks += [
        f"- Not compared: {engine_named(name).title}, as {why}"
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


def _busy_waiting() -> str:
    return ", ".join(e.title for e in ENGINES.values() if e.busy_waiting)


def _machine(run: Run) -> str:
    machine = run.machine
    rows = [
        ("processor", machine["cpu"]),
        ("cores", f"{machine['usable_cores']} of {machine['cores']} usable"),
        ("memory", f"{machine['memory_gib']} GiB"),
        ("system", machine["system"]),
        (
            "load average at the start, the maximum of all calls",
            ", ".join(f"{value:.2f}" for value in machine["load_average"]),
        ),
    ]
    return "## Machine\n\n" + table(("", "facts"), rows)


def _engines(run: Run) -> str:
    rows = []
    for name in run.asked:
        engine = engine_named(name)
        if name in run.missing:
            reason = " ".join(run.missing[name].split())
            rows.append((engine.title, engine.about, f"**missing**: {reason}"))
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
    return "## Engines\n\n" + table(("engine", "about", "versions"), rows)
