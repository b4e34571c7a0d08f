# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks.vector``: measure, report, judge."""

from __future__ import annotations

import sys

from benchmarks.command import Bench, main
from benchmarks.runtime.measure import Child, Turns
from benchmarks.vector.claims import GROUPS, checks
from benchmarks.vector.report import VectorReport


class VectorChild(Child):
    """A process that steps a vector."""

    module = "benchmarks.vector.child"


class VectorTurns(Turns):
    """Vectors that are stepped in turns."""

    child = VectorChild


BENCH = Bench(
    name="vector",
    description="Compare our vector environment with Gymnasium's.",
    groups=GROUPS,
    checks=checks,
    report=VectorReport,
    turns=VectorTurns,
)

if __name__ == "__main__":
    sys.exit(main(BENCH))
