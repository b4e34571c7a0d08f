# SPDX-License-Identifier: Apache-2.0
"""What the workloads of the suite ``runtime`` have in common: engines and claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.engines import on
from benchmarks.harness.claims import Claim

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.harness.engine import Python
    from benchmarks.harness.outcome import Outcome

PYTHONS: tuple[Python, ...] = ("gil", "ft")
PLAIN = {"gil": "plain", "ft": "plain-ft"}
STANDARD = ("ours-1", "ours", "plain", "futures", "xronos")


def on_both(*kinds: str) -> list[str]:
    """Return the names of engines on both Pythons."""
    return [name for python in PYTHONS for name in on(python, *kinds)]


def engines(package: str, *more: str) -> dict[str, str]:
    """Return the module for each engine.

    Args:
        package: The package that has them.
        more: Engines besides the standard ones.
    """
    modules = {
        "ours-1": "ours",
        "ours": "ours",
        "ours-1-trace": "ours",
        "bodies-1": "native_clients",
        "plain": "plain",
        "futures": "plain:futures",
        "xronos": "xronos_",
        "free": "free",
    }
    return {
        name: f"{package}.{modules[kind]}"
        for python in PYTHONS
        for kind in (*STANDARD, *more)
        for name in on(python, kind)
    }


def two_workers_do_no_harm(outcome: Outcome, cases: Sequence[str]) -> list[Claim]:
    """Return the claims that on a GIL two workers are not slower than one."""
    return [
        Claim(
            f"{outcome.workload.name}-{case}-harm",
            f"{outcome.workload.name} {case}, GIL: speed of 2 workers over 1 worker",
            outcome.ratio("ours-1-gil", "ours-gil", case),
            0.9,
        )
        for case in cases
    ]


def tracing_is_cheap(outcome: Outcome, case: str) -> list[Claim]:
    """Return the claims about the cost of tracing."""
    return [
        Claim(
            f"{outcome.workload.name}-{case}-trace-{python}",
            f"{outcome.workload.name} {case}, {python}: time with tracing over without",
            outcome.ratio(f"ours-1-trace-{python}", f"ours-1-{python}", case),
            1.05,
            at_most=True,
        )
        for python in PYTHONS
    ]
