# SPDX-License-Identifier: Apache-2.0
"""What was collected, on its way to the learner: by a replay buffer, or directly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reactorl import Input, MultiInput, Output, Reactor, param, reaction, startup
from reactorl.rl._public import public
from reactorl.rl.checkpoint.registry import random_state, set_random_state
from reactorl.rl.flow.trajectory import Trajectory, rows, side_by_side

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.checkpoint.registry import Data, Records
    from reactorl.rl.flow.trajectory import Array


@public
@dataclass(frozen=True, slots=True)
class ReplayConfig:
    """How steps are kept and drawn.

    Attributes:
        capacity: How many steps are kept; the oldest give way.
        batch_size: How many are drawn for an update.
        updates: How many batches are drawn in a round.
        starts_at: So many steps must have been collected before the first batch.
        priority: How strongly steps are preferred whose error was large: 0 not at all,
            1 in proportion to it.
        correction: How far weights make up for that preference, from 0 to 1.
    """

    capacity: int = 10_000
    batch_size: int = 64
    updates: int = 1
    starts_at: int = 1_000
    priority: float = 0.0
    correction: float = 0.4


class Ring:
    """Arrays in which new rows take the places of the oldest."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.size = 0
        self.next = 0
        self.columns: dict[str, Array] = {}

    def add(self, new: dict[str, Array]) -> Array:
        """Add rows, in order; return where they are."""
        count = len(next(iter(new.values())))
        places = (self.next + np.arange(count)) % self.capacity
        for name, values in new.items():
            if name not in self.columns:
                shape = (self.capacity, *values.shape[1:])
                self.columns[name] = np.zeros(shape, values.dtype)
            # Of more rows than there are places the last ones stay.
            self.columns[name][places[-self.capacity :]] = values[-self.capacity :]
        self.next = int((self.next + count) % self.capacity)
        self.size = min(self.size + count, self.capacity)
        return places[-self.capacity :]


@public
class Replay(Reactor):
    """Keeps steps, and sends batches of them at the tag at which new ones arrive."""

    trajectories = MultiInput[Trajectory]()
    errors = Input[Any]()
    """How wrong the learner was about the steps of the last batches."""
    batches = Output[Any]()

    plan: ReplayConfig = param()
    records: Records = param()

    def setup(self) -> None:
        """Begin empty."""
        self.ring = Ring(self.plan.capacity)
        self.total = 0
        self.priorities = np.zeros(self.plan.capacity)
        self.highest = 1.0
        self.drawn: list[Array] = []

    @reaction(startup)
    def begin(self) -> None:
        """Take up what was saved."""
        saved = self.records.enter(self.name, self)
        if saved is not None:
            self._load(saved)

    @reaction(errors)
    def learn_priorities(self) -> None:
        """Prefer steps about which the learner was wrong."""
        if self.plan.priority == 0.0:
            return
        for places, errors in zip(self.drawn, self.errors.value, strict=True):
            found = np.abs(np.asarray(errors, dtype=np.float64)) + 1e-6
            self.priorities[places] = found
            self.highest = max(self.highest, float(found.max()))

    @reaction(trajectories, effects=[batches])
    def keep_and_draw(self) -> None:
        """Add what arrived, in the order of rollouts, and draw batches."""
        for trajectory in self.trajectories.values():
            places = self.ring.add(rows(trajectory))
            self.priorities[places] = self.highest
            self.total += trajectory.steps
        plan = self.plan
        if self.total < max(plan.starts_at, 1):
            return
        shape = (plan.updates, plan.batch_size)
        if plan.priority == 0.0:
            chosen = self.np_random.integers(self.ring.size, size=shape)
            weights = None
        else:
            chosen, weights = self._by_priority(shape)
        self.drawn = list(chosen)
        # All batches are one array for each column, of which each batch has a row.
        drawn = {name: column[chosen] for name, column in self.ring.columns.items()}
        if weights is not None:
            drawn["importance"] = weights.astype(np.float32)
        self.batches.set(
            [{name: c[k] for name, c in drawn.items()} for k in range(plan.updates)]
        )

    def _by_priority(self, shape: tuple[int, int]) -> tuple[Array, Array]:
        plan, size = self.plan, self.ring.size
        scaled = self.priorities[:size] ** plan.priority
        upto = np.cumsum(scaled)
        points = self.np_random.random(shape) * upto[-1]
        chosen = np.minimum(np.searchsorted(upto, points, side="right"), size - 1)
        chance = scaled[chosen] / upto[-1]
        weights = (size * chance) ** -plan.correction
        return chosen, weights / weights.max()

    # -- between rounds ---------------------------------------------------------------

    def save(self) -> Data:
        """Return everything that is kept."""
        return {
            "columns": {n: c[: self.ring.size].copy() for n, c in self.columns.items()},
            "next": self.ring.next,
            "total": self.total,
            "priorities": self.priorities[: self.ring.size].copy(),
            "highest": self.highest,
            "drawn": [places.copy() for places in self.drawn],
            "random": random_state(self.np_random),
        }

    @property
    def columns(self) -> dict[str, Array]:
        """What is kept, by name."""
        return self.ring.columns

    def _load(self, saved: Data) -> None:
        size = len(saved["priorities"])
        if size:
            self.ring.add(saved["columns"])
        self.ring.next = saved["next"]
        self.total = saved["total"]
        self.priorities[:size] = saved["priorities"]
        self.highest = saved["highest"]
        self.drawn = list(saved["drawn"])
        set_random_state(self.np_random, saved["random"])


class Gather(Reactor):
    """Puts what all rollouts collected side by side: one batch a round."""

    trajectories = MultiInput[Trajectory]()
    errors = Input[Any]()
    batches = Output[Any]()

    @reaction(trajectories, effects=[batches])
    def gather(self) -> None:
        """Send everything, in the order of rollouts."""
        found: Sequence[Trajectory] = list(self.trajectories.values())
        self.batches.set([side_by_side(found)])
