# SPDX-License-Identifier: Apache-2.0
"""A parameter server: several learners compute gradients, one reactor applies them.

::

    replay --batches--> learner[0..n) --gradients--> server --weights--> rollouts
                            ^                           |
                            +---- known, a round later -+

The replay buffer draws a batch for each learner in every round; there is one buffer,
so that steps are kept once and priorities are in one place. All learners of a round
compute with the same state, side by side. The server takes the mean of what they found,
in the order of learners, and does one step of the optimiser. So a round with n learners
is one update with a batch n times as large, whatever the number of workers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from reactorl import Input, MultiInput, Output, Reactor, param, reaction
from reactorl.rl.flow.learner import LearnerPlan, Teacher

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.flow.algorithm import Array, Batch, Metrics, State

Gradients: TypeAlias = Any
"""Arrays that nobody changes, in dicts, lists and tuples."""


@runtime_checkable
class GivesGradients(Protocol):
    """An algorithm whose update has two halves, which different reactors can do."""

    def gradients(
        self, state: State, batch: Batch
    ) -> tuple[Gradients, Metrics, Array | None]:
        """Return which way to go from a state, by one batch.

        Returns:
            The gradients, what there is to say about them, and how wrong the state was
            about each row, where a replay buffer has a use for that.
        """

    def apply(self, state: State, gradients: Gradients) -> State:
        """Return the state after one step of the optimiser."""


@dataclass(frozen=True, slots=True)
class Found:
    """What one learner found in a round."""

    gradients: Gradients
    metrics: Metrics
    errors: Array | None


class GradientLearner(Reactor):
    """Computes gradients at the tag at which batches arrive, with the state it has.

    A state counts from the tag at which it arrives; all of them are the server's.
    """

    batches = Input[Any]()
    """One for each learner, in their order."""
    known = Input[Any]()
    found = Output[Found]()

    plan: LearnerPlan = param()
    bank_index: int = param(0)

    def setup(self) -> None:
        """Begin with the plan's state."""
        self.state = self.plan.state

    @reaction(known)
    def take(self) -> None:
        """Compute with this one from now on."""
        self.state = self.known.value

    @reaction(batches, effects=[found])
    def compute(self) -> None:
        """Send the gradients of this learner's batch."""
        algorithm: Any = self.plan.algorithm
        batch = self.batches.value[self.bank_index]
        self.found.set(Found(*algorithm.gradients(self.state, batch)))


class Server(Teacher):
    """Learns at the tag at which gradients arrive, and sends what it has learned then.

    To a flow it is what the learner is otherwise.
    """

    found = MultiInput[Found]()
    known = Output[Any]()

    @reaction(found, effects=[known, Teacher.weights, Teacher.metrics, Teacher.errors])
    def learn(self) -> None:
        """Apply the mean of all gradients, and send."""
        algorithm: Any = self.plan.algorithm
        found: list[Found] = list(self.found.values())
        gradients = mean_of([each.gradients for each in found])
        self.state = algorithm.apply(self.state, gradients)
        self.known.set(self.state)
        errors = [each.errors for each in found if each.errors is not None]
        metrics = mean_of([each.metrics for each in found])
        self.tell(metrics, errors if len(errors) == len(found) else None)


def mean_of(parts: Sequence[Any]) -> Any:  # noqa: ANN401
    """Return the mean of arrays or numbers in equal dicts, lists and tuples.

    They are added in their order: sums of floats depend on it.
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
