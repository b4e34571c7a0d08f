# SPDX-License-Identifier: Apache-2.0
"""A training from its first round to its summary: what ``reactorl train`` does."""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from reactorl import ReactorlError
from reactorl._util.files import write_atomic
from reactorl._util.formatting import format_seconds
from reactorl.cli.commands.train import check_options, tracked
from reactorl.cli.support.console import say
from reactorl.cli.support.dashboard import shown
from reactorl.cli.support.errors import explained, fail
from reactorl.cli.support.progress import Display, Progress, table
from reactorl.cli.support.reporting import leave_report
from reactorl.cli.support.trace_writer import TraceWriter
from reactorl.rl.checkpoint.file import read_checkpoint, write_checkpoint
from reactorl.rl.checkpoint.fingerprint import weights_digest
from reactorl.rl.runs.directory import RunDirectory
from reactorl.rl.runs.metrics import FINAL, RETURN, Logs, numbers
from reactorl.rl.runs.plot import draw, read_curve

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reactorl import Program, Watch
    from reactorl.cli.commands.train import Options
    from reactorl.dashboard import Dashboard, Feed
    from reactorl.rl.algorithms.settings import Settings
    from reactorl.rl.flow.task import Task, Training
    from reactorl.rl.runs.report import Phase

FINAL_SEED = 2_000_000
"""What the final score adds to the seed: neither training nor evaluation play these."""


def train(
    name: str,
    settings: Settings,
    options: Options,
    resumed: RunDirectory | None,
    line: Sequence[str],
) -> int:
    """Train; return the exit status.

    Raises:
        FlowError: The settings do not fit together.
        CheckpointError: The run to go on with has no checkpoint that can be used.
        RunError: The run's directory cannot be made or used.
    """
    # Everything that can be refused is, before anything is written.
    flow = settings.flow()
    flow.check()
    check_options(options)
    with ExitStack() as stack:
        saved: Any = None
        directory = resumed
        if directory is None:
            directory = RunDirectory.create(
                options.runs_dir, algorithm=name, settings=settings, command=line
            )
        stack.callback(os.close, directory.lock())
        if resumed is not None:
            saved = read_checkpoint(directory.checkpoint, flow).data
        track = tracked(options, settings, directory.path.name)
        training = _Training(flow, options, directory, saved, track)
        try:
            return training.run()
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            where = directory.path
            what = f"{where}: nothing more can be written: {reason}"
            return fail(f"{what}. {training.last_checkpoint}", 1)
        except ReactorlError as error:
            say(*explained(error))
            with suppress(OSError):
                training.report("failed")
            return fail(f"the training failed. {training.last_checkpoint}", 1)


class _Training:
    """One training under way, with all that is around it."""

    def __init__(
        self,
        flow: Task,
        options: Options,
        directory: RunDirectory,
        saved: Any,  # noqa: ANN401
        track: Any,  # noqa: ANN401
    ) -> None:
        self.flow = flow
        self.options = options
        self.directory = directory
        self.saved = saved
        self.track = track
        self.kept = self.done = 0 if saved is None else int(saved["round"])
        self.program: Program | None = None
        self.dashboard: Dashboard | None = None
        self.seconds = 0.0
        self.digest = ""
        self.scores: Sequence[float] = ()

    @property
    def last_checkpoint(self) -> str:
        """Where one can go on."""
        if not self.kept:
            return "There is no checkpoint yet."
        steps = self.kept * self.flow.steps_per_round
        path = self.directory.path
        return (
            f"The last complete checkpoint is of step {steps}; go on from it with "
            f"--resume {path}."
        )

    def run(self) -> int:
        flow, options = self.flow, self.options
        steps = flow.steps_per_round
        if not self.kept:
            self._write_graph()
        with ExitStack() as stack:
            keeper = self._keeper()
            run = flow.start(
                workers=options.workers,
                saved=self.saved,
                trace="values" if options.trace else False,
                timing=options.timing,
                at_start=self._watch,
                at_end=keeper.write,
            )
            self.saved = None  # the run has it
            self.program = run.session.program
            feed = self._begin_to_show(stack)
            logs = Logs(
                self.directory.path,
                rounds=flow.rounds,
                done=self.kept * steps,
                track=self.track,
                also=None if feed is None else feed.number,
            )
            stack.callback(logs.close)
            every = max(1, options.checkpoint_every // steps)
            progress = Progress(flow, run.done, self._returns(), title=self._title)
            with _asked_to_stop() as asked, run:
                with Display(progress) as display:
                    while run.done < flow.rounds and not asked:
                        found = run.step()
                        logs.add(found, found.number * steps)
                        if feed is not None:
                            feed.steps = found.number * steps
                        progress.add(found)
                        display.update()
                        self.done, self.seconds = run.done, logs.seconds
                        if found.number % every == 0:
                            self._keep(run, logs)
                    if asked:
                        progress.note = "stopping: writing a checkpoint"
                        self._note(progress.note)
                self._keep(run, logs)
                weights = run.weights
            over = run.done == flow.rounds
            if over:
                self._final(weights, logs, run.done * steps)
            elif self.dashboard is not None:
                self.dashboard.end("stopped")
            self.seconds, self.digest = logs.seconds, weights_digest(weights)
            logs.flush()
        self._draw()
        self.report("ended" if over else "stopped")
        self._summary(progress, over=over)
        if keeper.failed:
            return 1
        return 0 if over else 128 + asked[0]

    def _begin_to_show(self, stack: ExitStack) -> Feed | None:
        """Serve a dashboard, if it is wanted; return what to tell numbers to."""
        if not self.options.dashboard:
            return None
        assert self.program is not None
        flow, path = self.flow, self.directory.path
        self.dashboard = stack.enter_context(
            shown(
                self.program,
                title=self._title,
                facts=[("run", path.name), ("seed", str(flow.seed))],
                steps=flow.rounds * flow.steps_per_round,
                hears=["stdout"],
            )
        )
        if self.dashboard is None:
            return None
        feed = self.dashboard.feed
        feed.steps = self.kept * flow.steps_per_round
        if self.kept:
            for step, _, key, value in numbers(self.directory.metrics):
                if step <= feed.steps:
                    feed.number(step, key, value)
            feed.note(f"goes on from step {feed.steps:,}")
        return feed

    def _watch(self, watch: Watch) -> None:
        if self.dashboard is not None:
            self.dashboard.watch(watch)

    def _note(self, text: str) -> None:
        if self.dashboard is not None:
            self.dashboard.feed.note(text)

    @property
    def _title(self) -> str:
        return f"{self.flow.name} on {self.directory.env_id}"

    def _keeper(self) -> TraceWriter:
        """Return what keeps the trace and the times, of the rounds from here."""
        name = f"rounds-from-{self.kept + 1}.trace.gz"
        path, options = self.directory.path / name, self.options
        return TraceWriter(
            path if options.trace else None, path if options.timing else None
        )

    def _returns(self) -> Iterator[float]:
        """Yield what episodes came to before this process took over."""
        if self.kept:
            rows = numbers(self.directory.metrics)
            yield from (value for _, _, key, value in rows if key == RETURN)

    def _keep(self, run: Training, logs: Logs) -> None:
        if self.kept == run.done:
            return
        logs.flush()
        write_checkpoint(self.directory.checkpoint, run.save(), self.flow)
        self.kept = run.done
        self._note(f"checkpoint at step {self.kept * self.flow.steps_per_round:,}")

    def _final(self, weights: Any, logs: Logs, step: int) -> None:  # noqa: ANN401
        if self.options.final_episodes < 1:
            return
        self._note(f"playing {self.options.final_episodes} episodes for the score")
        episodes = self.flow.play(
            weights,
            episodes=self.options.final_episodes,
            seed=self.flow.seed + FINAL_SEED,
        )
        self.scores = [episode.score for episode in episodes]
        mean = sum(self.scores) / len(self.scores)
        logs.number(step, FINAL, mean)
        self._note(f"score {mean:.4g}")

    # -- what is left to see ----------------------------------------------------------

    def _write_graph(self) -> None:
        graph = self.flow.graph()
        text = f"# {self.directory.path.name}\n\n```mermaid\n{graph}\n```\n"
        write_atomic(self.directory.path / "dataflow.md", text.encode())

    def _draw(self) -> None:
        path = self.directory.path
        curve = read_curve(path.name, self.directory.metrics)
        draw([curve], self._title, [path / "curve.png", path / "curve.svg"])

    def report(self, phase: Phase) -> None:
        """Leave the report in the run's directory, if there is something to tell."""
        if self.program is not None:
            leave_report(
                self.directory,
                self.flow,
                self.program,
                phase=phase,
                rounds=self.done,
                seconds=self.seconds,
                workers=self.options.workers,
                digest=self.digest,
                scores=self.scores,
            )

    def _summary(self, progress: Progress, *, over: bool) -> None:
        path, scores = self.directory.path, self.scores
        rows = [
            *(r for r in progress.rows if r[0] in ("steps", "return, last 100")),
            ("time", format_seconds(self.seconds)),
        ]
        if scores:
            mean, least = sum(scores) / len(scores), min(scores)
            many = len(scores)
            rows.append(
                ("score", f"{mean:.4g}, mean of {many} episodes (least {least:g})")
            )
        rows += [
            ("report", str(path / "report.html")),
            ("curve", str(path / "curve.png")),
            ("dataflow", str(path / "dataflow.md")),
            ("TensorBoard", f"tensorboard --logdir {path.parent}"),
            ("checkpoint", str(self.directory.checkpoint)),
            ("watch it", f"reactorl eval {path} --episodes 20"),
        ]
        if self.options.trace or self.options.timing:
            rows.append(("trace", f"reactorl trace {path}"))
        if not over:
            name = self.directory.config["algorithm"]
            rows.append(("go on", f"reactorl train {name} --resume {path}"))
        print(
            f"{self._title}: {'done' if over else 'stopped'}\n{table(rows)}", flush=True
        )


@contextmanager
def _asked_to_stop() -> Iterator[list[int]]:
    """Yield a list that gets the number of a signal which asks to stop.

    A second one ends at once: whoever is in a hurry has the last checkpoint.
    """
    asked: list[int] = []
    before: dict[int, Any] = {}

    def ask(number: int, _frame: object) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    with suppress(ValueError):  # not in the main thread: nobody sends signals there
        for wanted in (signal.SIGINT, signal.SIGTERM):
            before[wanted] = signal.signal(wanted, ask)
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
