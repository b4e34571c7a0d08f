# SPDX-License-Identifier: Apache-2.0
"""Xronos, a reactor runtime for Python with a C++ core.

Its programs are in ``workloads.in_xronos``, written the way its documentation and
examples do: handlers that close over triggers and effects.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import xronos

if TYPE_CHECKING:
    from benchmarks.runtime.job import Engine
    from benchmarks.runtime.watch import Watch
    from benchmarks.runtime.workloads.workload import Workload


def run(workload: Workload, watch: Watch, engine: Engine) -> dict[str, Any]:
    """Run the workload's Xronos program in fast mode."""
    del engine
    programs = import_module(f"benchmarks.runtime.workloads.in_xronos.{workload.name}")
    environment = xronos.Environment(fast=True)
    programs.build(environment, workload, watch)
    environment.execute()
    return {}
