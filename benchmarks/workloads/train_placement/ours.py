# SPDX-License-Identifier: Apache-2.0
"""DQN on busy environments, placed in threads or in worker processes."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import TYPE_CHECKING, Any

import jax

from benchmarks.workloads.gym.busy import Busy
from benchmarks.workloads.train_placement import ENVS, STEPS
from reactorl.rl import DQN, Flow, ReplayConfig, Run

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine

EPISODE = 100
FOREVER = 10**9


class Weights:
    """The weights of a training; hashed only when their digest is taken."""

    def __init__(self, training: Run) -> None:
        self._training = training

    def __repr__(self) -> str:
        leaves = jax.tree.leaves(self._training.weights)
        return hashlib.blake2b(b"".join(leaf.tobytes() for leaf in leaves)).hexdigest()


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Train until the watch has enough slices."""
    turns = round(params["us"] * params["turns_per_us"])
    flow = Flow(
        partial(Busy, turns, EPISODE),
        DQN(hidden=(64,)),
        num_envs=ENVS,
        rollouts=2,
        steps=STEPS,
        rounds=FOREVER,
        replay=ReplayConfig(10_000, 64, 1, starts_at=64),
        placement=engine.options["placement"],
    )
    with Run(flow, workers=engine.workers) as training:
        weights = Weights(training)
        training.step()
        while watch.tick(weights):
            training.step()
