# SPDX-License-Identifier: Apache-2.0
"""Settings of the algorithms that learn from what was just collected."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from reactorl.rl.algorithms.settings import FlowSettings, Settings

if TYPE_CHECKING:
    from reactorl.rl.algorithms.ippo import IPPO
    from reactorl.rl.algorithms.ppo import PPO
    from reactorl.rl.flow.algorithm import Algorithm
    from reactorl.rl.flow.flow import Flow


def chosen(settings: Settings, kind: Any) -> Any:  # noqa: ANN401
    """Return an algorithm whose settings have the names that they have here."""
    return kind(**{f.name: getattr(settings, f.name) for f in fields(kind)})


@dataclass(frozen=True, kw_only=True)
class OnPolicySettings(FlowSettings):
    """What they have in common if one learner learns from all that is collected."""

    def algorithm(self) -> Algorithm:
        """Return the algorithm with these settings."""
        raise NotImplementedError

    def flow(self) -> Flow:
        """Return the flow."""
        from reactorl.rl.flow.flow import Flow

        self.check()
        return Flow(
            self.env_id,
            self.algorithm(),
            num_envs=self.num_envs,
            rollouts=self.rollouts_or_default,
            steps=self.num_steps,
            rounds=self.rounds,
            lag=self.lag,
            evaluate_every=self.evaluate_every,
            evaluation_episodes=self.eval_episodes,
            seed=self.seed,
        )


@dataclass(frozen=True, kw_only=True)
class PPOChoices(Settings):
    """What can be chosen about PPO, for one agent or for each of several."""

    total_timesteps: int = 120_000
    """How many steps of environments the training has."""
    num_envs: int = 8
    """How many environments are stepped side by side."""
    num_steps: int = 128
    """How many steps each environment does in a round."""
    hidden: tuple[int, ...] = (64, 64)
    """Sizes of the hidden layers, of the actor as of the critic."""
    learning_rate: float = 1e-3
    """Of the optimiser Adam, at the beginning."""
    anneal_lr: bool = True
    """Whether it falls to nothing until the end."""
    gamma: float = 0.99
    """How much a reward is worth one step later."""
    gae_lambda: float = 0.95
    """How far advantages look at rewards rather than at values: 0 one step, 1 all."""
    num_minibatches: int = 4
    """Into how many parts the steps of a round are split."""
    update_epochs: int = 4
    """How often the steps of a round are gone through."""
    norm_adv: bool = True
    """Whether advantages of a minibatch get mean 0 and deviation 1."""
    clip_coef: float = 0.2
    """How far from 1 the ratio of new and old chances is of use."""
    clip_vloss: bool = False
    """Whether values are kept as near to the old ones, too."""
    ent_coef: float = 0.01
    """How much being undecided is worth."""
    vf_coef: float = 0.5
    """How much errors of values count."""
    max_grad_norm: float = 0.5
    """How long a gradient may be."""
    norm_obs: bool = False
    """Whether observations get mean 0 and deviation 1, as seen so far."""
    reward_scale: float = 0.1
    """What rewards are multiplied by for learning; scores are not. Best is what makes
    values about 10 or less."""

    def algorithm(self) -> PPO:
        """Return PPO with these settings."""
        from reactorl.rl.algorithms.ppo import PPO

        found: PPO = chosen(self, PPO)
        return found


@dataclass(frozen=True, kw_only=True)
class PPOSettings(PPOChoices, OnPolicySettings):
    """PPO: proximal policy optimisation, for a few actions or arrays of numbers."""


@dataclass(frozen=True, kw_only=True)
class IPPOSettings(PPOChoices):
    """Independent PPO: several agents, each of which learns as if it were alone."""

    env_id: str = "mpe2.simple_spread_v3"
    """The environment: a module that has parallel_env, as those of PettingZoo;
    "module:function" for another function that makes one."""
    total_timesteps: int = 240_000
    """How many steps of environments the training has; all agents act in each."""
    num_steps: int = 100
    """How many steps each environment does in a round."""
    gamma: float = 0.95
    """How much a reward is worth one step later."""
    reward_scale: float = 0.2
    """What rewards are multiplied by for learning; scores are not."""

    def flow(self) -> IPPO:
        """Return the task."""
        from reactorl.rl.algorithms.ippo import IPPO

        self.check()
        return IPPO(
            self.env_id,
            self.algorithm(),
            num_envs=self.num_envs,
            steps=self.num_steps,
            rounds=self.rounds,
            evaluate_every=self.evaluate_every,
            evaluation_episodes=self.eval_episodes,
            seed=self.seed,
        )


@dataclass(frozen=True, kw_only=True)
class IMPALASettings(OnPolicySettings):
    """IMPALA: an actor and a critic that make up for weights that are older."""

    total_timesteps: int = 256_000
    """How many steps of environments the training has."""
    num_steps: int = 32
    """How many steps each environment does in a round."""
    lag: int = 1
    """How many rounds older than necessary weights may be: 0, rollouts and learner
    take turns; 1 or more, they work side by side."""
    hidden: tuple[int, ...] = (64, 64)
    """Sizes of the hidden layers, of the actor as of the critic."""
    learning_rate: float = 1e-3
    """Of the optimiser Adam, at the beginning."""
    anneal_lr: bool = True
    """Whether it falls to nothing until the end."""
    gamma: float = 0.99
    """How much a reward is worth one step later."""
    vtrace_lambda: float = 0.95
    """How far targets look at rewards rather than at values: 0 one step, 1 all."""
    clip_rho: float = 1.0
    """Where ratios are cut off that say how much a step counts."""
    clip_c: float = 1.0
    """Where ratios are cut off that say how much later steps count for earlier ones."""
    num_minibatches: int = 4
    """Into how many groups environments are split; each gives an update."""
    ent_coef: float = 0.001
    """How much being undecided is worth."""
    vf_coef: float = 0.5
    """How much errors of values count."""
    max_grad_norm: float = 0.5
    """How long a gradient may be."""
    reward_scale: float = 0.1
    """What rewards are multiplied by for learning; scores are not."""

    def algorithm(self) -> Algorithm:
        """Return IMPALA with these settings."""
        from reactorl.rl.algorithms.impala import IMPALA

        found: Algorithm = chosen(self, IMPALA)
        return found


@dataclass(frozen=True, kw_only=True)
class QLearningSettings(OnPolicySettings):
    """Q-learning with a table, for environments with a few states and actions."""

    env_id: str = "FrozenLake-v1"
    """The environment, by its id; "module:id" imports a module first."""
    num_steps: int = 32
    """How many steps each environment does in a round."""
    learning_rate: float = 0.1
    """Which part of an error is made up for when an entry is changed first."""
    learning_rate_decay: float = 0.0
    """How fast that part falls for an entry, with each change of it."""
    gamma: float = 0.99
    """How much a reward is worth one step later."""
    start_e: float = 1.0
    """How often actions are random at the beginning."""
    end_e: float = 0.05
    """How often they are random when exploration is over."""
    exploration_fraction: float = 0.5
    """Which part of the training exploration takes."""
    initial_value: float = 0.0
    """What the table has at first; more than can be had makes it try everything."""

    def algorithm(self) -> Algorithm:
        """Return Q-learning with these settings."""
        from reactorl.rl.algorithms.q_learning import QLearning

        found: Algorithm = chosen(self, QLearning)
        return found
