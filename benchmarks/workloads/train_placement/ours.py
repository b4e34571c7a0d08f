# SPDX-License-Identifier: Apache-2.0
"""DQN on busy environments, placed in threads or in worker processes."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import TYPE_CHECKING, Any

import jax

from benchmarks.workloads.gym.busy import Busy
from benchmarks.workloads.train_placement import ENVS, STEPS
from reactorl.rl import DQN, Flow, FlowRun

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine

EPISODE = 100
FOREVER = 10**9


class Weights:
    """The weights of a training; hashed only when their digest is taken."""

    def __init__(self, training: FlowRun) -> None:
        self._training = training

    def __repr__(self) -> str:
        leaves = jax.tree.leaves(self._training.weights)
        return hashlib.blake2b(b"".join(leaf.tobytes() for leaf in leaves)).hexdigest()


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Train until the watch has enough slices."""
    turns = round(params["us"] * params["turns_per_us"])
    steps = ENVS * STEPS
    algorithm = DQN(
        total_timesteps=FOREVER * steps,
        num_envs=ENVS,
        num_steps=STEPS,
        hidden=(64,),
        anneal_lr=False,
        buffer_size=10_000,
        learning_starts=64,
        train_frequency=steps,
        target_network_frequency=128 * steps,
    )
    flow = Flow(
        partial(Busy, turns, EPISODE),
        algorithm,
        rollouts=2,
        eval_every=0,
        placement=engine.options["placement"],
    )
    with flow.start(workers=engine.workers) as training:
        weights = Weights(training)
        training.step()
        while watch.tick(weights):
            training.step()
