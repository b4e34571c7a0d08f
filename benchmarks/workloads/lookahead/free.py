# SPDX-License-Identifier: Apache-2.0
"""The long reaction and the chain on two threads without synchronization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.engines.free_threads import Team
from benchmarks.workloads.lookahead import rows
from benchmarks.workloads.lookahead.plain import Row

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


class Work:
    """One row for each thread."""

    def __init__(self, turns: tuple[tuple[int, ...], ...]) -> None:
        self._turns = turns

    def share(self, part: int, parts: int) -> Row:
        if parts != len(self._turns):
            msg = f"parts must be the number of rows, {len(self._turns)}, got {parts}"
            raise ValueError(msg)
        return Row(self._turns[part])


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Run the threads."""
    Team(Work(rows(params)), watch, engine.workers).run()
