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

    from reactorl.rl.checkpoint.registry import Data, StateRegistry
    from reactorl.rl.flow.algorithm import Algorithm, Array, Metrics, State


@dataclass(frozen=True)
class LearnerPlan:
    """Parameters of a learner."""

    algorithm: Algorithm
    state: State = field(repr=False)
    """The initial state; of a resumed run, the saved one."""
    lag: int
    """Policy lag: weights of so many iterations are in flight, and are saved."""
    registry: StateRegistry = field(repr=False)


class LearnerBase(Reactor):
    """Has the learner's state, and sends weights, metrics and TD errors."""

    weights = Output[Any]()
    metrics = Output[dict[str, float]]()
    errors = Output[Any]()

    plan: LearnerPlan = param()

    def setup(self) -> None:
        """Start with the plan's state."""
        self.state = self.plan.state
        self.under_way: deque[tuple[int, Any]] = deque(maxlen=max(self.plan.lag, 1))
        self.last_errors: list[Any] | None = None

    @reaction(startup)
    def begin(self) -> None:
        """Restore what was in flight, to be saved again."""
        saved = self.plan.registry.enter(self.name, self)
        if saved is not None:
            self.under_way.extend((time, value) for time, value in saved["under_way"])
            self.last_errors = saved["errors"]

    def send(self, metrics: Metrics, errors: Sequence[Array] | None) -> None:
        """Send the weights of a new state, metrics and TD errors."""
        weights = self.plan.algorithm.weights(self.state)
        self.under_way.append((self.elapsed, weights))
        self.weights.set(weights)
        self.metrics.set(metrics)
        self.last_errors = None
        if errors is not None:
            self.errors.set(errors)
            self.last_errors = [self.elapsed, errors]

    def save(self) -> Data:
        """Return the state, and the weights and errors in flight."""
        return {
            "state": self.plan.algorithm.serialize(self.state),
            "under_way": [list(item) for item in self.under_way],
            "errors": self.last_errors,
        }


@public
class Learner(LearnerBase):
    """Learns at the tag at which batches arrive, and sends the new weights."""

    batches = Input[Any]()

    @reaction(
        batches, effects=[LearnerBase.weights, LearnerBase.metrics, LearnerBase.errors]
    )
    def learn(self) -> None:
        """Update the state, and send."""
        algorithm, batches = self.plan.algorithm, self.batches.value
        self.state, metrics, errors = algorithm.update(self.state, batches)
        self.send(metrics, errors)
