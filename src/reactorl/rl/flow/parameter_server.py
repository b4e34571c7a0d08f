# SPDX-License-Identifier: Apache-2.0
"""A parameter server: several learners compute gradients, one reactor applies them.

::

    replay --batches--> learner[0..n) --gradients--> server --weights--> rollouts
                            ^                           |
                            +-- state, one iter. later -+

The replay buffer draws a batch for each learner in every iteration; there is one
buffer, so transitions are stored once and priorities are in one place. All learners of
an iteration compute with the same state, concurrently. The server applies the mean of
their gradients, summed in the order of learners, in one step of the optimizer: an
iteration with n learners is one update with a batch n times as large, for any number
of workers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from reactorl import Input, MultiInput, Output, Reactor, param, reaction
from reactorl.rl.flow.learner import LearnerBase, LearnerPlan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.flow.algorithm import Array, Batch, Metrics, State

Gradients: TypeAlias = Any
"""Read-only arrays in dicts, lists and tuples."""


@runtime_checkable
class SplitsUpdate(Protocol):
    """An algorithm whose update has two halves, for different reactors."""

    def gradients(
        self, state: State, batch: Batch
    ) -> tuple[Gradients, Metrics, Array | None]:
        """Return the gradients of one batch, metrics, and TD errors if there are."""

    def apply(self, state: State, gradients: Gradients) -> State:
        """Return the state after one step of the optimizer."""


@dataclass(frozen=True, slots=True)
class GradientBatch:
    """The result of one learner in an iteration."""

    gradients: Gradients
    metrics: Metrics
    errors: Array | None


class GradientLearner(Reactor):
    """Computes gradients at the tag at which batches arrive."""

    batches = Input[Any]()
    """One for each learner, in their order."""
    current = Input[Any]()
    """A new state of the server, used from the tag at which it arrives."""
    gradients = Output[GradientBatch]()

    plan: LearnerPlan = param()
    bank_index: int = param(0)

    def setup(self) -> None:
        """Start with the plan's state."""
        self.state = self.plan.state

    @reaction(current)
    def take(self) -> None:
        """Compute with this state from now on."""
        self.state = self.current.value

    @reaction(batches, effects=[gradients])
    def compute(self) -> None:
        """Send the gradients of this learner's batch."""
        algorithm: Any = self.plan.algorithm
        batch = self.batches.value[self.bank_index]
        self.gradients.set(GradientBatch(*algorithm.gradients(self.state, batch)))


class Server(LearnerBase):
    """Updates the state at the tag at which gradients arrive, and sends weights.

    It takes the place of the learner in the rest of the program.
    """

    gradients = MultiInput[GradientBatch]()
    state_sent = Output[Any]()

    @reaction(
        gradients,
        effects=[
            state_sent,
            LearnerBase.weights,
            LearnerBase.metrics,
            LearnerBase.errors,
        ],
    )
    def learn(self) -> None:
        """Apply the mean of all gradients, and send."""
        algorithm: Any = self.plan.algorithm
        found: list[GradientBatch] = list(self.gradients.values())
        mean = mean_of([each.gradients for each in found])
        self.state = algorithm.apply(self.state, mean)
        self.state_sent.set(self.state)
        errors = [each.errors for each in found if each.errors is not None]
        metrics = mean_of([each.metrics for each in found])
        self.send(metrics, errors if len(errors) == len(found) else None)


def mean_of(parts: Sequence[Any]) -> Any:  # noqa: ANN401
    """Return the mean of arrays or numbers in equal dicts, lists and tuples.

    They are summed in their order, because sums of floats depend on it.
    """
    first = parts[0]
    if isinstance(first, dict):
        return {key: mean_of([part[key] for part in parts]) for key in first}
    if isinstance(first, list | tuple):
        each = [mean_of(place) for place in zip(*parts, strict=True)]
        return each if isinstance(first, list) else tuple(each)
    total = first
    for part in parts[1:]:
        total = total + part
    return total / len(parts)
