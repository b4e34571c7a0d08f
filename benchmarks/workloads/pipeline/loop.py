# SPDX-License-Identifier: Apache-2.0
"""DQN as an ordinary loop: JAX, and environments in a SyncVectorEnv."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.workloads.pipeline import dqn

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Train until the watch has enough slices."""
    del engine
    dqn.play_loop(params["case"], watch.tick)
    watch.digest = ""
