# SPDX-License-Identifier: Apache-2.0
"""DQN as the loop that most people write: JAX, and environments in a SyncVectorEnv."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.training import dqn

if TYPE_CHECKING:
    from benchmarks.evidence.engines import Engine


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Train until the watch has had enough."""
    del engine
    dqn.play_loop(params["case"], watch.tick)
    watch.digest = ""
