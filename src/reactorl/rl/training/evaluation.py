# SPDX-License-Identifier: Apache-2.0
"""Evaluation on the side: episodes without exploration, a few steps in every round.

It takes part in a round for no longer than a rollout does, so that training never waits
for it; and nothing that training depends on depends on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reactorl import Input, Output, Reactor, param, reaction, shutdown, startup
from reactorl.rl.training.env_block import EnvBlock
from reactorl.rl.training.trajectory import Episode

if TYPE_CHECKING:
    from reactorl.rl.recipes import Maker
    from reactorl.rl.training.algorithm import Algorithm, Spaces, Weights
    from reactorl.rl.training.saved import Data, Records


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What an evaluation came to."""

    round: int
    """Whose weights they were."""
    episodes: tuple[Episode, ...]

    @property
    def mean(self) -> float:
        """The mean score."""
        return sum(e.score for e in self.episodes) / len(self.episodes)


@dataclass(frozen=True)
class EvaluationPlan:
    """When and how to evaluate.

    Attributes:
        every: How many rounds from one evaluation to the next; one that is not over by
            then goes on, and the next one is left out.
        episodes: How many in an evaluation; each environment does as many.
        num_envs: How many environments.
        steps: How many steps each does in a round.
    """

    every: int
    episodes: int
    num_envs: int
    steps: int
    seed: int
    maker: Maker = field(repr=False)
    spaces: Spaces
    algorithm: Algorithm
    weights: Weights = field(repr=False)
    records: Records = field(repr=False)


class Evaluation(Reactor):
    """Evaluates weights; says the result at the tag at which the last episode ends."""

    round = Input[int]()
    weights = Input[Any]()
    result = Output[Evaluated]()

    plan: EvaluationPlan = param()

    def setup(self) -> None:
        """Have nothing to do yet."""
        self.envs: EnvBlock | None = None
        self.latest = self.plan.weights
        self.begun = 0  # in which round; 0: nothing is evaluated
        self.episodes: list[list[Episode]] = []

    @reaction(startup)
    def make(self) -> None:
        """Make the environments."""
        plan = self.plan
        self.envs = EnvBlock(plan.maker, plan.spaces, plan.num_envs)
        saved = plan.records.enter(self.name, self)
        if saved is not None:
            self._load(saved)

    @reaction(weights)
    def take(self) -> None:
        """Evaluate these when the next evaluation begins."""
        self.latest = self.weights.value

    @reaction(round, effects=[result])
    def go_on(self) -> None:
        """Begin an evaluation when it is time, and do some steps of it."""
        number = self.round.value
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
            observations = self.envs.observations()
            actions = self.plan.algorithm.act_best(self.judged, observations)
            for ended in self.envs.step(actions, str(self.tag)):
                self.episodes[ended.who].append(ended.episode)

    # -- between rounds ---------------------------------------------------------------

    def save(self) -> Data:
        """Return how far it is."""
        assert self.envs is not None
        data: dict[str, Any] = {"latest": self.latest, "begun": self.begun}
        if self.begun:
            data |= {
                "judged": self.judged,
                "episodes": [[[e.score, e.length] for e in m] for m in self.episodes],
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
            [Episode(float(s), int(n)) for s, n in mine] for mine in saved["episodes"]
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
