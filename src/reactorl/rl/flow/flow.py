# SPDX-License-Identifier: Apache-2.0
"""Flow: a training task for one agent, and the reactor program that follows from it.

::

    clock --iteration--> rollout[0..n) --trajectory--> replay --batches--> learner
                            ^                                                 |
                            +--------- weights, one iteration later ----------+

An iteration is one millisecond of logical time; iteration k is at k ms. With ``lag=0``
the learner learns from what was collected in the same iteration: rollouts and learner
take turns. With ``lag=k`` trajectories arrive one iteration later and weights k later:
within an iteration rollouts and learner do not depend on each other and run
concurrently, with a policy that is k iterations old. The lag is part of the program,
not a matter of timing, so results are reproducible.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Unpack

from reactorl import Reactor
from reactorl.rl._public import public
from reactorl.rl.checkpoint.registry import StateRegistry
from reactorl.rl.envs.factory import Recipe
from reactorl.rl.envs.rules import NativeOption  # noqa: TC001 - of a flag
from reactorl.rl.envs.shard_factory import ShardFactory
from reactorl.rl.flow.algorithm import FlowError, Spaces, require
from reactorl.rl.flow.environment import (
    PreprocessingOptions,
    TaskEnv,
    check_reward,
    task_env,
    unmade,
)
from reactorl.rl.flow.evaluation import play
from reactorl.rl.flow.federates import flow_federation, rollout_blocks
from reactorl.rl.flow.parameter_server import SplitsUpdate
from reactorl.rl.flow.program import PERIOD, TrainingLoop, in_flight
from reactorl.rl.flow.replay import check_memory
from reactorl.rl.flow.run import DrivenRun, RunOptions
from reactorl.rl.flow.shard_envs import EvaluationEnvs
from reactorl.rl.flow.task import Iteration, Task, TaskOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import gymnasium as gym

    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.envs.factory import Maker
    from reactorl.rl.flow.algorithm import Algorithm, State, Weights
    from reactorl.rl.flow.evaluation import PlayProgress
    from reactorl.rl.flow.trajectory import Episode, Trajectory

PARTS = frozenset({"rollout", "replay", "learner", "server", "evaluation"})


@dataclass(frozen=True, kw_only=True)
class FlowOptions(TaskOptions, PreprocessingOptions):
    """Options of a ``Flow`` that are flags of ``reactorl train``, too."""

    rollouts: int = 0
    """Number of rollout reactors; must divide num_envs. 0: the largest of 4, 3, 2, 1
    that does. Each has its own random numbers, so another number gives other
    results."""
    # Not compared: it decides how environments are stepped, not what is computed.
    native: NativeOption = field(default="auto", repr=False, compare=False)
    """Whether Gymnasium's own environments are stepped in native code: those of ids
    that have it, all (an error if one has none), or none. Results are the same."""


@public
@dataclass(frozen=True, kw_only=True)
class Flow(FlowOptions, Task):
    """A training task for one agent: an environment, an algorithm, and their options.

    Raises:
        FlowError: An option is invalid, ``rollouts`` does not divide ``num_envs``, or
            the algorithm cannot be trained with these options.

    Example:
        >>> weights = Flow("CartPole-v1", PPO(total_timesteps=50_000)).run()
    """

    env: str | Maker = field(kw_only=False, repr=False)
    """The environment: a Gymnasium id, or a function that makes one."""
    algorithm: Algorithm = field(kw_only=False)
    """The algorithm with its hyper-parameters, e.g. ``PPO(gamma=0.9)``."""
    learners: int | None = None
    """Number of learners that compute gradients for a parameter server, each from a
    batch of its own; None: one learner without a server. Only DQN supports it, with
    one update per iteration (train_frequency = num_envs * num_steps)."""
    parts: Mapping[str, type[Reactor]] = field(default_factory=dict)
    """Reactor classes that replace the built-in ones: ``rollout``, ``replay``,
    ``learner``, ``server``, ``evaluation``; with the same ports and parameters."""

    options_type = FlowOptions

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.rollouts >= 0, self, "rollouts", "0 or more")
        count = self.algorithm.num_envs
        if count % self.num_rollouts:
            msg = (
                f"num_envs must be divisible by rollouts, got num_envs={count}, "
                f"rollouts={self.rollouts}"
            )
            raise FlowError(msg)
        self._check_replay()
        self._check_learners()
        part: Any
        for name, part in self.parts.items():
            if name not in PARTS:
                known = ", ".join(sorted(PARTS))
                msg = f"parts must have keys among {known}, got {name!r}"
                raise FlowError(msg)
            if not (isinstance(part, type) and issubclass(part, Reactor)):
                msg = f"part {name!r} must be a reactor class, got {part!r}"
                raise FlowError(msg)

    def _check_replay(self) -> None:
        algorithm, replay = self.algorithm, self.algorithm.replay
        if replay is None:
            return
        needed = (algorithm.lag + 1) * algorithm.steps_per_iteration
        if replay.capacity < needed:
            msg = (
                f"replay capacity must be at least {needed} transitions (lag + 1 "
                f"iterations), got {replay.capacity}"
            )
            raise FlowError(msg, "Enlarge the replay buffer or reduce the lag.")
        steps = algorithm.iterations * algorithm.steps_per_iteration
        if replay.starts_at > steps:
            msg = (
                f"learning must start within {steps} steps of training, got a start "
                f"at step {replay.starts_at}"
            )
            raise FlowError(msg, "Start learning earlier, or train longer.")

    def _check_learners(self) -> None:
        count, algorithm = self.learners, self.algorithm
        if count is None:
            return
        require(count >= 1, self, "learners", "at least 1, or None")
        if not isinstance(algorithm, SplitsUpdate) or algorithm.replay is None:
            msg = f"learners must be None for {algorithm.name}, got {count}"
            remedy = "Its update cannot be split among learners; that of DQN can."
            raise FlowError(msg, remedy)
        if getattr(algorithm, "norm_obs", False):
            msg = f"norm_obs must be False with learners={count}, got True"
            raise FlowError(msg, "Learners share gradients, not statistics.")
        if algorithm.replay.updates != 1:
            msg = (
                f"updates per iteration must be 1 with learners={count}, got "
                f"{algorithm.replay.updates}"
            )
            steps = algorithm.steps_per_iteration
            raise FlowError(msg, f"For DQN, set train_frequency={steps}.")

    # -- what follows from the description --------------------------------------------

    @cached_property
    def task_env(self) -> TaskEnv:
        """How the environments are made."""
        return task_env(self.env, self)

    @property
    def maker(self) -> Maker:
        """Makes one environment."""
        return self.task_env.maker

    @property
    def preprocessing_steps(self) -> tuple[str, ...]:
        """What happens between the environment and the agent, in words, in order."""
        return self.task_env.preprocessing

    @property
    def spaces(self) -> Spaces:
        """The spaces of the environment; makes one and closes it, once."""
        return self._probed[0]

    @property
    def env_max_steps(self) -> int | None:
        """Steps after which the environment truncates an episode, if it is known."""
        return self._probed[1]

    @cached_property
    def _probed(self) -> tuple[Spaces, int | None]:
        """The spaces and the limit of steps of an environment."""
        env = self._make_first()
        try:
            found = Spaces(env.observation_space, env.action_space)
            if isinstance(self.env, str):
                check_reward(env, self.env, self)
            spec = getattr(env, "spec", None)
            limit = None if spec is None else spec.max_episode_steps
        finally:
            env.close()
        self.algorithm.check_spaces(found)
        return found, self.task_env.max_steps if limit is None else limit

    def _make_first(self) -> gym.Env[Any, Any]:
        """Make an environment; failures of ids are reported as errors of the task."""
        maker = self.maker
        if not isinstance(self.env, str):
            return maker()
        try:
            return maker()
        except FlowError:
            raise
        except Exception as error:  # another package may raise anything
            raise unmade(self.env, error) from error

    @cached_property
    def shards(self) -> ShardFactory:
        """Makes the environments of rollouts and evaluation."""
        return ShardFactory(
            self.maker,
            self.placement,
            timeout=self.env_timeout,
            restart=self.env_restart,
            native=self.native,
            num_envs=self.algorithm.num_envs // self.num_rollouts,
            num_shards=self.num_rollouts,
            concurrent=True,  # with the shard of evaluation, at least
        )

    @property
    def num_rollouts(self) -> int:
        """Number of rollout reactors."""
        if self.rollouts:
            return self.rollouts
        return next((n for n in (4, 3, 2) if self.algorithm.num_envs % n == 0), 1)

    @property
    def learner_path(self) -> str:
        """Full name of the reactor that has the learner's state."""
        return "main.learner" if self.learners is None else "main.server"

    def check(self) -> None:
        """Check that the algorithm can handle the environment's spaces."""
        _ = self.shards, self.spaces
        replay = self.algorithm.replay
        if replay is not None:
            steps = self.algorithm.iterations * self.algorithm.steps_per_iteration
            check_memory(min(replay.capacity, steps), self.spaces)

    def check_federates(self, count: int) -> None:
        """Check that so many processes can share the rollouts."""
        rollout_blocks(self.num_rollouts, count)

    # -- the program ------------------------------------------------------------------

    def main(self, registry: StateRegistry | None = None, first: int = 1) -> Reactor:
        """Return the main reactor, to be driven or contained in another."""
        self.check()
        registry = registry or StateRegistry()
        return TrainingLoop(flow=self, registry=registry, first=first)

    def start(self, **options: Unpack[RunOptions]) -> FlowRun:
        """Return a run of the flow, a context manager; see ``RunOptions``."""
        return FlowRun(self, **options)

    # -- trained weights --------------------------------------------------------------

    def trained_weights(self, saved: Mapping[str, Data]) -> Weights:
        """Return the weights in a saved state."""
        like = self.algorithm.init(self.spaces, self.seed)
        state = saved["parts"][self.learner_path]["state"]
        return self.algorithm.weights(self.algorithm.deserialize(like, state))

    def play(
        self,
        weights: Weights,
        *,
        episodes: int,
        seed: int,
        watch: Callable[[Any], None] | None = None,
        report: Callable[[PlayProgress], None] | None = None,
    ) -> list[Episode]:
        """Play episodes greedily."""
        maker = self.maker
        if watch is not None and isinstance(maker, Recipe):
            rendered = {**maker.kwargs, "render_mode": "rgb_array"}
            maker = replace(maker, kwargs=rendered)

        shards = ShardFactory(maker, native=self.native if watch is None else False)
        return play(
            lambda count: EvaluationEnvs(
                shards, self.spaces, count, self.algorithm, self.max_eval_steps
            ),
            weights,
            episodes=episodes,
            seed=seed,
            watch=watch,
            report=report,
        )


@public
class FlowRun(DrivenRun[Iteration]):
    """A run of a flow; a context manager.

    Args:
        flow: What to train.
        options: How to run: ``workers``, ``trace``, ``saved``, ``timing``, ``shuffle``,
            ``at_start`` and ``at_end``; see ``RunOptions``.
    """

    def __init__(self, flow: Flow, **options: Unpack[RunOptions]) -> None:
        self.flow = flow
        federation = options.pop("federation", None)
        if federation is not None:
            options["federation"] = flow_federation(flow, federation)
        super().__init__(
            flow.main,
            seed=flow.seed,
            period=PERIOD,
            limit=flow.iterations,
            preload=partial(in_flight, flow),
            options=options,
        )

    def step(self) -> Iteration:
        """Do one iteration."""
        outputs = self._next()
        self.done += 1
        found: list[Trajectory] = outputs["trajectories"]
        return Iteration(
            self.done,
            sum(t.steps for t in found),
            tuple(e for t in found for e in t.episodes),
            outputs.get("metrics"),
            outputs.get("evaluated"),
        )

    @property
    def state(self) -> State:
        """The current state of the learner."""
        return self.registry.reactor(self.flow.learner_path).state

    @property
    def weights(self) -> Weights:
        """The current weights."""
        return self.flow.algorithm.weights(self.state)
