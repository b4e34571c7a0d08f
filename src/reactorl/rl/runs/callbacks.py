# SPDX-License-Identifier: Apache-2.0
"""Callbacks of a ``Trainer``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl.rl._public import public

if TYPE_CHECKING:
    from pathlib import Path

    from reactorl.rl.flow.evaluation import Evaluated
    from reactorl.rl.flow.task import Iteration
    from reactorl.rl.runs.session import TrainingSession


@public
class Callback:
    """Called by a ``Trainer`` during training; override the methods you need.

    A callback runs between two iterations, when no reactor executes. It may read the
    run (``session.weights``, ``session.step``), write metrics
    (``session.write_metric``), and stop the training (``session.stop``). It does not
    change what is learned, and its state is not saved: in a resumed run it starts from
    scratch. Code that changes learning, such as a schedule, belongs in the algorithm,
    whose class and fields are recorded in the checkpoint and checked on resume.

    After an iteration the order is ``on_iteration``, ``on_evaluation``,
    ``on_checkpoint``; ``on_end`` is the last call. ``on_evaluation`` is not called for
    the final evaluation.
    """

    def on_start(self, session: TrainingSession) -> None:
        """Called before the first iteration, in a resumed run as well."""

    def on_iteration(self, session: TrainingSession, iteration: Iteration) -> None:
        """Called after every iteration."""

    def on_evaluation(self, session: TrainingSession, evaluation: Evaluated) -> None:
        """Called after an evaluation ended."""

    def on_checkpoint(self, session: TrainingSession, path: Path) -> None:
        """Called after a checkpoint was written."""

    def on_end(self, session: TrainingSession) -> None:
        """Called when the training ended or was stopped, not after an error."""


@public
class EarlyStopping(Callback):
    """Stops when the mean return of an evaluation reaches a threshold.

    Args:
        threshold: The mean episode return that is enough.
    """

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold

    def on_evaluation(self, session: TrainingSession, evaluation: Evaluated) -> None:
        """Stop if the mean return is large enough."""
        if evaluation.mean >= self.threshold:
            reached = f"mean return {evaluation.mean:.6g} >= {self.threshold:g}"
            session.stop(f"early stopping: {reached}")
