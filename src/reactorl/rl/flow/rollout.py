# SPDX-License-Identifier: Apache-2.0
"""Rollouts: they step their environments with the weights they have, once a round."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reactorl import Input, Output, Reactor, param, reaction, shutdown, startup
from reactorl.rl._public import public
from reactorl.rl.checkpoint.registry import random_state, set_random_state
from reactorl.rl.flow.env_block import EnvBlock
from reactorl.rl.flow.trajectory import Columns, Trajectory

if TYPE_CHECKING:
    from reactorl.rl.checkpoint.registry import Data, StateRegistry
    from reactorl.rl.envs.factory import Maker
    from reactorl.rl.flow.algorithm import Algorithm, Spaces, Weights
    from reactorl.rl.flow.trajectory import Episode


@dataclass(frozen=True)
class RolloutPlan:
    """What all rollouts of a flow are to do."""

    maker: Maker = field(repr=False)
    spaces: Spaces
    algorithm: Algorithm
    num_envs: int
    """Of each rollout."""
    num_steps: int
    """Of each environment, in an iteration."""
    iterations: int
    """How many there will be: exploration depends on how much is left."""
    weights: Weights = field(repr=False)
    """To begin with."""
    env_seed: int
    registry: StateRegistry = field(repr=False)


@public
class Rollout(Reactor):
    """Collects steps at the tag at which a round begins.

    New weights count from the tag at which they arrive.
    """

    iteration = Input[int]()
    weights = Input[Any]()
    trajectory = Output[Trajectory]()

    plan: RolloutPlan = param()
    bank_index: int = param(0)

    def setup(self) -> None:
        """Have no environments yet."""
        self.envs: EnvBlock | None = None
        self.current = self.plan.weights
        self.sent: Trajectory | None = None
        self.sent_at = 0

    @reaction(startup)
    def make(self) -> None:
        """Make the environments, on this reactor's home worker."""
        plan = self.plan
        self.envs = EnvBlock(plan.maker, plan.spaces, plan.num_envs)
        first = plan.env_seed + self.bank_index * plan.num_envs
        self.envs.reset(range(first, first + plan.num_envs))
        saved = plan.registry.enter(self.name, self)
        if saved is not None:
            self._load(saved)

    @reaction(weights)
    def take(self) -> None:
        """Act with these from now on."""
        self.current = self.weights.value

    @reaction(iteration, effects=[trajectory])
    def collect(self) -> None:
        """Step the environments, and send what came of it."""
        plan, envs = self.plan, self.envs
        assert envs is not None
        progress = min(1.0, (self.iteration.value - 1) / plan.iterations)
        act, weights, random = plan.algorithm.act, self.current, self.np_random
        arrays, tag = envs.arrays, str(self.tag)
        steps = Columns(plan.num_steps)
        episodes: list[Episode] = []
        for _ in range(plan.num_steps):
            observations = envs.observations()
            actions, extras = act(weights, observations, random, progress)
            steps.put("observations", observations)
            steps.put("actions", actions)
            for name, value in extras.items():
                steps.put(name, value)
            ended = envs.step(actions, tag)
            steps.put("rewards", arrays.rewards)
            steps.put("terminations", arrays.terminations)
            steps.put("truncations", arrays.truncations)
            reached = steps.put("next_observations", envs.observations())
            for who, last, episode in ended:
                reached[who] = last  # the next episode has begun already
                episodes.append(episode)
            steps.next()
        last_observations = envs.observations().copy()
        self.sent = Trajectory(steps.arrays, last_observations, tuple(episodes))
        self.sent_at = self.elapsed
        self.trajectory.set(self.sent)

    # -- between rounds ---------------------------------------------------------------

    def save(self) -> Data:
        """Return everything that the next round depends on."""
        assert self.envs is not None
        return {
            "weights": self.current,
            "random": random_state(self.np_random),
            "envs": self.envs.save(),
            "sent": None if self.sent is None else self.sent.serialize(),
            "sent_at": self.sent_at,
        }

    def _load(self, saved: Data) -> None:
        assert self.envs is not None
        self.current = saved["weights"]
        if saved["sent"] is not None:  # for whoever saves before the next round
            self.sent = Trajectory.deserialize(saved["sent"])
            self.sent_at = saved["sent_at"]
        set_random_state(self.np_random, saved["random"])
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
