# SPDX-License-Identifier: Apache-2.0
"""Threads of ``concurrent.futures``: a plain loop that hands out what may overlap."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.runtime.job import Engine
    from benchmarks.runtime.watch import Watch
    from benchmarks.runtime.workloads.workload import Workload


def run(workload: Workload, watch: Watch, engine: Engine) -> dict[str, Any]:
    """Run the workload's loop with a pool of threads."""
    with ThreadPoolExecutor(engine.workers) as pool:
        workload.futures(watch, pool)
    return {}
