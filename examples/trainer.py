# SPDX-License-Identifier: Apache-2.0
"""Trainer, callbacks, and a learning-rate schedule.

``Trainer`` does what ``reactorl train`` does: metrics, checkpoints, a report. Callbacks
run between two iterations: they can write metrics and stop the training, but do not
change what is learned. A schedule does, so it belongs into the algorithm: a subclass
with fields of its own, which are part of the identity of a checkpoint. So a run with a
schedule is reproducible and can be resumed like any other.

Run it: ``python examples/trainer.py`` (needs ``reactorl[train]``)
"""

import math
import tempfile
from dataclasses import dataclass
from pathlib import Path

from reactorl.rl import (
    PPO,
    Callback,
    EarlyStopping,
    Evaluated,
    Flow,
    Trainer,
    TrainingSession,
)


@dataclass(frozen=True, kw_only=True)
class CosinePPO(PPO):
    """PPO whose learning rate follows half a cosine wave."""

    final_learning_rate: float = 1e-4
    """Learning rate at the end of the training."""

    def learning_rate_at(self, progress: float) -> float:
        """Return the learning rate after a fraction of the training."""
        share = (1 + math.cos(math.pi * progress)) / 2
        first, last = self.learning_rate, self.final_learning_rate
        return last + share * (first - last)


class BestReturn(Callback):
    """Writes the best mean return of all evaluations as a metric."""

    def __init__(self) -> None:
        self.best = -math.inf

    def on_evaluation(self, session: TrainingSession, evaluation: Evaluated) -> None:
        """Update the metric."""
        self.best = max(self.best, evaluation.mean)
        session.write_metric("eval/best_return", self.best)
        print(f"step {session.step}: best {self.best:g}")


def main() -> None:
    """Train until an evaluation reaches a mean return of 60."""
    algorithm = CosinePPO(
        total_timesteps=100_000, num_envs=4, num_steps=128, hidden=(32,)
    )
    task = Flow("CartPole-v1", algorithm, eval_every=1_024, eval_episodes=4, seed=1)
    with tempfile.TemporaryDirectory() as directory:
        best = BestReturn()
        trainer = Trainer(
            task,
            Path(directory) / "run",
            callbacks=[best, EarlyStopping(60)],
            final_episodes=10,
            progress=False,
        )
        result = trainer.fit()
        print(result.stopped)
        print("complete:", result.steps == result.total_steps)
        files = sorted(file.name for file in result.directory.iterdir())
        print("files:", *(name for name in files if not name.startswith("events")))


if __name__ == "__main__":
    main()
