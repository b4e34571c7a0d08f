# SPDX-License-Identifier: Apache-2.0
"""A ring of plain objects, called in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.runtime.workloads.many_reactors import ManyReactors

if TYPE_CHECKING:
    from benchmarks.evidence.engines import Engine


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Run the loop until the watch has had enough."""
    del engine
    ring = ManyReactors(params["size"])
    ring.plain(watch)
    return ring.finish(watch)
