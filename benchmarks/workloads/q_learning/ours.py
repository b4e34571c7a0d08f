# SPDX-License-Identifier: Apache-2.0
"""Rollouts, replay buffer and learner as reactors: the dataflow of the paper.

A ``Flow`` of ``reactorl.rl`` would have other random numbers (those of its reactors)
than engines without it can have, so the parts are connected by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import reactorl
from benchmarks.workloads.q_learning import parts
from reactorl import (
    Input,
    MultiInput,
    Output,
    Reactor,
    bank,
    param,
    reaction,
    shutdown,
    startup,
)

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


class Rollout(Reactor):
    """Plays with the received weights."""

    weights = Input[Any]()
    steps = Output[Any]()
    count: int = param()

    @reaction(startup)
    def make(self) -> None:
        """Make the environment, on this reactor's home worker."""
        self.rollout = parts.Rollout(self.bank_index)

    @reaction(weights, effects=[steps])
    def play(self) -> None:
        """Collect steps, and send them."""
        self.steps.set(self.rollout.collect(self.count, self.weights.value))

    @reaction(shutdown)
    def close(self) -> None:
        """Close the environment."""
        self.rollout.close()


class Replay(Reactor):
    """Stores steps, and sends a batch of them."""

    steps = MultiInput[Any]()
    batch = Output[Any]()
    size: int = param()

    def setup(self) -> None:
        """Begin empty."""
        self.replay = parts.Replay()
        self.replay.begin(self.size)

    @reaction(steps, effects=[batch])
    def keep_and_draw(self) -> None:
        """Add the received steps, in the order of rollouts."""
        self.batch.set(self.replay.add_and_draw(*self.steps.values()))


class Learner(Reactor):
    """Learns, and sends the weights."""

    batch = Input[Any]()
    weights = Output[Any]()
    learner: parts.Learner = param()

    @reaction(startup, effects=[weights])
    def begin(self) -> None:
        """Send the initial weights."""
        self.weights.set(self.learner.weights)

    @reaction(batch, effects=[weights])
    def learn(self) -> None:
        """Update, and begin the next round."""
        if self.learner.learn(self.batch.value):
            self.weights.set(self.learner.weights)


class Main(Reactor):
    """All of them."""

    width: int = param()
    count: int = param()
    size: int = param()
    learning: parts.Learner = param()

    rollouts = bank(Rollout(count=count), width=width)
    replay = Replay(size=size)
    learner = Learner(learner=learning)

    def build(self) -> None:
        """Connect them."""
        self.connect(
            self.learner.weights, self.rollouts.weights, after=0, broadcast=True
        )
        self.connect(self.rollouts.steps, self.replay.steps)
        self.connect(self.replay.batch, self.learner.batch)


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Train until the watch has enough slices."""
    learning = parts.Learner(watch)
    program = Main(
        width=params["rollouts"],
        count=params["steps"],
        size=params["batch"],
        learning=learning,
    )
    reactorl.run(program, workers=engine.workers, fast=True)
    return learning.more()
