# SPDX-License-Identifier: Apache-2.0
"""Settings of trainings, as people write them: with the names that CleanRL gave them.

They are numbers and names only; ``flow()`` makes the task that they describe. What they
count is steps of environments, all together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reactorl.rl.flow.algorithm import FlowError

if TYPE_CHECKING:
    from reactorl.rl.flow.flow import Flow
    from reactorl.rl.flow.task import Task


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What all trainings have."""

    env_id: str = "CartPole-v1"
    """The environment, by its id; "module:id" imports a module first."""
    seed: int = 1
    """Everything random follows from it."""
    total_timesteps: int = 80_000
    """How many steps of environments the training has."""
    num_envs: int = 16
    """How many environments are stepped side by side."""
    num_steps: int = 16
    """How many steps each environment does in a round."""
    eval_every: int = 4_000
    """How many steps from one evaluation to the next; 0: none."""
    eval_episodes: int = 4
    """How many episodes an evaluation has."""

    @property
    def steps_per_round(self) -> int:
        """How many steps a round has."""
        return self.num_envs * self.num_steps

    @property
    def rounds(self) -> int:
        """How many rounds the training has: as many as its steps take."""
        return -(-self.total_timesteps // max(self.steps_per_round, 1))

    @property
    def evaluate_every(self) -> int:
        """How many rounds from one evaluation to the next; 0: none."""
        if self.eval_every <= 0:
            return 0
        return max(1, self.eval_every // max(self.steps_per_round, 1))

    def check(self) -> None:
        """Refuse numbers that cannot be.

        Raises:
            FlowError: There is one.
        """
        for name in ("total_timesteps", "num_envs", "num_steps", "eval_episodes"):
            if getattr(self, name) < 1:
                option = name.replace("_", "-")
                msg = f"--{option} is {getattr(self, name)}"
                raise FlowError(msg, "It is 1 or more.")

    def flow(self) -> Task:
        """Return what they describe.

        Raises:
            FlowError: The settings do not fit together.
        """
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class FlowSettings(Settings):
    """What trainings have in which rollouts collect for a learner."""

    rollouts: int = 0
    """How many reactors have the environments; 0: as many as divide num_envs, at most
    four."""
    lag: int = 0
    """How many rounds older than necessary weights may be: 0, rollouts and learner
    take turns; 1 or more, they work side by side."""

    @property
    def rollouts_or_default(self) -> int:
        """How many reactors have the environments."""
        if self.rollouts:
            return self.rollouts
        return next((n for n in (4, 3, 2) if self.num_envs % n == 0), 1)


@dataclass(frozen=True, kw_only=True)
class DQNSettings(FlowSettings):
    """DQN: Q-learning with a network, for environments with a few actions."""

    learning_rate: float = 2.3e-3
    """Of the optimiser Adam, at the beginning."""
    anneal_lr: bool = True
    """Whether it falls to nothing until the end."""
    gamma: float = 0.99
    """How much a reward is worth one step later."""
    buffer_size: int = 100_000
    """How many steps the replay buffer has room for."""
    batch_size: int = 64
    """How many of them are drawn for an update."""
    learning_starts: int = 1_000
    """After how many steps learning starts."""
    train_frequency: float = 2.0
    """How many steps there are for each update."""
    target_network_frequency: int = 256
    """After how many steps the target network is copied."""
    start_e: float = 1.0
    """How often actions are random at the beginning."""
    end_e: float = 0.04
    """How often they are random when exploration is over."""
    exploration_fraction: float = 0.16
    """Which part of the training exploration takes."""
    hidden: tuple[int, ...] = (128, 128)
    """Sizes of the network's hidden layers."""
    double: bool = True
    """Whether the network chooses the action that the target network judges."""
    huber: bool = False
    """Whether large errors count by their size and not by its square."""
    priority: float = 0.0
    """How strongly steps are preferred whose error was large: 0, not at all."""

    @property
    def updates(self) -> int:
        """How many updates a round has."""
        return max(1, round(self.steps_per_round / self.train_frequency))

    def check(self) -> None:
        """Refuse numbers that cannot be."""
        super().check()
        if self.train_frequency <= 0:
            msg = f"--train-frequency is {self.train_frequency:g} steps for an update"
            raise FlowError(msg, "It is more than 0.")
        if self.exploration_fraction <= 0:
            msg = f"--exploration-fraction is {self.exploration_fraction:g}"
            raise FlowError(msg, "It is more than 0, and at most 1.")

    def flow(self) -> Flow:
        """Return the flow."""
        from reactorl.rl.algorithms.dqn import DQN
        from reactorl.rl.flow.flow import Flow
        from reactorl.rl.flow.replay import ReplayConfig

        self.check()
        algorithm = DQN(
            hidden=self.hidden,
            learning_rate=self.learning_rate,
            decay=self.rounds * self.updates if self.anneal_lr else 0,
            gamma=self.gamma,
            target_every=max(
                1, round(self.target_network_frequency / self.train_frequency)
            ),
            start_e=self.start_e,
            end_e=self.end_e,
            exploration_fraction=self.exploration_fraction,
            double=self.double,
            huber=self.huber,
        )
        return Flow(
            self.env_id,
            algorithm,
            num_envs=self.num_envs,
            rollouts=self.rollouts_or_default,
            steps=self.num_steps,
            rounds=self.rounds,
            replay=ReplayConfig(
                capacity=self.buffer_size,
                batch_size=self.batch_size,
                updates=self.updates,
                starts_at=self.learning_starts,
                priority=self.priority,
            ),
            lag=self.lag,
            evaluate_every=self.evaluate_every,
            evaluation_episodes=self.eval_episodes,
            seed=self.seed,
        )
