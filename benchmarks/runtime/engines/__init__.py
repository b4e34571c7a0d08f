# SPDX-License-Identifier: Apache-2.0
"""Engines: what can run a workload."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.runtime.job import Engine
    from benchmarks.runtime.watch import Watch
    from benchmarks.runtime.workloads.workload import Workload


def run(workload: Workload, watch: Watch, engine: Engine) -> dict[str, Any]:
    """Run a workload on an engine; returns numbers that only this engine has."""
    module = import_module(f"benchmarks.runtime.engines.{engine.kind}")
    more: dict[str, Any] = module.run(workload, watch, engine)
    return more
