# SPDX-License-Identifier: Apache-2.0
"""Workloads, each a package: its declaration, and a module for each kind of engine."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.harness.workload import Workload


def load(name: str) -> Workload:
    """Return the declaration of a workload."""
    declared: Workload = import_module(f"{__name__}.{name}").WORKLOAD
    return declared
