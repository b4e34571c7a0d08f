# SPDX-License-Identifier: Apache-2.0
"""Workloads, each a package: its declaration, and a module for each kind of engine."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from benchmarks.evidence.workload import Workload

NAMES = (
    "actors",
    "object_size",
    "gym",
    "atari",
    "q_learning",
    "agents",
    "pipeline",
    "reactors",
    "workers",
)
"""In the order of the report."""


def load(name: str) -> Workload:
    """Return the declaration of a workload."""
    module = import_module(f"benchmarks.evidence.workloads.{name}")
    declared: Workload = module.WORKLOAD
    return declared


def implementation(workload: Workload, engine: str) -> ModuleType:
    """Return the module whose ``run`` runs a workload on an engine.

    It is named from here (``actors.ours``), as workloads may share modules.
    """
    return import_module(f"{__name__}.{workload.engines[engine]}")
