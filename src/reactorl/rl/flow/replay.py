# SPDX-License-Identifier: Apache-2.0
"""From trajectories to batches: through a replay buffer, or directly (on-policy)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.vector.utils import create_empty_array

from reactorl import Input, MultiInput, Output, Reactor, param, reaction, startup
from reactorl._util.machine import memory_gib
from reactorl.rl._public import public
from reactorl.rl.checkpoint.registry import random_state, set_random_state
from reactorl.rl.flow.algorithm import FlowError
from reactorl.rl.flow.encoding import Encoder
from reactorl.rl.flow.trajectory import Trajectory, concatenate
from reactorl.rl.flow.transition_store import TransitionStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.checkpoint.registry import Data, StateRegistry
    from reactorl.rl.flow.algorithm import Random, Spaces
    from reactorl.rl.flow.trajectory import Array

_OTHER_BYTES = 26
"""Of a transition: reward, termination, truncation, link and priority."""


@public
@dataclass(frozen=True, slots=True)
class ReplayConfig:
    """A replay buffer, and how batches are drawn from it."""

    # The digest of a program covers these names, as part of the reactor's parameters.
    capacity: int = 10_000
    """Number of transitions; new ones replace the oldest."""
    batch_size: int = 64
    """Transitions in a batch."""
    updates: int = 1
    """Number of batches drawn in an iteration."""
    starts_at: int = 1_000
    """Environment steps before the first batch."""
    priority: float = 0.0
    """Prioritization exponent alpha: 0: uniform sampling; 1: proportional to the
    absolute TD error (plus 1e-6)."""
    correction: float = 0.4
    """Importance-sampling exponent beta, from 0 (no correction) to 1 (full)."""
    n_step: int = 1
    """Rewards that are summed, with discounts, before the next observation."""
    gamma: float = 1.0
    """Discount factor of these sums."""


def sample_uniform(random: Random, size: int, shape: tuple[int, int]) -> Array:
    """Return uniformly drawn indices below ``size``."""
    return random.integers(size, size=shape)


def sample_by_priority(
    random: Random,
    priorities: Array,
    shape: tuple[int, int],
    *,
    alpha: float,
    beta: float,
) -> tuple[Array, Array]:
    """Return drawn indices, and their importance-sampling weights.

    Index i is drawn with probability P(i), proportional to ``priorities[i] ** alpha``.
    Its weight is ``(n P(i)) ** -beta``, divided by the largest one that was drawn.
    """
    size = len(priorities)
    scaled = priorities**alpha
    cumulative = np.cumsum(scaled)
    points = random.random(shape) * cumulative[-1]
    found = np.searchsorted(cumulative, points, side="right")
    chosen = np.minimum(found, size - 1)
    probability = scaled[chosen] / cumulative[-1]
    importance = (size * probability) ** -beta
    return chosen, importance / importance.max()


def check_memory(capacity: int, spaces: Spaces) -> None:
    """Check that so many transitions fit into the machine's memory.

    Arrays take memory only when they are written, so a buffer that is too large would
    end the process hours later.

    Raises:
        FlowError: They do not fit.
    """
    memory = memory_gib()
    if memory is None:
        return
    encoder = Encoder(spaces.observation)
    observation = encoder.batch(create_empty_array(spaces.observation, 1))
    action = np.asarray(create_empty_array(spaces.action, 1))
    row = int(observation.nbytes + action.nbytes) + _OTHER_BYTES
    fits = int(memory * 2**30) // row
    if capacity > fits:
        msg = (
            f"replay capacity must be at most {fits:,} transitions of {row:,} bytes in "
            f"{memory:.1f} GiB of memory, got {capacity:,}"
        )
        remedy = f"Reduce buffer_size: this takes {capacity * row / 2**30:.1f} GiB."
        raise FlowError(msg, remedy)


@public
class Replay(Reactor):
    """Stores transitions, and sends batches at the tag at which new ones arrive."""

    trajectories = MultiInput[Trajectory]()
    errors = Input[Any]()
    """TD errors of the last batches."""
    batches = Output[Any]()

    plan: ReplayConfig = param()
    registry: StateRegistry = param()

    def setup(self) -> None:
        """Start empty."""
        self.store = TransitionStore(self.plan.capacity)
        self.priorities = np.zeros(self.plan.capacity)
        self.highest = 1.0
        self.drawn: list[Array] = []

    @reaction(startup)
    def begin(self) -> None:
        """Restore what was saved."""
        saved = self.registry.enter(self.name, self)
        if saved is not None:
            self._load(saved)

    @reaction(errors)
    def update_priorities(self) -> None:
        """Set the priorities of the transitions drawn last to their TD errors."""
        if self.plan.priority == 0.0:
            return
        for indices, errors in zip(self.drawn, self.errors.value, strict=True):
            found = np.abs(np.asarray(errors, dtype=np.float64)) + 1e-6
            self.priorities[indices] = found
            self.highest = max(self.highest, float(found.max()))

    @reaction(trajectories, effects=[batches])
    def store_and_sample(self) -> None:
        """Store the trajectories, in the order of rollouts, and draw batches."""
        for rollout, port in self.trajectories.present():
            indices = self.store.add(rollout, port.value)
            self.priorities[indices] = self.highest
        plan, store = self.plan, self.store
        if store.count < max(plan.starts_at, 1):
            return
        shape = (plan.updates, plan.batch_size)
        if plan.priority == 0.0:
            chosen = sample_uniform(self.np_random, store.size, shape)
            importance = None
        else:
            chosen, importance = sample_by_priority(
                self.np_random,
                self.priorities[: store.size],
                shape,
                alpha=plan.priority,
                beta=plan.correction,
            )
        self.drawn = list(chosen)
        # One array per column for all batches, of which each batch is a row.
        drawn = store.take(chosen, plan.n_step, plan.gamma)
        if importance is not None:
            drawn["importance"] = importance.astype(np.float32)
        self.batches.set(
            [{name: c[k] for name, c in drawn.items()} for k in range(plan.updates)]
        )

    # -- checkpoints ------------------------------------------------------------------

    def save(self) -> Data:
        """Return the content of the buffer."""
        return {
            **self.store.save(),
            "priorities": self.priorities[: self.store.size].copy(),
            "highest": self.highest,
            "drawn": [indices.copy() for indices in self.drawn],
            "random": random_state(self.np_random),
        }

    def _load(self, saved: Data) -> None:
        self.store.load(saved)
        self.priorities[: self.store.size] = saved["priorities"]
        self.highest = saved["highest"]
        self.drawn = list(saved["drawn"])
        set_random_state(self.np_random, saved["random"])


class Gather(Reactor):
    """Sends the trajectories of all rollouts as one batch, in the same iteration."""

    trajectories = MultiInput[Trajectory]()
    errors = Input[Any]()
    batches = Output[Any]()

    @reaction(trajectories, effects=[batches])
    def gather(self) -> None:
        """Send everything, in the order of rollouts."""
        found: Sequence[Trajectory] = list(self.trajectories.values())
        self.batches.set([concatenate(found)])
