# SPDX-License-Identifier: Apache-2.0
"""PPO on CartPole, with rollouts in native code or in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.workloads.train_placement.ours import FOREVER, Weights
from reactorl.rl import PPO, Flow

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Train until the watch has enough slices."""
    algorithm = PPO(total_timesteps=FOREVER, anneal_lr=False)
    flow = Flow("CartPole-v1", algorithm, eval_every=0, native=params["native"])
    with flow.start(workers=engine.workers) as training:
        weights = Weights(training)
        training.step()
        while watch.tick(weights):
            training.step()
