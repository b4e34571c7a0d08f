# SPDX-License-Identifier: Apache-2.0
"""What an algorithm is to a flow: how to act, and how to learn from a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from reactorl import ReactorlError
from reactorl.rl._public import public

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from gymnasium import Space

    Array: TypeAlias = np.ndarray[Any, Any]
    Batch: TypeAlias = Mapping[str, Array]
    Random: TypeAlias = np.random.Generator  # noqa: TID251

    from reactorl.rl.checkpoint.registry import Data

Weights: TypeAlias = Any
"""What acting needs: arrays that nobody changes, in dicts and lists."""
State: TypeAlias = Any
"""What learning needs: weights, the optimiser's memory, counters; the same in form."""
Metrics: TypeAlias = "dict[str, float]"


@public
class FlowError(ReactorlError):
    """The parts of a flow do not fit together.

    Attributes:
        what: The fact.
        remedy: What to do about it.
    """

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(what, remedy=remedy)
        self.args = (what, remedy)


@dataclass(frozen=True, slots=True)
class Spaces:
    """What an environment shows and takes."""

    observation: Space[Any]
    action: Space[Any]


@public
class Algorithm(Protocol):
    """How to act and how to learn. Functions of their arguments, nothing else.

    All randomness comes from the generators that are passed in, so that the same seed
    gives the same numbers wherever a reactor runs.
    """

    name: str
    uses_replay: bool
    """Whether it learns from a replay buffer; if not, from what was just collected."""

    def check(self, spaces: Spaces) -> None:
        """Refuse spaces that it cannot use.

        Raises:
            FlowError: It cannot.
        """

    def begin(self, spaces: Spaces, seed: int) -> State:
        """Return the state before the first update."""

    def weights(self, state: State) -> Weights:
        """Return what acting needs of a state; nobody changes it afterwards."""

    def act(
        self, weights: Weights, observations: Array, random: Random, progress: float
    ) -> tuple[Array, Batch]:
        """Return an action for each observation, and what learning wants to know of it.

        Args:
            weights: What was learned.
            observations: One row each.
            random: For exploration.
            progress: Which part of the training is over, from 0 to 1.
        """

    def act_best(self, weights: Weights, observations: Array) -> Array:
        """Return the best action for each observation, without exploring."""

    def update(
        self, state: State, batches: Sequence[Batch]
    ) -> tuple[State, Metrics, Sequence[Array] | None]:
        """Learn from batches, one after the other.

        Returns:
            The new state, what there is to say about it, and how wrong it was about
            each row of each batch, where a replay buffer has a use for that.
        """

    def saved(self, state: State) -> Data:
        """Return a state as plain data."""

    def restored(self, like: State, data: Data) -> State:
        """Return a state from plain data; ``like`` is one of the same form."""


@runtime_checkable
class ChecksRounds(Protocol):
    """An algorithm that has something to say about how large a round is."""

    def check_round(self, steps: int, num_envs: int) -> None:
        """Refuse rounds that it cannot learn from.

        Args:
            steps: How many steps each environment does in a round.
            num_envs: How many environments there are.

        Raises:
            FlowError: It cannot.
        """
