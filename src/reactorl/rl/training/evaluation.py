# SPDX-License-Identifier: Apache-2.0
"""Evaluation on the side: episodes without exploration, a few steps in every round.

It takes part in a round for no longer than a rollout does, so that training never waits
for it; and nothing that training depends on depends on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.vector import AutoresetMode

from reactorl import Input, Output, Reactor, param, reaction, shutdown, startup
from reactorl.rl.arrays import Arrays
from reactorl.rl.commands import Reset
from reactorl.rl.company import Company
from reactorl.rl.failures import EnvFailure
from reactorl.rl.seat import Rules
from reactorl.rl.training.cloning import heard, restore_env, saved_env, told
from reactorl.rl.training.encoding import Encoder
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
        self.company: Company | None = None
        self.latest = self.plan.weights
        self.begun = 0  # in which round; 0: nothing is evaluated
        self.episodes: list[list[Episode]] = []

    @reaction(startup)
    def make(self) -> None:
        """Make the environments."""
        plan = self.plan
        makers = dict.fromkeys(range(plan.num_envs), plan.maker)
        self.company = Company(makers, Rules(AutoresetMode.SAME_STEP))
        for failure in self.company.unmade.values():
            raise failure
        self.encoder = Encoder(plan.spaces.observation)
        self.arrays = Arrays.of(plan.spaces.observation, plan.num_envs)
        for seat in self.company.seats:
            seat.assign(self.arrays)
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
        assert self.company is not None
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
        assert self.company is not None
        plan = self.plan
        self.begun = number
        self.judged = self.latest
        self.episodes = [[] for _ in range(plan.num_envs)]
        self.scores = np.zeros(plan.num_envs)
        self.lengths = np.zeros(plan.num_envs, dtype=np.int64)
        seeds = [plan.seed + index for index in range(plan.num_envs)]
        for reply in self.company.obey(Reset(seeds, None)).values():
            if isinstance(reply, EnvFailure):
                raise reply

    def _steps(self) -> None:
        assert self.company is not None
        for _ in range(self.plan.steps):
            observations = self.encoder.batch(self.arrays.observations.copy())
            actions = self.plan.algorithm.act_best(self.judged, observations)
            for reply in self.company.step(list(actions)).values():
                if isinstance(reply, EnvFailure):
                    raise reply.at(str(self.tag))
            rewards, terminations, truncations = self.arrays.results()
            self.scores += rewards
            self.lengths += 1
            for index in np.flatnonzero(terminations | truncations):
                episode = Episode(float(self.scores[index]), int(self.lengths[index]))
                self.episodes[index].append(episode)
                self.scores[index] = self.lengths[index] = 0

    # -- between rounds ---------------------------------------------------------------

    def save(self) -> Data:
        """Return how far it is."""
        assert self.company is not None
        data: dict[str, Any] = {"latest": self.latest, "begun": self.begun}
        if self.begun:
            data |= {
                "judged": self.judged,
                "episodes": [[[e.score, e.length] for e in m] for m in self.episodes],
                "scores": self.scores.copy(),
                "lengths": self.lengths.copy(),
                "observations": [
                    told(self.arrays.observations.row(i))
                    for i in range(self.plan.num_envs)
                ],
                "envs": [saved_env(seat.env) for seat in self.company.seats],
            }
        return data

    def _load(self, saved: Data) -> None:
        assert self.company is not None
        self.latest, self.begun = saved["latest"], saved["begun"]
        if not self.begun:
            return
        self._begin(self.begun)
        self.judged = saved["judged"]
        self.episodes = [
            [Episode(float(s), int(n)) for s, n in mine] for mine in saved["episodes"]
        ]
        self.scores[:] = saved["scores"]
        self.lengths[:] = saved["lengths"]
        for index, row in enumerate(saved["observations"]):
            self.arrays.observations.writer(index)(heard(row))
        for seat, data in zip(self.company.seats, saved["envs"], strict=True):
            restore_env(seat.env, data)

    @reaction(shutdown)
    def close(self) -> None:
        """Close the environments."""
        self.teardown()

    def teardown(self) -> None:
        """Close the environments, if that has not happened yet."""
        company, self.company = self.company, None
        if company is not None:
            company.close()
