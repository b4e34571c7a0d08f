# SPDX-License-Identifier: Apache-2.0
"""Evaluation on the side: episodes without exploration, a few steps in every round.

It takes part in a round for no longer than a rollout does, so that training never waits
for it; and nothing that training depends on depends on it.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from reactorl import Input, Output, Reactor, param, reaction, shutdown, startup
from reactorl.rl._public import public
from reactorl.rl.flow.trajectory import Episode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reactorl.rl.checkpoint.registry import Data, StateRegistry
    from reactorl.rl.flow.algorithm import Weights


class Judged(Protocol):
    """Environments in which weights are tried, for one agent or several."""

    def reset(self, seeds: Sequence[int]) -> None:
        """Begin an episode in each."""

    def advance(self, weights: Weights, tag: str) -> Sequence[tuple[int, Episode]]:
        """Do the best step in each; return the episodes that ended, and whose.

        Where one ends, the next one begins. ``tag`` is for whoever fails.
        """

    def save(self) -> Data:
        """Return the state of all of them as plain data."""

    def load(self, saved: Data) -> None:
        """Go on where others stopped; they must have been reset before."""

    def close(self) -> None:
        """Close all of them."""


@public
@dataclass(frozen=True, slots=True)
class Evaluated:
    """What an evaluation came to."""

    iteration: int
    """Whose weights they were."""
    episodes: tuple[Episode, ...]

    @property
    def mean(self) -> float:
        """The mean episode return."""
        return sum(e.episode_return for e in self.episodes) / len(self.episodes)


@dataclass(frozen=True)
class EvaluationPlan:
    """When and how to evaluate.

    Attributes:
        every: How many rounds from one evaluation to the next; one that is not over by
            then goes on, and the next one is left out.
        episodes: How many in an evaluation; each environment does as many.
        num_envs: How many environments.
        steps: How many steps each does in a round.
        seed: Of the first environment; others have the next ones.
        make: Makes them.
        weights: To begin with.
        registry: What is known of an earlier run.
    """

    every: int
    episodes: int
    num_envs: int
    steps: int
    seed: int
    make: Callable[[], Judged] = field(repr=False)
    weights: Weights = field(repr=False)
    registry: StateRegistry = field(repr=False)


class Evaluation(Reactor):
    """Evaluates weights; says the result at the tag at which the last episode ends."""

    iteration = Input[int]()
    weights = Input[Any]()
    result = Output[Evaluated]()

    plan: EvaluationPlan = param()

    def setup(self) -> None:
        """Have nothing to do yet."""
        self.envs: Judged | None = None
        self.latest = self.plan.weights
        self.begun = 0  # in which round; 0: nothing is evaluated
        self.episodes: list[list[Episode]] = []

    @reaction(startup)
    def make(self) -> None:
        """Make the environments."""
        plan = self.plan
        self.envs = plan.make()
        saved = plan.registry.enter(self.name, self)
        if saved is not None:
            self._load(saved)

    @reaction(weights)
    def take(self) -> None:
        """Evaluate these when the next evaluation begins."""
        self.latest = self.weights.value

    @reaction(iteration, effects=[result])
    def go_on(self) -> None:
        """Begin an evaluation when it is time, and do some steps of it."""
        number = self.iteration.value
        if not self.begun and number % self.plan.every == 0:
            self._begin(number)
        if self.begun:
            self._steps()
            if all(len(mine) >= self._quota for mine in self.episodes):
                found = [e for mine in self.episodes for e in mine[: self._quota]]
                done = tuple(found[: self.plan.episodes])
                self.result.set(Evaluated(self.begun, done))
                self.begun = 0

    @property
    def _quota(self) -> int:
        return -(-self.plan.episodes // self.plan.num_envs)

    def _begin(self, number: int) -> None:
        assert self.envs is not None
        plan = self.plan
        self.begun = number
        self.judged = self.latest
        self.episodes = [[] for _ in range(plan.num_envs)]
        self.envs.reset(range(plan.seed, plan.seed + plan.num_envs))

    def _steps(self) -> None:
        assert self.envs is not None
        for _ in range(self.plan.steps):
            for who, episode in self.envs.advance(self.judged, str(self.tag)):
                self.episodes[who].append(episode)

    # -- between rounds ---------------------------------------------------------------

    def save(self) -> Data:
        """Return how far it is."""
        assert self.envs is not None
        data: dict[str, Any] = {"latest": self.latest, "begun": self.begun}
        if self.begun:
            data |= {
                "judged": self.judged,
                "episodes": [[astuple(e) for e in mine] for mine in self.episodes],
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
        self.episodes = [
            [Episode(*fields) for fields in mine] for mine in saved["episodes"]
        ]
        self.envs.load(saved["envs"])

    @reaction(shutdown)
    def close(self) -> None:
        """Close the environments."""
        self.teardown()

    def teardown(self) -> None:
        """Close the environments, if that has not happened yet."""
        envs, self.envs = self.envs, None
        if envs is not None:
            envs.close()
