# SPDX-License-Identifier: Apache-2.0
"""The clients on threads that never meet: what the cores can do at best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.evidence.workloads.workers.parts import star
from benchmarks.runtime.engines.free import Team

if TYPE_CHECKING:
    from benchmarks.evidence.engines import Engine


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Let the threads run until the watch has had enough."""
    del engine
    Team(star(params, watch), watch, params["workers"]).run()
