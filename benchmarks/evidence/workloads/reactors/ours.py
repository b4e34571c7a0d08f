# SPDX-License-Identifier: Apache-2.0
"""A ring of reactors: the program of ``benchmarks.runtime``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import reactorl
from benchmarks.runtime.workloads.many_reactors import ManyReactors

if TYPE_CHECKING:
    from benchmarks.evidence.engines import Engine


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Run the program until the watch has had enough."""
    ring = ManyReactors(params["size"])
    reactorl.run(ring.ours(watch), workers=engine.workers, fast=True)
    return ring.finish(watch)
