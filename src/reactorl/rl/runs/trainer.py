# SPDX-License-Identifier: Apache-2.0
"""Trainer: trains a task in a run directory, as ``reactorl train`` does."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from reactorl import (
    MAX_WORKERS,
    Federation,
    FederationError,
    RayFederation,
    ReactorlError,
)
from reactorl.rl._public import public
from reactorl.rl.checkpoint.file import read_checkpoint
from reactorl.rl.flow.algorithm import FlowError, require
from reactorl.rl.runs.config import algorithm_name, new_run, settings_of, task_of
from reactorl.rl.runs.directory import RunDirectory, RunError
from reactorl.rl.runs.session import TrainingSession

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reactorl.rl.flow.task import Task
    from reactorl.rl.runs.callbacks import Callback
    from reactorl.rl.runs.result import TrainingResult

_log: Final = logging.getLogger(__name__)


@public
@dataclass(frozen=True, kw_only=True)
class TrainerOptions:
    """How to train; none of these changes what is learned."""

    workers: int | None = None
    """Number of threads; default: chosen by the runtime."""
    federates: int | None = None
    """Number of processes that share the rollouts; the first one also learns and
    evaluates. At most one more than rollouts. 'workers' is then the number of threads
    of each. Default: 1, and on a Ray cluster one more than it has nodes."""
    nodes: Literal["ray"] | None = None
    """Where the processes run: on this machine by default, with 'ray' on the nodes of a
    Ray cluster. The first one is always this one."""
    ray_address: str | None = None
    """Address of the Ray cluster, as for 'ray.init'; default: RAY_ADDRESS, or the
    cluster of this machine; if there is none, a local one is started."""
    cpus_per_federate: float = 1.0
    """CPUs that Ray reserves for each process but this one."""
    python: str | None = None
    """Interpreter of the processes on the nodes of a Ray cluster, with reactorl
    installed; default: that of Ray. It may be a free-threaded one, which Ray is not."""
    mixed: bool = False
    """Accept nodes of a Ray cluster that compute other bits than this machine; results
    then depend on where rollouts run."""
    restarts: int = 0
    """How often a federate that is gone begins again from the last checkpoint, or the
    whole training does if that is not possible; see 'federates'."""
    runs_dir: Path = Path("runs")
    """Where the directory of a new run is created."""
    checkpoint_every: int = 10_000
    """Environment steps between two checkpoints; there is one at the end, too."""
    final_episodes: int = 100
    """Episodes of the final evaluation, which are played greedily; 0: none."""
    trace: bool = False
    """Record a trace in the run's directory, for 'reactorl diff'. Costs memory for
    every iteration, and time to digest arrays."""
    timing: bool = False
    """Measure the time of reactions, for 'reactorl trace RUN'."""
    dashboard: bool = False
    """Serve a page that shows the training, on this machine only; the link is printed
    at the start."""
    progress: bool = True
    """Show the progress on stderr."""
    track: bool = False
    """Send metrics to Weights & Biases (pip install wandb)."""
    wandb_project_name: str = "reactorl"
    """Project of Weights & Biases."""
    wandb_entity: str | None = None
    """Entity (team) of Weights & Biases."""


@public
@dataclass(frozen=True, kw_only=True)
class Trainer(TrainerOptions):
    """Trains a task: progress, metrics, checkpoints, evaluation and a report.

    The run gets a directory with its configuration (``config.json``), metrics
    (``metrics.csv``, and for TensorBoard), the newest checkpoint, its learning curve,
    and a report (``report.html``). ``reactorl train`` does the same.

    Example:
        >>> task = Flow("CartPole-v1", PPO(total_timesteps=50_000), seed=1)
        >>> trainer = Trainer(task, "runs/mine", callbacks=[EarlyStopping(475)])
        >>> trainer.fit().final_return
        500.0
    """

    task: Task = field(kw_only=False)
    """The task to train, e.g. ``Flow("CartPole-v1", PPO())``."""
    directory: Path | str | None = field(default=None, kw_only=False)
    """Directory of the run; None: a new one below ``runs_dir``, named after
    environment, algorithm, seed and time."""
    federation: Federation | None = None
    """Where the reactors run, instead of 'federates' and 'nodes': a placement, or a
    ``RayFederation``."""
    callbacks: Sequence[Callback] = ()
    """Called during training, in this order; see ``Callback``."""
    resume: bool = False
    """Continue the run in ``directory`` from its checkpoint. The results are those of
    a run that was not stopped."""
    command: Sequence[str] = field(default_factory=lambda: tuple(sys.orig_argv))
    """The command line that started the run, for its report."""

    @classmethod
    def from_directory(cls, directory: Path | str, **options: Any) -> Trainer:  # noqa: ANN401
        """Return a trainer that resumes a run with its saved configuration.

        Args:
            directory: Of the run.
            options: More arguments of ``Trainer``.

        Raises:
            RunError: There is no such run, or its configuration cannot be used.
        """
        task = task_of(RunDirectory.open(Path(directory)))
        return cls(task, directory, resume=True, **options)

    def __post_init__(self) -> None:
        fits = self.workers is None or 1 <= self.workers <= MAX_WORKERS
        require(fits, self, "workers", f"from 1 to {MAX_WORKERS}")
        several = self.federates is None or self.federates >= 1
        require(several, self, "federates", "at least 1")
        require(self.nodes in (None, "ray"), self, "nodes", "None or 'ray'")
        require(self.cpus_per_federate > 0, self, "cpus_per_federate", "more than 0")
        if self.nodes is None:
            for name in ("ray_address", "python"):
                given = getattr(self, name) is None
                require(given, self, name, "None without nodes='ray'")
        if self.federation is not None:
            for name in ("federates", "nodes"):
                given = getattr(self, name) is None
                require(given, self, name, "None beside a federation")
        require(self.restarts >= 0, self, "restarts", "0 or more")
        require(self.checkpoint_every >= 1, self, "checkpoint_every", "at least 1")
        require(self.final_episodes >= 0, self, "final_episodes", "0 or more")
        if self.resume and self.directory is None:
            msg = "directory must be given to resume a run, got None"
            raise FlowError(msg)
        if self.track and find_spec("wandb") is None:
            msg = "track needs Weights & Biases, which is not installed"
            raise FlowError(msg, "Install it (pip install wandb), or do not track.")

    @cached_property
    def wanted_federation(self) -> Federation | None:
        """Where the reactors run; None: all in this process."""
        if self.federation is not None:
            return self.federation
        if self.nodes is None:
            count = self.federates or 1
            return Federation(count) if count > 1 else None
        return RayFederation(
            num_federates=self.federates,
            cpus_per_federate=self.cpus_per_federate,
            address=self.ray_address,
            python=self.python,
            mixed=self.mixed,
        )

    def fit(self) -> TrainingResult:
        """Train until the end, until a callback stops, or until Ctrl-C.

        Ctrl-C, SIGTERM and SIGHUP finish the iteration and write a checkpoint; a
        second one raises ``KeyboardInterrupt`` at once. SIGHUP stays ignored if it is
        (``nohup``).

        If a federate is lost, it begins again from the last checkpoint, or the whole
        training does, with the same result, as often as ``restarts`` says.

        Raises:
            FlowError: The task does not fit its environment, or cannot be shared by so
                many federates.
            FederationError: A federate is gone, and there is no checkpoint or no
                restart left. The text names it and the last tag that it reported.
            CheckpointError: There is no checkpoint to resume from, or it is of another
                task.
            RunError: The run's directory cannot be created or used.
            ReactorlError: The training failed; a note of the error says how to resume.
            OSError: A file of the run cannot be written.
        """
        if self.wanted_federation is not None:
            self.task.check_federates(self.federates or 2)
        with _same_working_directory() as here:
            self.task.check()  # before anything is written
        with ExitStack() as stack:
            directory = self._open().below(here)
            stack.callback(os.close, directory.lock())
            left, resumes = self.restarts, self.resume
            while True:
                saved: Any = None
                if resumes:
                    saved = read_checkpoint(directory.checkpoint, self.task).data
                tracker = self._tracker(directory)
                session = TrainingSession(self, directory, saved, tracker, left)
                try:
                    return session.run()
                except OSError as error:
                    error.add_note(session.last_checkpoint)
                    raise
                except ReactorlError as error:
                    lost = isinstance(error, FederationError)
                    left = session.restarts_left if lost else left
                    if not (lost and left and session.has_checkpoint):
                        error.add_note(session.last_checkpoint)
                        with suppress(OSError):
                            session.report("failed")
                        raise
                    left, resumes = left - 1, True
                    again = session.restart_text
                    what = getattr(error, "what", str(error))
                    _log.warning("%s. %s Restarts left: %d.", what, again, left)

    def _open(self) -> RunDirectory:
        """Return the directory of the run, which is created unless it is resumed."""
        if self.resume:
            assert self.directory is not None
            found = RunDirectory.open(Path(self.directory))
            name = algorithm_name(self.task)
            if found.config["algorithm"] != name:
                what = f"this is a run of {found.config['algorithm']}, not of {name}"
                remedy = "Resume it with the algorithm that it was started with."
                raise RunError(found.path, what, remedy)
            return found
        return new_run(
            self.task,
            None if self.directory is None else Path(self.directory),
            runs=Path(self.runs_dir),
            command=self.command,
        )

    def _tracker(self, directory: RunDirectory) -> Any:  # noqa: ANN401
        """Return a run of Weights & Biases, if metrics are to be sent there."""
        if not self.track:
            return None
        import wandb

        return wandb.init(
            project=self.wandb_project_name,
            entity=self.wandb_entity,
            config=settings_of(self.task),
            name=directory.path.name,
        )


@contextmanager
def _same_working_directory() -> Iterator[Path]:
    """Yield the working directory, and return to it if an environment changes it."""
    try:
        here = Path.cwd()
    except FileNotFoundError:  # it was removed
        yield Path()
        return
    try:
        yield here
    finally:
        with suppress(OSError):
            os.chdir(here)
