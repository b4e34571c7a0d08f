# SPDX-License-Identifier: Apache-2.0
"""The star as a plain loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.evidence.workloads.workers.parts import star

if TYPE_CHECKING:
    from benchmarks.evidence.engines import Engine


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Run the loop until the watch has had enough."""
    del engine
    star(params, watch).plain(watch)
