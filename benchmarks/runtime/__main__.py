# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks.runtime``: measure, report, judge."""

from __future__ import annotations

import sys

from benchmarks.command import Bench, main
from benchmarks.runtime.claims import checks
from benchmarks.runtime.plan import GROUPS
from benchmarks.runtime.report import Report

BENCH = Bench(
    name="runtime",
    description="Compare the runtime with plain Python and with other runtimes.",
    groups=GROUPS,
    checks=checks,
    report=Report,
)

if __name__ == "__main__":
    sys.exit(main(BENCH))
