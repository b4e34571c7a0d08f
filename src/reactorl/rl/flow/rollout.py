# SPDX-License-Identifier: Apache-2.0
"""Rollouts: step environments with the current policy, once per iteration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from reactorl import Input, Output, Reactor, param, reaction, shutdown, startup
from reactorl.rl._public import public
from reactorl.rl.checkpoint.registry import random_state, set_random_state
from reactorl.rl.flow.algorithm import FlowError
from reactorl.rl.flow.native_stepping import NativeRollout
from reactorl.rl.flow.policy_memory import memory_columns
from reactorl.rl.flow.shard_envs import RolloutEnvs
from reactorl.rl.flow.trajectory import Columns, Trajectory

if TYPE_CHECKING:
    from reactorl.rl.checkpoint.registry import Data, StateRegistry
    from reactorl.rl.envs.shard_factory import ShardFactory
    from reactorl.rl.flow.algorithm import Algorithm, Array, Spaces, Weights
    from reactorl.rl.flow.trajectory import Episode


@dataclass(frozen=True)
class RolloutPlan:
    """Parameters of all rollouts of a flow."""

    shards: ShardFactory = field(repr=False)
    """Makes the environments; where they live does not change results."""
    spaces: Spaces
    algorithm: Algorithm
    num_envs: int
    """Of each rollout."""
    num_steps: int
    """Of each environment, in an iteration."""
    iterations: int
    """Number of iterations, for the progress that exploration depends on."""
    weights: Weights = field(repr=False)
    """Initial weights."""
    env_seed: int
    registry: StateRegistry = field(repr=False)
    clip_rewards: bool = False
    """Whether trajectories have the sign of rewards; episode returns are unclipped."""


@public
class Rollout(Reactor):
    """Collects a trajectory at the tag at which an iteration begins.

    New weights are used from the tag at which they arrive.
    """

    iteration = Input[int]()
    weights = Input[Any]()
    trajectory = Output[Trajectory]()

    plan: RolloutPlan = param()
    bank_index: int = param(0)

    def setup(self) -> None:
        """Start a worker process, if the environments live in one."""
        plan = self.plan
        self.envs: RolloutEnvs | None = RolloutEnvs(
            plan.shards, plan.spaces, plan.num_envs, plan.algorithm
        )
        self.current = self.plan.weights
        self.sent: Trajectory | None = None
        self.sent_at = 0

    @reaction(startup)
    def make(self) -> None:
        """Make the environments, on this reactor's home worker."""
        plan = self.plan
        assert self.envs is not None
        self.envs.open()
        first = plan.env_seed + self.bank_index * plan.num_envs
        self.envs.reset({k: first + k for k in range(plan.num_envs)})
        saved = plan.registry.enter(self.name, self)
        if saved is not None:
            self._load(saved)

    @reaction(weights)
    def take(self) -> None:
        """Act with these weights from now on."""
        self.current = self.weights.value

    @reaction(iteration, effects=[trajectory])
    def collect(self) -> None:
        """Step the environments, and send the trajectory."""
        plan, envs = self.plan, self.envs
        assert envs is not None
        progress = min(1.0, (self.iteration.value - 1) / plan.iterations)
        act, weights, random = plan.algorithm.act, self.current, self.np_random
        arrays, tag = envs.arrays, str(self.tag)
        steps = Columns(plan.num_steps)
        episodes: list[Episode] = []
        native = None
        if envs.native is not None and not plan.clip_rewards:
            acting = (plan.algorithm, weights, progress, random)
            native = NativeRollout(envs, steps, plan.num_steps, *acting)
        step = 0
        while step < plan.num_steps:
            is_begun = False
            if native is not None:
                step, is_begun = native.advance(step, episodes)
                if step == plan.num_steps:
                    break
                random = native.random(step)
            steps.go_to(step)
            if native is not None and is_begun:
                ended = native.finish(step, tag)
            else:
                inputs = envs.inputs()
                output = act(weights, inputs, random, progress)
                steps.put("observations", inputs.observations)
                steps.put("actions", output.actions)
                for name, value in output.extras.items():
                    steps.put(name, value)
                if inputs.action_mask is not None:
                    steps.put("action_masks", inputs.action_mask)
                if inputs.memory is not None:
                    for name, value in memory_columns(inputs.memory).items():
                        steps.put(name, value)
                ended = envs.step(output, tag)
            rewards = arrays.rewards
            steps.put("rewards", np.sign(rewards) if plan.clip_rewards else rewards)
            terminations = steps.put("terminations", arrays.terminations)
            if envs.lives_lost:
                terminations[envs.lives_lost] = True
            steps.put("truncations", arrays.truncations)
            reached = steps.put("next_observations", envs.observations())
            next_masks = envs.action_masks
            if next_masks is not None:
                next_masks = steps.put("next_action_masks", next_masks)
            for who, last, episode, last_mask in ended:
                reached[who] = last  # the next episode has begun already
                if next_masks is not None:
                    next_masks[who] = last_mask
                episodes.append(episode)
            step += 1
        for name, what in (("rewards", "reward"), ("next_observations", "observation")):
            self._check_finite(steps.arrays[name], what)
        last_observations = envs.observations().copy()
        self.sent = Trajectory(steps.arrays, last_observations, tuple(episodes))
        self.sent_at = self.elapsed
        self.trajectory.set(self.sent)

    def _check_finite(self, values: Array, what: str) -> None:
        """Check that values are numbers: one NaN makes all weights NaN.

        Raises:
            FlowError: One is not.
        """
        if values.dtype.kind != "f" or np.isfinite(values).all():
            return
        step, env, *_ = found = tuple(np.argwhere(~np.isfinite(values))[0].tolist())
        index = self.bank_index * self.plan.num_envs + env
        msg = (
            f"{what} must be finite, got {values[found]} of environment {index} in "
            f"step {step + 1} of iteration {self.iteration.value}"
        )
        raise FlowError(msg, "Correct the environment, or wrap it.")

    # -- checkpoints ------------------------------------------------------------------

    def save(self) -> Data:
        """Return the state between two iterations."""
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
        if saved["sent"] is not None:  # saved again before the next iteration
            self.sent = Trajectory.deserialize(saved["sent"])
            self.sent_at = saved["sent_at"]
        set_random_state(self.np_random, saved["random"])
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
