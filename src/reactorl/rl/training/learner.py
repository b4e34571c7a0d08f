# SPDX-License-Identifier: Apache-2.0
"""The learner: batches in, weights out."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reactorl import Input, Output, Reactor, param, reaction, startup

if TYPE_CHECKING:
    from reactorl.rl.training.algorithm import Algorithm, State
    from reactorl.rl.training.saved import Data, Records


@dataclass(frozen=True)
class LearnerPlan:
    """What a learner is to do."""

    algorithm: Algorithm
    state: State
    """To begin with."""
    lag: int
    """How many rounds weights are on their way; those are part of the state."""
    records: Records


class Learner(Reactor):
    """Learns at the tag at which batches arrive, and sends what it has learned then."""

    batches = Input[Any]()
    weights = Output[Any]()
    metrics = Output[dict[str, float]]()
    errors = Output[Any]()

    plan: LearnerPlan = param()

    def setup(self) -> None:
        """Begin with the plan's state."""
        self.state = self.plan.state
        self.under_way: deque[tuple[int, Any]] = deque(maxlen=max(self.plan.lag, 1))
        self.last_errors: list[Any] | None = None

    @reaction(startup)
    def begin(self) -> None:
        """Take up what was saved."""
        saved = self.plan.records.enter(self.name, self)
        if saved is not None:
            self.state = self.plan.algorithm.restored(self.state, saved["state"])
            self.under_way.extend((time, value) for time, value in saved["under_way"])
            self.last_errors = saved["errors"]

    @reaction(batches, effects=[weights, metrics, errors])
    def learn(self) -> None:
        """Update, and send."""
        algorithm = self.plan.algorithm
        self.state, metrics, errors = algorithm.update(self.state, self.batches.value)
        weights = algorithm.weights(self.state)
        self.under_way.append((self.elapsed, weights))
        self.weights.set(weights)
        self.metrics.set(metrics)
        self.last_errors = None
        if errors is not None:
            self.errors.set(errors)
            self.last_errors = [self.elapsed, errors]

    def save(self) -> Data:
        """Return the state, and which weights are still on their way."""
        return {
            "state": self.plan.algorithm.saved(self.state),
            "under_way": [list(item) for item in self.under_way],
            "errors": self.last_errors,
        }
