# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks.lf``: measure, report, judge."""

from __future__ import annotations

import sys

from benchmarks.command import Bench, main
from benchmarks.lf.claims import GROUPS, checks
from benchmarks.lf.report import LfReport
from benchmarks.runtime.measure import Child, Turns


class LfChild(Child):
    """A process that measures something of the front end."""

    module = "benchmarks.lf.child"


class LfTurns(Turns):
    """Jobs of the front end that are measured in turns."""

    child = LfChild


BENCH = Bench(
    name="lf",
    description="Measure how fast .lf programs start, are read, and run.",
    groups=GROUPS,
    checks=checks,
    report=LfReport,
    turns=LfTurns,
)

if __name__ == "__main__":
    sys.exit(main(BENCH))
