# SPDX-License-Identifier: Apache-2.0
"""One training under way, with everything around it: what ``Trainer.fit`` does."""

from __future__ import annotations

import logging
import signal
import sys
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Final

from reactorl._util.files import write_atomic
from reactorl._util.interrupts import remembered_interrupts
from reactorl._util.status_line import StatusLine
from reactorl.rl._public import public
from reactorl.rl.checkpoint.file import write_checkpoint
from reactorl.rl.checkpoint.fingerprint import weights_digest
from reactorl.rl.checkpoint.not_exact import described_not_exact, not_exact
from reactorl.rl.runs.config import algorithm_name, default_settings
from reactorl.rl.runs.machine import machine_rows
from reactorl.rl.runs.metrics import CUT, FINAL, RETURN, MetricsWriter, read_metrics
from reactorl.rl.runs.plot import draw, read_curve
from reactorl.rl.runs.progress import Display, Progress
from reactorl.rl.runs.report import Outcome, write_report
from reactorl.rl.runs.result import TrainingResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reactorl import Program, Result, Watch
    from reactorl.dashboard import Dashboard, Feed
    from reactorl.rl.flow.algorithm import Weights
    from reactorl.rl.flow.run import DrivenRun
    from reactorl.rl.flow.task import Iteration
    from reactorl.rl.runs.directory import RunDirectory
    from reactorl.rl.runs.report import Phase
    from reactorl.rl.runs.trainer import Trainer

_log: Final = logging.getLogger(__name__)
FINAL_SEED: Final = 2_000_000
"""Added to the seed for the final evaluation: other episodes than all before."""


@public
class TrainingSession:
    """A training run in progress; callbacks get it.

    Attributes:
        trainer: Whose training it is.
        task: What is trained.
        directory: Of the run.
    """

    def __init__(
        self,
        trainer: Trainer,
        directory: RunDirectory,
        saved: Any,  # noqa: ANN401
        tracker: Any,  # noqa: ANN401
        restarts: int = 0,
    ) -> None:
        self._restarts = restarts
        self.trainer = trainer
        self.task = trainer.task
        self.directory = directory
        self._saved = saved
        self._tracker = tracker
        self._written = self._done = 0 if saved is None else int(saved["round"])
        self._first = self._done + 1
        self._run: DrivenRun[Iteration]
        self._metrics: MetricsWriter
        self._program: Program | None = None
        self._dashboard: Dashboard | None = None
        self._seconds = 0.0
        self._digest = ""
        self._final_returns: Sequence[float] = ()
        self._cut = ""
        self._stop = ""
        self._trace_error: OSError | None = None
        self._not_exact = described_not_exact(not_exact(saved))

    # -- for callbacks ----------------------------------------------------------------

    @property
    def iteration(self) -> int:
        """Number of iterations that are done."""
        return self._done

    @property
    def step(self) -> int:
        """Number of environment steps that are done."""
        return self._done * self.task.steps_per_iteration

    @property
    def weights(self) -> Weights:
        """The current weights."""
        return self._run.weights

    def write_metric(self, key: str, value: float) -> None:
        """Write a value to ``metrics.csv``, TensorBoard and the dashboard."""
        self._metrics.write(self.step, key, value)

    def stop(self, reason: str) -> None:
        """Stop the training after this iteration; a checkpoint is written."""
        self._stop = self._stop or reason

    # -- the training -----------------------------------------------------------------

    @property
    def last_checkpoint(self) -> str:
        """How to resume, as a sentence."""
        if not self._written:
            return "There is no checkpoint yet."
        steps = self._written * self.task.steps_per_iteration
        return (
            f"The last complete checkpoint is of step {steps}; resume from it with "
            f"--resume {self.directory.shown}."
        )

    @property
    def has_checkpoint(self) -> bool:
        """Whether the training can be resumed."""
        return bool(self._written)

    @property
    def restarts_left(self) -> int:
        """How often a federate may still be lost."""
        if self._program is None:  # it could not start
            return self._restarts
        return self._run.session.restarts_left

    @property
    def restart_text(self) -> str:
        """Where the training starts again, as a sentence."""
        steps = self._written * self.task.steps_per_iteration
        return f"The training starts again from the checkpoint of step {steps:,}."

    @property
    def title(self) -> str:
        """Algorithm and environment."""
        return f"{self.task.name} on {self.directory.env_id}"

    def run(self) -> TrainingResult:
        """Train, and leave everything in the run's directory."""
        task, trainer = self.task, self.trainer
        with ExitStack() as stack:
            starting = stack.enter_context(ExitStack())
            starting.enter_context(remembered_interrupts())
            run = self._run = task.start(
                workers=trainer.workers,
                federation=trainer.wanted_federation,
                restarts=self._restarts,
                saved=self._saved,
                trace="values" if trainer.trace else False,
                timing=trainer.timing,
                at_start=self._watch,
                at_end=self._write_trace,
            )
            self._saved = None  # the run has it
            self._program = run.program
            if not self._written:
                self._write_graph()
            feed = self._serve_dashboard(stack)
            self._metrics = MetricsWriter(
                self.directory.path,
                iterations=task.iterations,
                done=self.step,
                track=self._tracker,
                also=None if feed is None else feed.number,
            )
            stack.callback(self._metrics.close)
            progress = Progress(task, run.done, self._returns(), title=self.title)
            self._show_preprocessing()
            starting.close()
            with _stop_signals() as signals, run:
                self._call("on_start")
                with Display(progress) if trainer.progress else nullcontext() as shown:
                    while run.done < task.iterations and not (signals or self._stop):
                        self._iterate(progress, feed)
                        if shown is not None:
                            shown.update()
                    if signals:
                        progress.note = "stopping: writing a checkpoint"
                        self._note(progress.note)
                self._checkpoint()
                weights = run.weights
            complete = run.done == task.iterations
            if not signals:
                self._evaluate(weights)
            if not complete and self._dashboard is not None:
                self._dashboard.end("stopped")
            self._seconds = self._metrics.seconds
            self._digest = weights_digest(weights)
            self._call("on_end")
            self._metrics.flush()
        self._draw()
        self.report("ended" if complete else "stopped")
        return TrainingResult(
            title=self.title,
            algorithm=algorithm_name(task),
            weights=weights,
            digest=self._digest,
            directory=self.directory.path,
            shown=str(self.directory.shown),
            iterations=run.done,
            steps=self.step,
            total_steps=task.iterations * task.steps_per_iteration,
            seconds=self._seconds,
            last_returns=list(progress.returns),
            final_returns=self._final_returns,
            final_cut=self._cut,
            stopped="" if complete else self._stop or "stopped",
            signal=signals[0] if signals else None,
            trace_error=self._trace_error,
            traced=trainer.trace or trainer.timing,
            not_exact=tuple(self._not_exact),
        )

    def _show_preprocessing(self) -> None:
        steps = self.task.preprocessing_steps
        if self.trainer.progress and steps:
            with suppress(OSError):  # e.g. a closed terminal or pipe
                print(f"preprocessing: {', '.join(steps)}", file=sys.stderr, flush=True)

    def _iterate(self, progress: Progress, feed: Feed | None) -> None:
        """Do one iteration, and what is due after it."""
        run, task = self._run, self.task
        found = run.step()
        self._done = run.done
        self._metrics.add(found, self.step)
        if feed is not None:
            feed.steps = self.step
        progress.add(found)
        progress.evaluating = run.evaluation
        self._seconds = self._metrics.seconds
        self._call("on_iteration", found)
        if found.evaluation is not None:
            self._call("on_evaluation", found.evaluation)
        every = max(1, self.trainer.checkpoint_every // task.steps_per_iteration)
        if found.number % every == 0:
            self._checkpoint()

    def _call(self, name: str, *arguments: Any) -> None:  # noqa: ANN401
        for callback in self.trainer.callbacks:
            getattr(callback, name)(self, *arguments)

    def _checkpoint(self) -> None:
        if self._written == self._done:
            return
        self._metrics.flush()
        path = self.directory.checkpoint
        saved = self._run.save()
        write_checkpoint(path, saved, self.task)
        self._written = self._done
        self._warn_of(described_not_exact(not_exact(saved)))
        self._note(f"checkpoint at step {self.step:,}")
        self._call("on_checkpoint", path)

    def _warn_of(self, not_exact: list[str]) -> None:
        """Log which environments cannot be resumed exactly, if that has changed."""
        for sentence in not_exact:
            if sentence not in self._not_exact:
                _log.warning("%s", sentence)
                self._note(sentence)
        self._not_exact = not_exact

    def _evaluate(self, weights: Weights) -> None:
        """Play the episodes of the final evaluation."""
        count = self.trainer.final_episodes
        if not count:
            return
        self._note(f"playing {count} episodes for the final return")
        seed = self.task.seed + FINAL_SEED
        limit = f"episodes are cut at {self.task.max_eval_steps:,} steps"
        with StatusLine(is_on=self.trainer.progress) as line:
            episodes = self.task.play(
                weights,
                episodes=count,
                seed=seed,
                report=lambda done: line.show(f"final evaluation: {done} ({limit})"),
            )
        self._final_returns = [episode.episode_return for episode in episodes]
        self._cut = self.task.cut_text(episodes)
        mean = sum(self._final_returns) / len(self._final_returns)
        self._metrics.write(self.step, FINAL, mean)
        num_cut = sum(episode.is_cut for episode in episodes)
        if num_cut:
            self._metrics.write(self.step, CUT, num_cut)
            self._note(self._cut)
        self._note(f"final return {mean:.4g}")

    # -- dashboard --------------------------------------------------------------------

    def _serve_dashboard(self, stack: ExitStack) -> Feed | None:
        """Serve a dashboard, if it is wanted; return its feed."""
        if not self.trainer.dashboard:
            return None
        from reactorl.dashboard import served

        assert self._program is not None
        task = self.task
        self._dashboard = stack.enter_context(
            served(
                self._program,
                title=self.title,
                facts=[("run", self.directory.path.name), ("seed", str(task.seed))],
                steps=task.iterations * task.steps_per_iteration,
                streams=["stdout"],
            )
        )
        if self._dashboard is None:
            return None
        feed = self._dashboard.feed
        feed.steps = self.step
        if self._written:
            for step, _, key, value in read_metrics(self.directory.metrics):
                if step <= feed.steps:
                    feed.number(step, key, value)
            feed.note(f"resumed at step {feed.steps:,}")
        return feed

    def _watch(self, watch: Watch) -> None:
        if self._dashboard is not None:
            self._dashboard.watch(watch)

    def _note(self, text: str) -> None:
        if self._dashboard is not None:
            self._dashboard.feed.note(text)

    # -- files ------------------------------------------------------------------------

    def _returns(self) -> Iterator[float]:
        """Yield the returns of episodes before the run was resumed."""
        if self._written:
            rows = read_metrics(self.directory.metrics)
            yield from (value for _, _, key, value in rows if key == RETURN)

    def _write_trace(self, ended: Result) -> None:
        """Write the trace and the times of the iterations of this process."""
        trainer = self.trainer
        if not (trainer.trace or trainer.timing):
            return
        from reactorl.diagram import scene

        name = f"rounds-from-{self._first}.trace.gz"
        try:
            ended.save_trace(
                self.directory.path / name,
                scene=scene(ended.program).to_json(),
                trace=trainer.trace,
                timing=trainer.timing,
            )
        except OSError as error:
            self._trace_error = error

    def _write_graph(self) -> None:
        graph = self.task.graph(self._program)
        text = f"# {self.directory.path.name}\n\n```mermaid\n{graph}\n```\n"
        write_atomic(self.directory.path / "dataflow.md", text.encode())

    def _draw(self) -> None:
        path = self.directory.path
        curve = read_curve(path.name, self.directory.metrics)
        draw([curve], self.title, [path / "curve.png", path / "curve.svg"])

    def report(self, phase: Phase) -> None:
        """Write the report, if there is something to show."""
        if self._program is None:
            return
        from reactorl.diagram import scene

        task = self.task
        name, path = algorithm_name(task), str(self.directory.shown)
        resume = ["reactorl", "train", name, "--resume", path]
        outcome = Outcome(
            title=self.title,
            phase=phase,
            scene=scene(self._program),
            steps=self.step,
            total=task.iterations * task.steps_per_iteration,
            seconds=self._seconds,
            digest=self._digest,
            returns=self._final_returns,
            cut=self._cut,
            defaults=default_settings(task),
            resume=() if self._done == task.iterations else resume,
            not_exact=self._not_exact,
            machine=machine_rows(self.trainer.workers),
        )
        write_report(self.directory, outcome)


@contextmanager
def _stop_signals() -> Iterator[list[int]]:
    """Yield a list that gets the first SIGINT, SIGTERM or SIGHUP.

    A second one raises ``KeyboardInterrupt`` at once: the last checkpoint stays.
    """
    received: list[int] = []
    before: dict[int, Any] = {}

    def receive(number: int, _frame: object) -> None:
        if received:
            raise KeyboardInterrupt
        received.append(number)

    with suppress(ValueError):  # outside of the main thread there are no signals
        for wanted in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            ignored = signal.getsignal(wanted) == signal.SIG_IGN
            if ignored and wanted == signal.SIGHUP:  # by nohup
                continue
            before[wanted] = signal.signal(wanted, receive)
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
