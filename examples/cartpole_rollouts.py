# SPDX-License-Identifier: Apache-2.0
"""Parallel rollouts that learn: the cross-entropy method on CartPole.

Run it::

    python examples/cartpole_rollouts.py --num-envs 32 --workers 4 --seed 7

A ``Search`` proposes one linear policy per environment. Each ``Rollout`` plays a few
episodes with the policy that it got, and the search moves towards the policies that did
best. Candidates travel with ``after=0``: they arrive one microstep later, and that is
what makes a round::

    search --candidates, after=0--> rollout[0..n) --outcome--> search
    search --final--> rollout[0..n) --scores--> monitor

Rollouts of a round depend on nothing but their candidate, so they run in parallel, and
in whatever order the machine likes. The weights that come out are the same bits for any
number of workers; the digest at the end is there to check that.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import re
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from reactorl import (
    Input,
    MultiInput,
    MultiOutput,
    Output,
    Reactor,
    bank,
    param,
    reaction,
    run,
    startup,
    state,
)

try:
    import gymnasium as gym
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.table import Table
except ImportError as missing:
    sys.exit(f"{missing}\nThis example needs: pip install gymnasium numpy rich")

if TYPE_CHECKING:
    from reactorl import Result

Weights: TypeAlias = NDArray[np.float64]
"""One row per action: a weight for each observed number, then a bias."""

EPISODES = 4  # that a candidate plays per round
EVALUATION = 20  # episodes with the final weights
STEP = 0.3  # how far the search moves towards the elite in a round


class Rollout(Reactor):
    """Plays episodes in an environment of its own, with the policies it is given."""

    candidate = Input[Weights]()
    final = Input[Weights]()
    outcome = Output[tuple[float, int]]()  # mean return, environment steps
    scores = Output[list[float]]()  # a return per episode

    env_id: str = param()
    width: int = param()
    env: gym.Env[Any, Any] | None = state(None)

    @reaction(startup)
    def open(self) -> None:
        """Make the environment, on the worker that will step it by preference."""
        self.env = gym.make(self.env_id, disable_env_checker=True)
        self.env.reset(seed=self.seed)  # depends on the run's seed and the name alone

    @reaction(candidate, effects=[outcome])
    def play(self) -> None:
        """Try a candidate."""
        returns, steps = self.episodes(self.candidate.value, EPISODES)
        self.outcome.set((sum(returns) / EPISODES, steps))

    @reaction(final, effects=[scores])
    def evaluate(self) -> None:
        """Play this environment's share of the evaluation."""
        share = len(range(self.bank_index, EVALUATION, self.width))
        returns, _ = self.episodes(self.final.value, share)
        self.scores.set(returns)

    def episodes(self, weights: Weights, count: int) -> tuple[list[float], int]:
        """Play ``count`` episodes greedily; give their returns and the steps taken."""
        assert self.env is not None
        step, reset = self.env.step, self.env.reset
        rows = weights[:, :-1].astype(np.float32)
        bias = weights[:, -1].astype(np.float32)
        returns, steps = [], 0
        for _ in range(count):
            observation, _ = reset()
            total, over = 0.0, False
            while not over:
                action = int((rows.dot(observation) + bias).argmax())
                observation, reward, terminated, truncated, _ = step(action)
                over = terminated or truncated
                total += float(reward)
                steps += 1
            returns.append(total)
        return returns, steps

    def teardown(self) -> None:
        """Close the environment, also if the run failed or was interrupted."""
        if self.env is not None:
            self.env.close()


@dataclass(frozen=True, slots=True)
class Round:
    """How a round of the search went."""

    number: int
    steps: int  # so far
    mean: float  # return over all candidates
    best: float


class Search(Reactor):
    """The cross-entropy method: a normal distribution that follows its elite."""

    width: int = param()
    shape: tuple[int, int] = param()
    total_timesteps: int = param()

    outcomes = MultiInput[tuple[float, int]]()
    candidates = MultiOutput[Weights](width)
    final = Output[Weights]()
    finished = Output[Round]()

    rounds: int = state(0)
    steps: int = state(0)

    def setup(self) -> None:
        """Begin with no preference."""
        self.mean: Weights = np.zeros(self.shape)
        self.deviation: Weights = np.full(self.shape, 0.5)
        self.tried: Weights = np.empty((0, *self.shape))

    @reaction(startup, effects=[candidates])
    def begin(self) -> None:
        """Propose the first candidates."""
        self.propose()

    @reaction(outcomes, effects=[candidates, final, finished])
    def improve(self) -> None:
        """Learn from a round; then the next one, or the end."""
        outcomes = self.outcomes.values()  # by channel, whoever was first
        returns = np.array([mean for mean, _ in outcomes])
        self.steps += sum(steps for _, steps in outcomes)
        self.rounds += 1
        ranking = np.argsort(-returns, kind="stable")
        elite = self.tried[ranking[: max(2, self.width // 4)]]
        self.mean = (1 - STEP) * self.mean + STEP * elite.mean(axis=0)
        self.deviation = (1 - STEP) * self.deviation + STEP * elite.std(axis=0, ddof=1)
        mean, best = float(returns.mean()), float(returns.max())
        self.finished.set(Round(self.rounds, self.steps, mean, best))
        if self.steps < self.total_timesteps:
            self.propose()
        else:
            self.final.set(self.mean)

    def propose(self) -> None:
        """Draw a candidate for each rollout, from this reactor's own generator."""
        noise = self.np_random.standard_normal((self.width, *self.shape))
        self.tried = self.mean + self.deviation * noise
        for index, candidate in enumerate(self.tried):
            self.candidates[index].set(candidate)


@dataclass
class Report:
    """What the monitor saw."""

    rounds: list[Round] = field(default_factory=list)
    seconds: float = 0.0  # of training
    weights: Weights | None = None
    scores: list[float] = field(default_factory=list)


class Monitor(Reactor):
    """Shows progress: looks at the wall clock, so nobody else reads from it."""

    finished = Input[Round]()
    weights = Input[Weights]()
    scores = MultiInput[list[float]]()

    total_timesteps: int = param()
    console: Console = param()
    report: Report = param()

    def setup(self) -> None:
        """Prepare a line that is drawn anew after each round."""
        self.line = Progress(
            TextColumn("round {task.fields[number]:3}"),
            BarColumn(bar_width=None),
            TextColumn("{task.description}"),
            console=self.console,
            auto_refresh=False,
            transient=True,
        )
        self.task = self.line.add_task("", total=self.total_timesteps, number=0)
        self.said = float("-inf")

    @reaction(startup)
    def begin(self) -> None:
        """Start the clock."""
        self.began = time.monotonic()
        if self.console.is_terminal:
            self.line.start()

    @reaction(finished)
    def show(self) -> None:
        """Draw the line; where there is no terminal, print one now and then."""
        seen = self.finished.value
        self.report.rounds.append(seen)
        elapsed = self.report.seconds = time.monotonic() - self.began
        rate = seen.steps / elapsed
        left = max(0, self.total_timesteps - seen.steps) / rate
        text = (
            f"return {seen.mean:5.1f} (best {seen.best:5.1f})  {rate:7,.0f} steps/s  "
            f"{elapsed:2.0f} s, {left:2.0f} s left"
        )
        if self.console.is_terminal:
            done = min(seen.steps, self.total_timesteps)
            self.line.update(
                self.task, completed=done, number=seen.number, description=text
            )
            self.line.refresh()
        elif elapsed - self.said >= 5 or left == 0:
            self.said = elapsed
            print(f"round {seen.number:3}: {text}", flush=True)

    @reaction(weights, scores)
    def end(self) -> None:
        """Keep the result for whoever started the run."""
        self.report.weights = self.weights.value
        self.report.scores = [s for scores in self.scores.values() for s in scores]

    def teardown(self) -> None:
        """Give the terminal back, also after Ctrl-C."""
        if self.console.is_terminal:
            self.line.stop()


class Training(Reactor):
    """One search, a bank of rollouts, one monitor."""

    env_id: str = param("CartPole-v1")
    num_envs: int = param(16)
    shape: tuple[int, int] = param((2, 5))
    total_timesteps: int = param(500_000)
    console: Console = param()
    report: Report = param()

    search = Search(width=num_envs, shape=shape, total_timesteps=total_timesteps)
    rollout = bank(Rollout(env_id=env_id, width=num_envs), width=num_envs)
    monitor = Monitor(total_timesteps=total_timesteps, console=console, report=report)

    def build(self) -> None:
        """Connect them as in the picture above."""
        self.connect(self.search.candidates, self.rollout.candidate, after=0)
        self.connect(self.rollout.outcome, self.search.outcomes)
        self.connect(self.search.finished, self.monitor.finished)
        self.connect(self.search.final, self.rollout.final, broadcast=True)
        self.connect(self.search.final, self.monitor.weights)
        self.connect(self.rollout.scores, self.monitor.scores)


def policy_shape(env_id: str) -> tuple[int, int]:
    """Return the shape of a linear policy's weights.

    Raises:
        ValueError: There is no such environment, or none that the policy fits.
    """
    try:
        env = gym.make(env_id)
    except (gym.error.Error, ImportError) as error:
        raise ValueError(str(error)) from error
    actions, inputs = env.action_space, env.observation_space
    env.close()
    if not isinstance(actions, gym.spaces.Discrete) or actions.start != 0:
        msg = f"{env_id} has actions {actions}; this example needs Discrete(n)"
        raise ValueError(msg)
    if not isinstance(inputs, gym.spaces.Box) or len(inputs.shape) != 1:
        msg = f"{env_id} has observations {inputs}; this example needs a flat Box"
        raise ValueError(msg)
    return int(actions.n), inputs.shape[0] + 1


def cores() -> int:
    """Return how many cores this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def has_gil() -> bool:
    """Return whether this interpreter runs one thread at a time."""
    probe = getattr(sys, "_is_gil_enabled", None)
    return True if probe is None else bool(probe())


def closing_table(
    env_id: str, result: Result, report: Report, *, ascii_only: bool
) -> Table:
    """Return what is worth knowing after a run."""
    assert report.weights is not None
    last = report.rounds[-1]
    table = Table(title=f"{env_id}: {last.number} rounds", show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(no_wrap=True)

    threads = "with a GIL" if has_gil() else "free-threaded"
    table.add_row("Python", f"{platform.python_version()}, {threads}")
    table.add_row("cores", f"{cores()} ({platform.machine()})")
    table.add_row(
        "workers",
        f"{result.options.workers}, together at {result.shared_tags} of "
        f"{result.tags} tags",
        end_section=True,
    )
    table.add_row("env steps", f"{last.steps:,} in {report.seconds:.1f} s")
    table.add_row("steps/s", f"{last.steps / report.seconds:,.0f}")
    bars = "_.:-=+*#" if ascii_only else "▁▂▃▄▅▆▇█"
    table.add_row("mean return", curve([r.mean for r in report.rounds], bars))
    best = max(r.best for r in report.rounds)
    table.add_row("best return", f"{best:.1f} (mean of {EPISODES} episodes)")
    score = sum(report.scores) / len(report.scores)
    table.add_row(
        "evaluation",
        f"{score:.1f} (mean of {len(report.scores)} greedy episodes)",
        end_section=True,
    )
    for name, share in time_shares(result)[:4]:
        table.add_row(name, f"{share:6.1%} of the time in reactions")
    table.add_section()
    digest = hashlib.blake2b(report.weights.astype("<f8").tobytes(), digest_size=16)
    table.add_row("weights digest", digest.hexdigest())
    return table


def curve(values: list[float], bars: str, width: int = 30) -> str:
    """Return ``values`` as a small bar chart, with the first and the last of them."""
    low, high = min(values), max(values)
    count = min(width, len(values))
    picked = [values[i * (len(values) - 1) // max(1, count - 1)] for i in range(count)]
    heights = (int((v - low) / ((high - low) or 1.0) * 7) for v in picked)
    chart = "".join(bars[height] for height in heights)
    return f"{values[0]:.1f} {chart} {values[-1]:.1f}"


def time_shares(result: Result) -> list[tuple[str, float]]:
    """Return each reaction's share of the time, the members of a bank as one."""
    totals: dict[str, float] = {}
    for entry in result.times:
        name = re.sub(r"\[\d+\]", "", entry.reaction).removeprefix("main.")
        totals[name] = totals.get(name, 0.0) + entry.total
    everything = sum(totals.values()) or 1.0
    shares = ((name, total / everything) for name, total in totals.items())
    return sorted(shares, key=lambda share: -share[1])


def arguments() -> argparse.Namespace:
    """Return the command line, checked."""
    parser = argparse.ArgumentParser(
        description="Parallel rollouts that learn: the cross-entropy method."
    )

    def number(least: int, most: int) -> Any:  # noqa: ANN401
        def check(text: str) -> int:
            value = int(text)
            if not least <= value <= most:
                msg = f"must be from {least} to {most:,}, not {value}"
                raise argparse.ArgumentTypeError(msg)
            return value

        check.__name__ = "int"  # argparse names it if the text is no number
        return check

    add = parser.add_argument
    add("--env-id", default="CartPole-v1", help="Gymnasium id (default: %(default)s)")
    add("--num-envs", type=number(4, 4096), default=16, help="default: %(default)s")
    add("--seed", type=number(0, 2**63), default=1, help="default: %(default)s")
    add(
        "--total-timesteps",
        type=number(1, 10**12),
        default=500_000,
        help="end after the round that reaches this (default: %(default)s)",
    )
    add("--workers", type=number(1, 1024), help="default: as many as cores")
    given = parser.parse_args()
    try:
        given.shape = policy_shape(given.env_id)
    except ValueError as error:
        parser.error(f"argument --env-id: {error}")
    return given


def main() -> None:
    """Train, evaluate, and show what came of it."""
    given = arguments()
    console, report = Console(), Report()
    training = Training(
        env_id=given.env_id,
        num_envs=given.num_envs,
        shape=given.shape,
        total_timesteps=given.total_timesteps,
        console=console,
        report=report,
    )
    console.print(
        f"{given.env_id}: {given.num_envs} environments, seed {given.seed}, "
        f"{given.total_timesteps:,} steps",
        highlight=False,
    )
    try:
        result = run(training, workers=given.workers, seed=given.seed, fast=True)
    except KeyboardInterrupt:
        sys.exit("interrupted")
    ascii_only = console.options.ascii_only
    console.print(closing_table(given.env_id, result, report, ascii_only=ascii_only))
    console.print("The same seed gives this digest on any number of workers.")
    if has_gil() and result.options.workers > 1:
        console.print(
            "This Python runs one thread at a time, so the environments take turns.\n"
            "On free-threaded CPython 3.14t they run in parallel.",
            style="dim",
            highlight=False,
        )


if __name__ == "__main__":
    main()
