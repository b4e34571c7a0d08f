# SPDX-License-Identifier: Apache-2.0
"""Sections of the report about the setup: method, machine and engines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.engines import ENGINES, engine_named
from benchmarks.harness.tables import table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.harness.store import Run

SHOWN = (
    *("reactorl", "ray", "gymnasium", "ale-py", "envpool", "xronos"),
    *("numpy", "torch", "jax", "pettingzoo"),
)
"""Packages whose versions are shown."""
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


def sections(run: Run, calm: float) -> list[str]:
    """Return the sections.

    Args:
        run: The run.
        calm: Fraction of calm slices.
    """
    busy = ", ".join(e.title for e in ENGINES.values() if e.busy_waiting)
    return [METHOD.format(calm=calm, busy=busy), _machine(run), _engines(run)]


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
        rows.append((engine.title, engine.about, versions(facts)))
    return "## Engines\n\n" + table(("engine", "about", "versions"), rows)


def versions(facts: Mapping[str, Any]) -> str:
    kind = "free-threaded" if facts["free_threaded"] else "with GIL"
    pgo = "PGO" if facts["pgo"] else "no PGO"
    packages = facts["packages"]
    shown = [f"{name} {packages[name]}" for name in SHOWN if name in packages]
    return ", ".join([f"CPython {facts['version']} {kind}, {pgo}", *shown])
