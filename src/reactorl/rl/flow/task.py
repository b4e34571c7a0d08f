# SPDX-License-Identifier: Apache-2.0
"""What can be trained, to whoever trains it: the command line knows no more than this.

``Flow`` and ``IPPO`` are such tasks. A task is a dataclass whose fields say everything
that its numbers follow from: checkpoints are for the task whose fields are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, Unpack

from reactorl.rl._public import public

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reactorl import Reactor
    from reactorl.diagram import Graph
    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.flow.algorithm import Metrics, Weights
    from reactorl.rl.flow.evaluation import Evaluated
    from reactorl.rl.flow.run import RunOptions
    from reactorl.rl.flow.trajectory import Episode


@public
@dataclass(frozen=True)
class Round:
    """What a round gave."""

    number: int
    steps: int
    """How many steps of environments were made in it."""
    episodes: tuple[Episode, ...]
    """Those that ended in it, in the order of environments."""
    metrics: Metrics | None
    """What there is to say about learning, if somebody learned."""
    evaluation: Evaluated | None
    """What an evaluation came to that ended in it."""


class Training(Protocol):
    """A training under way; a context manager."""

    done: int
    """How many rounds were done."""

    @property
    def session(self) -> Any:  # noqa: ANN401
        """The driven program."""

    @property
    def weights(self) -> Weights:
        """What acting needs of what has been learned so far."""

    def __enter__(self) -> Self:
        """Make all parts."""

    def __exit__(self, *error: Any) -> None:  # noqa: ANN401
        """End the program."""

    def step(self) -> Round:
        """Do one round."""

    def save(self) -> dict[str, Data]:
        """Return the state of everything between two rounds, as plain data."""


class Task(Protocol):
    """What is trained, on what, and how long."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def name(self) -> str:
        """What people call the algorithm."""

    @property
    def rounds(self) -> int:
        """How many rounds the training has."""

    @property
    def seed(self) -> int:
        """Everything random follows from it."""

    @property
    def steps_per_round(self) -> int:
        """How many steps all environments do in a round, together."""

    def check(self) -> None:
        """Refuse what does not fit together, before anything runs.

        Raises:
            FlowError: Something does not.
        """

    def main(self) -> Reactor:
        """Return the main reactor, for looking at it."""

    def graph(self) -> Graph:
        """Return a picture of the program."""

    def start(self, **options: Unpack[RunOptions]) -> Training:
        """Return a training of it, which begins when it is entered."""

    def learned(self, saved: Mapping[str, Data]) -> Weights:
        """Return what acting needs of what ``Training.save`` returned."""

    def play(
        self,
        weights: Weights,
        *,
        episodes: int,
        seed: int,
        watch: Callable[[Any], None] | None = None,
    ) -> Sequence[Episode]:
        """Play episodes without exploring.

        Args:
            weights: What was learned.
            episodes: How many.
            seed: Of the first environment; others have the next ones.
            watch: Called with an environment that can be drawn, after each of its
                resets and steps; then there is only one.
        """
