# SPDX-License-Identifier: Apache-2.0
"""Workloads: programs whose every engine computes the same."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from benchmarks.runtime.workloads.workload import Workload


def make(name: str, case: str, loops_per_us: float) -> Workload:
    """Return the workload ``name`` in one of its cases.

    Args:
        name: The name of a module of this package.
        case: What the module makes of it: a size, a part.
        loops_per_us: Turns of ``spin`` in a microsecond.
    """
    module = import_module(f"benchmarks.runtime.workloads.{name}")
    return cast("Workload", module.make(case, loops_per_us))
