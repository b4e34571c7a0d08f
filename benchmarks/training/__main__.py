# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks.training``: measure, report, judge."""

from __future__ import annotations

import sys

from benchmarks.command import Bench, main
from benchmarks.runtime.measure import Child, Turns
from benchmarks.training.claims import GROUPS, checks
from benchmarks.training.report import TrainingReport


class TrainingChild(Child):
    """A process that trains."""

    module = "benchmarks.training.child"


class TrainingTurns(Turns):
    """Trainings in turns."""

    child = TrainingChild


BENCH = Bench(
    name="training",
    description="Compare training flows with each other and with an ordinary loop.",
    groups=GROUPS,
    checks=checks,
    report=TrainingReport,
    turns=TrainingTurns,
)

if __name__ == "__main__":
    sys.exit(main(BENCH))
