# SPDX-License-Identifier: Apache-2.0
"""ReactoRL itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import reactorl

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


def run_program(
    program: reactorl.Reactor, engine: Engine, workers: int | None = None
) -> dict[str, Any]:
    """Run a program in fast mode; return numbers about the run."""
    result = reactorl.run(
        program,
        workers=workers or engine.workers,
        fast=True,
        trace=bool(engine.options.get("trace")),
    )
    return {
        "tags": result.tags,
        "events": result.events,
        "reactions": result.reactions,
        "shared_tags": result.shared_tags,
    }
