# SPDX-License-Identifier: Apache-2.0
"""Rollouts: they step their environments with the weights they have, once a round."""

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
from reactorl.rl.training.saved import random_state, set_random_state
from reactorl.rl.training.trajectory import Episode, Trajectory

if TYPE_CHECKING:
    from reactorl.rl.recipes import Maker
    from reactorl.rl.training.algorithm import Algorithm, Spaces, Weights
    from reactorl.rl.training.saved import Data, Records


@dataclass(frozen=True)
class RolloutPlan:
    """What all rollouts of a flow are to do."""

    maker: Maker = field(repr=False)
    spaces: Spaces
    algorithm: Algorithm
    num_envs: int
    """Of each rollout."""
    steps: int
    """Of each environment, in a round."""
    rounds: int
    """How many there will be: exploration depends on how much is left."""
    weights: Weights = field(repr=False)
    """To begin with."""
    env_seed: int
    records: Records = field(repr=False)


class Rollout(Reactor):
    """Collects steps at the tag at which a round begins.

    New weights count from the tag at which they arrive.
    """

    round = Input[int]()
    weights = Input[Any]()
    trajectory = Output[Trajectory]()

    plan: RolloutPlan = param()
    bank_index: int = param(0)

    def setup(self) -> None:
        """Have no environments yet."""
        self.company: Company | None = None
        self.current = self.plan.weights
        self.sent: Trajectory | None = None
        self.sent_at = 0
        self.scores = np.zeros(self.plan.num_envs)
        self.lengths = np.zeros(self.plan.num_envs, dtype=np.int64)

    @reaction(startup)
    def make(self) -> None:
        """Make the environments, on this reactor's home worker."""
        plan = self.plan
        first = self.bank_index * plan.num_envs
        makers = dict.fromkeys(range(plan.num_envs), plan.maker)
        self.company = Company(makers, Rules(AutoresetMode.SAME_STEP))
        self._raise_failures(self.company.unmade)
        self.encoder = Encoder(plan.spaces.observation)
        self.arrays = Arrays.of(plan.spaces.observation, plan.num_envs)
        for seat in self.company.seats:
            seat.assign(self.arrays)
        seeds = [plan.env_seed + first + index for index in range(plan.num_envs)]
        self._raise_failures(self.company.obey(Reset(seeds, None)))
        saved = plan.records.enter(self.name, self)
        if saved is not None:
            self._load(saved)

    @reaction(weights)
    def take(self) -> None:
        """Act with these from now on."""
        self.current = self.weights.value

    @reaction(round, effects=[trajectory])
    def collect(self) -> None:
        """Step the environments, and send what came of it."""
        plan, company, arrays = self.plan, self.company, self.arrays
        assert company is not None
        progress = min(1.0, (self.round.value - 1) / plan.rounds)
        columns: dict[str, list[Any]] = {}
        episodes: list[Episode] = []
        encode = self.encoder.batch
        observations = encode(arrays.observations.copy())
        for _ in range(plan.steps):
            actions, extras = plan.algorithm.act(
                self.current, observations, self.np_random, progress
            )
            replies = company.step(list(actions))
            after = encode(arrays.observations.copy())
            reached = after
            for index, reply in replies.items():
                if isinstance(reply, EnvFailure):
                    raise reply.at(str(self.tag))
                if "final_obs" in reply[0]:
                    if reached is after:
                        reached = after.copy()
                    reached[index] = self.encoder.one(reply[0]["final_obs"])
            rewards, terminations, truncations = arrays.results()
            self._count(rewards, terminations | truncations, episodes)
            step = {
                "observations": observations,
                "actions": actions,
                "rewards": rewards,
                "next_observations": reached,
                "terminations": terminations,
                "truncations": truncations,
                **extras,
            }
            for name, value in step.items():
                columns.setdefault(name, []).append(value)
            observations = after
        self.sent = Trajectory(
            {name: np.stack(values) for name, values in columns.items()},
            observations,
            tuple(episodes),
        )
        self.sent_at = self.elapsed
        self.trajectory.set(self.sent)

    def _count(self, rewards: Any, ended: Any, episodes: list[Episode]) -> None:  # noqa: ANN401
        self.scores += rewards
        self.lengths += 1
        for index in np.flatnonzero(ended):
            episodes.append(
                Episode(float(self.scores[index]), int(self.lengths[index]))
            )
            self.scores[index] = 0.0
            self.lengths[index] = 0

    @staticmethod
    def _raise_failures(replies: dict[int, Any]) -> None:
        for reply in replies.values():
            if isinstance(reply, EnvFailure):
                raise reply

    # -- between rounds ---------------------------------------------------------------

    def save(self) -> Data:
        """Return everything that the next round depends on."""
        assert self.company is not None
        slots = self.arrays.observations
        return {
            "weights": self.current,
            "random": random_state(self.np_random),
            "scores": self.scores.copy(),
            "lengths": self.lengths.copy(),
            "observations": [told(slots.row(i)) for i in range(self.plan.num_envs)],
            "envs": [saved_env(seat.env) for seat in self.company.seats],
            "sent": None if self.sent is None else self.sent.saved(),
            "sent_at": self.sent_at,
        }

    def _load(self, saved: Data) -> None:
        assert self.company is not None
        self.current = saved["weights"]
        if saved["sent"] is not None:  # for whoever saves before the next round
            self.sent = Trajectory.restored(saved["sent"])
            self.sent_at = saved["sent_at"]
        set_random_state(self.np_random, saved["random"])
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
