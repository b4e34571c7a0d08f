# SPDX-License-Identifier: Apache-2.0
"""Trainings as trials of Ray Tune.

A trial is a training with the configuration that Tune has chosen. Its result is a
function of that configuration, on whatever node it runs and however often Tune stops,
moves and resumes it. Which trials a scheduler stops is Tune's decision; it may depend
on which results arrive first.
"""

from __future__ import annotations

import json
from collections import deque
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reactorl.rl._public import public
from reactorl.rl.checkpoint.file import read_checkpoint, write_checkpoint
from reactorl.rl.checkpoint.fingerprint import weights_digest
from reactorl.rl.flow.algorithm import FlowError
from reactorl.rl.runs.config import new_run
from reactorl.rl.runs.directory import CHECKPOINT
from reactorl.rl.runs.metrics import EVALUATED, LENGTH, RETURN

try:
    from ray import tune
except ImportError as error:
    _MSG = "reactorl.rl.adapters.ray_tune needs Ray Tune: pip install 'reactorl[tune]'"
    raise ImportError(_MSG) from error

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from reactorl.rl.flow.run import DrivenRun
    from reactorl.rl.flow.task import Iteration, Task

__all__ = ["tune_trainable"]

_METRICS: Final = "tune.json"
"""File of a checkpoint with what the next result is computed from."""
_RECENT: Final = 100
"""Number of episodes whose mean is reported."""
_NAN: Final = float("nan")


@public
def tune_trainable(
    task: Callable[[dict[str, Any]], Task],
    *,
    report_every: int = 10_000,
    mutable: Collection[str] = (),
) -> type[tune.Trainable]:
    """Return a class of Ray Tune that trains a task in each trial.

    A checkpoint of a trial is the directory of a run: ``reactorl eval`` evaluates it,
    and ``read_checkpoint`` reads it. A trial that Tune resumes from its checkpoint
    gives the results of one that was not stopped, bit for bit.

    Each result has ``global_step``, the mean return and length of the last 100 episodes
    (``charts/episodic_return``, ``charts/episodic_length``), the last evaluation
    (``eval/mean_return``), the losses, and the digest of the weights
    (``weights_digest``). Means are NaN as long as there is nothing to average.

    Args:
        task: Returns the task of a trial, given its configuration: for example a
            ``Flow`` whose algorithm has the learning rate of the configuration.
        report_every: Environment steps between two results, rounded to whole
            iterations, at least one.
        mutable: Names of hyperparameters in which a trial may differ from the
            checkpoint that it continues, as Population Based Training wants. Others
            that differ are an error.

    Raises:
        FlowError: ``report_every`` is not positive.

    Example:
        >>> def task(config):
        ...     algorithm = PPO(total_timesteps=50_000, **config)
        ...     return Flow("CartPole-v1", algorithm, seed=1)
        >>> tuner = tune.Tuner(
        ...     tune_trainable(task),
        ...     param_space={"learning_rate": tune.loguniform(1e-4, 1e-2)},
        ...     tune_config=tune.TuneConfig(metric="eval/mean_return", mode="max"),
        ... )
        >>> tuner.fit().get_best_result().config
    """
    if report_every < 1:
        msg = f"report_every must be at least 1, got {report_every}"
        raise FlowError(msg)

    # Named after what it does: Tune names experiments and actors after the class.
    class Training(TaskTrainable):
        make_task = staticmethod(task)
        steps_per_result = report_every
        may_differ = frozenset(mutable)

    return Training


class TaskTrainable(tune.Trainable):  # type: ignore[misc]
    """A trial: the training of one task. ``tune_trainable`` makes subclasses."""

    make_task: Callable[[dict[str, Any]], Task]
    steps_per_result: int
    may_differ: frozenset[str]

    # -- called by Tune -----------------------------------------------------------

    def setup(self, config: dict[str, Any]) -> None:
        """Make the task of the trial."""
        self._task = self.make_task(config)
        self._task.check()
        known = {field.name for field in fields(self._task.algorithm)}
        if unknown := sorted(self.may_differ - known):
            msg = f"mutable must be hyperparameters of {self._task.name}, got {unknown}"
            raise FlowError(msg, f"It has {', '.join(sorted(known))}.")
        self._saved: Any = None
        self._run: DrivenRun[Iteration] | None = None
        self._recent: deque[tuple[float, int]] = deque(maxlen=_RECENT)
        self._metrics: dict[str, float] = {EVALUATED: _NAN}

    def reset_config(self, new_config: dict[str, Any]) -> bool:
        """Begin another trial in this process (``reuse_actors``)."""
        self.cleanup()
        self.setup(new_config)
        return True

    def step(self) -> dict[str, Any]:
        """Train until the next result is due."""
        run, task = self._started(), self._task
        count = max(1, self.steps_per_result // task.steps_per_iteration)
        # From the first iteration on, so that a resumed trial reports at the same ones.
        until = min((run.done // count + 1) * count, task.iterations)
        steps = episodes = 0
        try:
            while run.done < until:
                found = run.step()
                steps += found.steps
                episodes += len(found.episodes)
                self._add(found)
            weights = run.weights
        except BaseException as error:
            self._run = None
            with suppress(Exception):  # the first error is the cause
                run.__exit__(type(error), error, error.__traceback__)
            raise
        returns, lengths = zip(*self._recent, strict=True) if self._recent else ((), ())
        return {
            "global_step": run.done * task.steps_per_iteration,
            "timesteps_this_iter": steps,
            "episodes_this_iter": episodes,
            RETURN: _mean(returns),
            LENGTH: _mean(lengths),
            **self._metrics,
            "weights_digest": weights_digest(weights),
            "done": run.done >= task.iterations,
        }

    def save_checkpoint(self, checkpoint_dir: str) -> None:
        """Write a checkpoint: the directory of a run."""
        path, task = Path(checkpoint_dir), self._task
        data = self._saved if self._run is None else self._run.save()
        new_run(task, path, command=["ray.tune"])
        if data is not None:  # None: nothing is trained yet
            write_checkpoint(path / CHECKPOINT, data, task)
        content = {"episodes": list(self._recent), "metrics": self._metrics}
        (path / _METRICS).write_text(json.dumps(content))

    def load_checkpoint(self, checkpoint: str) -> None:
        """Continue from a checkpoint at the next step."""
        self.cleanup()
        path = Path(checkpoint)
        self._saved = None
        if (path / CHECKPOINT).exists():
            found = read_checkpoint(
                path / CHECKPOINT, self._task, may_differ=self.may_differ
            )
            self._saved = found.data
        content = json.loads((path / _METRICS).read_text())
        self._recent.clear()
        self._recent.extend((float(r), int(n)) for r, n in content["episodes"])
        self._metrics = content["metrics"]

    def cleanup(self) -> None:
        """End the program of the training."""
        run, self._run = self._run, None
        if run is not None:
            run.__exit__(None, None, None)

    # -- parts --------------------------------------------------------------------

    def _started(self) -> DrivenRun[Iteration]:
        """Return the run, which begins at the first step: it may be loaded before."""
        if self._run is None:
            run = self._task.start(workers=self._workers(), saved=self._saved)
            self._saved = None  # the run has it
            run.__enter__()
            self._run = run
        return self._run

    def _workers(self) -> int | None:
        """Return as many workers as the trial has CPUs; results do not depend on it."""
        given = self.trial_resources
        if given is None:
            return None
        return max(1, int(given.bundles[0].get("CPU", 1)))

    def _add(self, found: Iteration) -> None:
        """Note what an iteration gave."""
        self._recent += [(e.episode_return, e.length) for e in found.episodes]
        if found.evaluation is not None:
            self._metrics[EVALUATED] = found.evaluation.mean
        for key, value in (found.metrics or {}).items():
            self._metrics[key] = float(value)


def _mean(values: Collection[float]) -> float:
    return sum(values) / len(values) if values else _NAN
