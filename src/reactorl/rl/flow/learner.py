# SPDX-License-Identifier: Apache-2.0
"""The learner: batches in, weights out."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reactorl import Input, Output, Reactor, param, reaction, startup
from reactorl.rl._public import public

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.checkpoint.registry import Data, Records
    from reactorl.rl.flow.algorithm import Algorithm, Array, Metrics, State


@dataclass(frozen=True)
class LearnerPlan:
    """What a learner is to do."""

    algorithm: Algorithm
    state: State = field(repr=False)
    """To begin with."""
    lag: int
    """How many rounds weights are on their way; those are part of the state."""
    records: Records = field(repr=False)


class Teacher(Reactor):
    """Has what was learned, and tells the other parts of a flow about it."""

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

    def tell(self, metrics: Metrics, errors: Sequence[Array] | None) -> None:
        """Send what there is to say about a new state, at the current tag."""
        weights = self.plan.algorithm.weights(self.state)
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


@public
class Learner(Teacher):
    """Learns at the tag at which batches arrive, and sends what it has learned then."""

    batches = Input[Any]()

    @reaction(batches, effects=[Teacher.weights, Teacher.metrics, Teacher.errors])
    def learn(self) -> None:
        """Update, and send."""
        algorithm, batches = self.plan.algorithm, self.batches.value
        self.state, metrics, errors = algorithm.update(self.state, batches)
        self.tell(metrics, errors)
