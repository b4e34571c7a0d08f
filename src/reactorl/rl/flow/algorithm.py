# SPDX-License-Identifier: Apache-2.0
"""The interface of an algorithm: its hyper-parameters, how to act, how to learn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from reactorl import ReactorlError
from reactorl._util.serialization import state_without_cache
from reactorl.rl._public import public
from reactorl.rl.envs.rules import MAX_ENVS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from gymnasium import Space

    Array: TypeAlias = np.ndarray[Any, Any]
    Batch: TypeAlias = Mapping[str, Array]
    Random: TypeAlias = np.random.Generator  # noqa: TID251

    from reactorl.rl.algorithms.native_policy import NativePolicy
    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.flow.replay import ReplayConfig
    from reactorl.rl.flow.task import Task

Weights: TypeAlias = Any
"""What acting needs: read-only arrays in dicts and lists."""
State: TypeAlias = Any
"""What learning needs: weights, optimizer state, counters."""
Metrics: TypeAlias = "dict[str, float]"

_FINITE: Final = frozenset(
    {
        "alpha", "end_e", "ent_coef", "exploration_noise", "initial_value",
        "learning_rate", "learning_rate_decay", "policy_lr", "policy_noise", "priority",
        "q_lr", "reward_scale", "start_e", "train_frequency", "vf_coef",
    }
)  # fmt: skip
"""Hyper-parameters that cannot be infinite; limits can, which means no limit."""


@public
class FlowError(ReactorlError):
    """A task or one of its hyper-parameters is invalid.

    Attributes:
        what: What is wrong.
        remedy: How to fix it.
    """

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(what, remedy=remedy)
        self.args = (what, remedy)


def require(holds: bool, owner: object, name: str, rule: str) -> None:  # noqa: FBT001
    """Raise ``FlowError`` unless a field of ``owner`` follows its rule."""
    if not holds:
        value = getattr(owner, name)
        shown = f"{value:g}" if isinstance(value, float) else repr(value)
        msg = f"{name} must be {rule}, got {shown}"
        raise FlowError(msg)


@public
@dataclass(frozen=True, slots=True)
class Spaces:
    """Observation and action space of an environment, or of one agent in it."""

    observation: Space[Any]
    action: Space[Any]


@public
@dataclass(frozen=True, slots=True)
class ActInput:
    """What a policy acts on: one row per environment."""

    observations: Array
    """Encoded observations; see ``Encoder``."""
    action_mask: Array | None = None
    """Which actions are allowed, ``[environment, action]``; None: all."""
    memory: Batch | None = None
    """State of a recurrent policy; initial where an episode begins."""


@public
@dataclass(frozen=True, slots=True)
class ActOutput:
    """What a policy returns: one row per environment."""

    actions: Array
    extras: Batch = field(default_factory=dict)
    """More columns for the trajectory, such as log-probabilities."""
    memory: Batch | None = None
    """State of a recurrent policy after this step."""


@public
@dataclass(frozen=True, kw_only=True)
class Algorithm(ABC):
    """Hyper-parameters of an algorithm, and how it acts and learns with them.

    Subclass it to write one. The fields of the dataclass are the arguments in Python,
    the flags of ``reactorl train``, and what a run saves as its configuration.

    Methods are functions of their arguments: all randomness comes from the generators
    that are passed in, so that the same seed gives the same numbers on every worker.

    Raises:
        FlowError: A hyper-parameter is invalid.
    """

    total_timesteps: int = 80_000
    """Total number of environment steps, rounded up to whole iterations of
    num_envs * num_steps steps."""
    num_envs: int = 16
    """Number of parallel environments."""
    num_steps: int = 16
    """Steps per environment in an iteration."""

    # Without annotations, because these are not hyper-parameters.
    name = "Algorithm"
    """As in reports and diagrams."""
    default_env = "CartPole-v1"
    """The environment of ``reactorl train`` without ``--env-id``."""

    def __post_init__(self) -> None:
        self.check()

    def __getstate__(self) -> dict[str, Any]:
        return state_without_cache(self)

    def check(self) -> None:
        """Check the hyper-parameters; subclasses add their own rules.

        Raises:
            FlowError: One is invalid.
        """
        for name in ("total_timesteps", "num_envs", "num_steps"):
            require(getattr(self, name) >= 1, self, name, "at least 1")
        require(self.num_envs <= MAX_ENVS, self, "num_envs", f"at most {MAX_ENVS}")
        require(self.lag >= 0, self, "lag", "0 or more iterations")
        for each in fields(self):
            value = getattr(self, each.name)
            is_nan = isinstance(value, float) and value != value
            require(not is_nan, self, each.name, "a number")
            if each.name in _FINITE and isinstance(value, float):
                require(isfinite(value), self, each.name, "finite")
            if each.name in ("gamma", "gae_lambda"):
                require(0 <= value <= 1, self, each.name, "in [0, 1]")
            if each.name == "hidden":
                fits = all(size >= 1 for size in value)
                require(fits, self, each.name, "sizes of at least 1")

    # -- what follows from the hyper-parameters ---------------------------------------

    @property
    def lag(self) -> int:
        """Policy lag in iterations: how old the weights are that rollouts act with."""
        return 0

    @property
    def replay(self) -> ReplayConfig | None:
        """The replay buffer that batches are drawn from; None: learn on-policy."""
        return None

    @property
    def steps_per_iteration(self) -> int:
        """Environment steps in an iteration, of all environments."""
        return self.num_envs * self.num_steps

    @property
    def iterations(self) -> int:
        """Number of iterations: enough for ``total_timesteps``."""
        return -(-self.total_timesteps // self.steps_per_iteration)

    def task(self, env: Any = None, **options: Any) -> Task:  # noqa: ANN401
        """Return the task of training this algorithm on an environment.

        Args:
            env: The environment; None: ``default_env``.
            options: More arguments of the task: ``seed``, ``eval_every`` and so on.
        """
        kind = self.task_type()
        return kind(self.default_env if env is None else env, self, **options)

    @classmethod
    def task_type(cls) -> type[Task]:
        """Return the class of tasks for this algorithm."""
        from reactorl.rl.flow.flow import Flow

        return Flow

    # -- acting and learning ----------------------------------------------------------

    @abstractmethod
    def check_spaces(self, spaces: Spaces) -> None:
        """Check that the algorithm can handle these spaces.

        Raises:
            FlowError: It cannot.
        """

    @abstractmethod
    def init(self, spaces: Spaces, seed: int) -> State:
        """Return the state before the first update."""

    @abstractmethod
    def weights(self, state: State) -> Weights:
        """Return what acting needs of a state, read-only."""

    @abstractmethod
    def act(
        self, weights: Weights, inputs: ActInput, random: Random, progress: float
    ) -> ActOutput:
        """Return an action for each environment, with exploration.

        Args:
            weights: As returned by ``weights``.
            inputs: Observations, action mask and memory; not to be changed.
            random: Source of all randomness.
            progress: Fraction of the training that is over.
        """

    @abstractmethod
    def act_greedy(self, weights: Weights, inputs: ActInput) -> ActOutput:
        """Return the greedy action for each environment."""

    def native_policy(
        self, weights: Weights, shape: tuple[int, ...], progress: float
    ) -> NativePolicy | None:
        """Return a policy that acts as ``act`` and ``act_greedy`` do, in native code.

        Rollouts then need no Python between the steps of native environments.

        Args:
            weights: As returned by ``weights``.
            shape: Of the network's input, for one observation.
            progress: Fraction of the training that is over.

        Returns:
            The policy; None: there is none, and ``act`` is called in each step.
        """
        return None

    def initial_memory(self, spaces: Spaces, count: int) -> Batch | None:
        """Return the memory of a recurrent policy at the start of an episode.

        Args:
            spaces: Of the environment, or of the agent.
            count: Number of rows.

        Returns:
            Arrays by name with one row per environment; None: not recurrent.
        """
        return None

    @abstractmethod
    def update(
        self, state: State, batches: Sequence[Batch]
    ) -> tuple[State, Metrics, Sequence[Array] | None]:
        """Learn from batches, in their order.

        Returns:
            The new state, metrics, and for prioritized replay the TD errors of each
            batch.
        """

    @abstractmethod
    def serialize(self, state: State) -> Data:
        """Return a state as plain data: numbers, strings, arrays, dicts, lists."""

    @abstractmethod
    def deserialize(self, like: State, data: Data) -> State:
        """Return a state from plain data; ``like`` is one of the same structure."""
