# SPDX-License-Identifier: Apache-2.0
"""ReactoRL itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import reactorl

if TYPE_CHECKING:
    from benchmarks.runtime.job import Engine
    from benchmarks.runtime.watch import Watch
    from benchmarks.runtime.workloads.workload import Workload


def run(workload: Workload, watch: Watch, engine: Engine) -> dict[str, Any]:
    """Run the workload's program in fast mode."""
    result = reactorl.run(
        workload.ours(watch), workers=engine.workers, fast=True, trace=engine.trace
    )
    return {
        "tags": result.tags,
        "events": result.events,
        "reactions": result.reactions,
        "shared_tags": result.shared_tags,
    }
