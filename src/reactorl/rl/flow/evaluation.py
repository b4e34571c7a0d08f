# SPDX-License-Identifier: Apache-2.0
"""Evaluation: greedy episodes, during training or on their own.

During training a few steps are done in every iteration, so that training never waits
longer for it than for a rollout; and training does not depend on its results.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from reactorl import Input, Output, Reactor, param, reaction, shutdown, startup
from reactorl.rl._public import public
from reactorl.rl.flow.trajectory import Episode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reactorl.rl.checkpoint.registry import Data, StateRegistry
    from reactorl.rl.flow.algorithm import Weights

MAX_ENVS: Final = 20
"""Environments of an evaluation on its own."""
_MANY: Final = 1000
"""Steps of an evaluation on its own, from one report of its progress to the next."""


class GreedyEnvs(Protocol):
    """Environments in which a policy acts greedily, for one agent or several."""

    @property
    def env(self) -> Any:  # noqa: ANN401
        """The first environment itself, for rendering; only in this process."""

    def open(self) -> None:
        """Make the environments, or wait for the process that makes them."""

    def reset(self, seeds: Mapping[int, int | None]) -> None:
        """Begin an episode in some environments, by index."""

    def steps_greedily(
        self, weights: Weights, active: Sequence[int], limit: int, tag: str = ""
    ) -> tuple[int, Sequence[tuple[int, Episode]]]:
        """Do at least one greedy step, and more until one ends an episode.

        Returns:
            The number of steps, at most ``limit``, and the episodes that ended.
            ``tag`` is the current one, for failures.
        """

    def save(self) -> Data:
        """Return the state of all environments as plain data."""

    def load(self, saved: Data) -> None:
        """Restore a saved state; the environments must have been reset before."""

    def close(self) -> None:
        """Close the environments."""


@public
@dataclass(frozen=True, slots=True)
class PlayProgress:
    """The progress of an evaluation that is under way."""

    episodes: int
    """Episodes that ended."""
    total: int
    """Episodes to play."""
    steps: int
    """Steps of all environments, for all of its episodes."""

    def __str__(self) -> str:
        return f"{self.episodes} of {self.total} episodes, {self.steps:,} steps"


def play(
    make: Callable[[int], GreedyEnvs],
    weights: Weights,
    *,
    episodes: int,
    seed: int,
    watch: Callable[[Any], None] | None = None,
    report: Callable[[PlayProgress], None] | None = None,
) -> list[Episode]:
    """Play greedy episodes and return them in the order of environments.

    Every environment plays a fixed share of the episodes, whatever their length, so
    that short episodes count no more than long ones.

    Args:
        make: Makes so many environments.
        weights: Of the policy.
        episodes: Number of episodes.
        seed: Of the first environment; others get the next ones.
        watch: Called with the environment after each reset and step; there is only one
            environment then.
        report: Called with the progress after some steps.
    """
    count = 1 if watch is not None else min(episodes, MAX_ENVS)
    shares = [episodes // count + (k < episodes % count) for k in range(count)]
    played: list[list[Episode]] = [[] for _ in range(count)]
    active = list(range(count))
    steps = 0
    envs = make(count)
    try:
        envs.open()
        envs.reset({k: seed + k for k in active})
        while active:
            if watch is not None:
                watch(envs.env)
            limit = 1 if watch is not None else _MANY
            count, ended = envs.steps_greedily(weights, active, limit)
            steps += count * len(active)
            for index, episode in ended:
                played[index].append(episode)
                if watch is not None:
                    watch(envs.env)
            active = [k for k in active if len(played[k]) < shares[k]]
            again = {index: None for index, _ in ended if index in active}
            if again:
                envs.reset(again)
            if report is not None:
                report(PlayProgress(sum(map(len, played)), episodes, steps))
    finally:
        envs.close()
    return [episode for each in played for episode in each]


@public
@dataclass(frozen=True, slots=True)
class Evaluated:
    """The result of an evaluation."""

    iteration: int
    """The iteration in which it began."""
    episodes: tuple[Episode, ...]

    @property
    def num_cut(self) -> int:
        """Number of episodes that were cut at the limit of steps."""
        return sum(episode.is_cut for episode in self.episodes)

    @property
    def mean(self) -> float:
        """The mean episode return."""
        return sum(e.episode_return for e in self.episodes) / len(self.episodes)


@dataclass(frozen=True)
class EvaluationPlan:
    """When and how to evaluate.

    Attributes:
        every: Iterations from one evaluation to the next; if one takes longer, the next
            one is skipped.
        episodes: Episodes of an evaluation; each environment plays as many.
        num_envs: Number of environments.
        steps: Steps of each environment in an iteration.
        seed: Of the first environment; others get the next ones.
        make: Makes the environments.
        weights: Initial weights.
        registry: State to restore.
    """

    every: int
    episodes: int
    num_envs: int
    steps: int
    seed: int
    make: Callable[[], GreedyEnvs] = field(repr=False)
    weights: Weights = field(repr=False)
    registry: StateRegistry = field(repr=False)


class Evaluation(Reactor):
    """Evaluates weights; sends the result at the tag at which the last episode ends."""

    iteration = Input[int]()
    weights = Input[Any]()
    result = Output[Evaluated]()

    plan: EvaluationPlan = param()

    def setup(self) -> None:
        """Start a worker process, if the environments live in one."""
        self.envs: GreedyEnvs | None = self.plan.make()
        self.latest = self.plan.weights
        self.begun = 0  # in which iteration; 0: no evaluation is under way
        self.steps = 0  # of the evaluation under way, of all environments
        self.episodes: list[list[Episode]] = []

    @reaction(startup)
    def make(self) -> None:
        """Make the environments, or wait for their process."""
        plan = self.plan
        assert self.envs is not None
        self.envs.open()
        saved = plan.registry.enter(self.name, self)
        if saved is not None:
            self._load(saved)

    @reaction(weights)
    def take(self) -> None:
        """Use these weights in the next evaluation."""
        self.latest = self.weights.value

    @reaction(iteration, effects=[result])
    def advance(self) -> None:
        """Begin an evaluation if it is due, and do some steps of the current one."""
        number = self.iteration.value
        if not self.begun and number % self.plan.every == 0:
            self._begin(number)
        if self.begun:
            self._steps()
            if all(len(each) >= self._quota for each in self.episodes):
                found = [e for each in self.episodes for e in each[: self._quota]]
                done = tuple(found[: self.plan.episodes])
                self.result.set(Evaluated(self.begun, done))
                self.begun = 0

    @property
    def progress(self) -> PlayProgress | None:
        """The progress of the evaluation that is under way, if one is."""
        if not self.begun:
            return None
        ended = sum(min(len(each), self._quota) for each in self.episodes)
        total = self.plan.episodes
        return PlayProgress(min(ended, total), total, self.steps)

    @property
    def _quota(self) -> int:
        return -(-self.plan.episodes // self.plan.num_envs)

    def _begin(self, number: int) -> None:
        assert self.envs is not None
        plan = self.plan
        self.begun = number
        self.judged = self.latest
        self.steps = 0
        self.episodes = [[] for _ in range(plan.num_envs)]
        self.envs.reset({k: plan.seed + k for k in range(plan.num_envs)})

    def _steps(self) -> None:
        assert self.envs is not None
        every, tag = range(self.plan.num_envs), str(self.tag)
        left = self.plan.steps
        while left:
            count, ended = self.envs.steps_greedily(self.judged, every, left, tag)
            left -= count
            self.steps += count * len(every)
            for index, episode in ended:
                self.episodes[index].append(episode)
            if ended:
                self.envs.reset({index: None for index, _ in ended})

    # -- checkpoints ------------------------------------------------------------------

    def save(self) -> Data:
        """Return the state between two iterations."""
        assert self.envs is not None
        data: dict[str, Any] = {"latest": self.latest, "begun": self.begun}
        if self.begun:
            data |= {
                "judged": self.judged,
                "steps": self.steps,
                "episodes": [[astuple(e) for e in each] for each in self.episodes],
                "envs": self.envs.save(),
            }
        return data

    def _load(self, saved: Data) -> None:
        assert self.envs is not None
        self.latest, self.begun = saved["latest"], saved["begun"]
        if not self.begun:
            return
        self._begin(self.begun)
        self.judged = saved["judged"]
        self.steps = saved["steps"]
        self.episodes = [
            [Episode(*fields) for fields in each] for each in saved["episodes"]
        ]
        self.envs.load(saved["envs"])

    @reaction(shutdown)
    def close(self) -> None:
        """Close the environments."""
        self.teardown()

    def teardown(self) -> None:
        """Close the environments if they are still open."""
        envs, self.envs = self.envs, None
        if envs is not None:
            envs.close()
