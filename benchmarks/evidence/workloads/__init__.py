# SPDX-License-Identifier: Apache-2.0
"""Workloads, each a package: its declaration, and a module for each kind of engine."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.evidence.workload import Workload

NAMES = ("actors",)
"""In the order of the report."""


def load(name: str) -> Workload:
    """Return the declaration of a workload."""
    module = import_module(f"benchmarks.evidence.workloads.{name}")
    declared: Workload = module.WORKLOAD
    return declared


def implementation(workload: Workload, engine: str) -> Callable[..., Any]:
    """Return the function that runs a workload on an engine."""
    module = f"{load.__module__}.{workload.name}.{workload.engines[engine]}"
    run: Callable[..., Any] = import_module(module).run
    return run
