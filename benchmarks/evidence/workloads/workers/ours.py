# SPDX-License-Identifier: Apache-2.0
"""The star as reactors, with so many workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import reactorl
from benchmarks.evidence.workloads.workers.parts import star

if TYPE_CHECKING:
    from benchmarks.evidence.engines import Engine


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Run the program until the watch has had enough."""
    del engine
    program = star(params, watch).ours(watch)
    result = reactorl.run(program, workers=params["workers"], fast=True)
    return {"tags": result.tags, "shared_tags": result.shared_tags}
