# SPDX-License-Identifier: Apache-2.0
"""Transitions in a ring, against a naive buffer that stores everything twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reactorl.rl import Trajectory
from reactorl.rl.flow.transition_store import TransitionStore
from tests.rl.trained import same


@dataclass(frozen=True)
class Step:
    """A transition, in the naive buffer."""

    observation: int
    reward: float
    terminated: bool
    truncated: bool
    next_observation: int


class Recorded:
    """Environments that end at random, and every step they made."""

    def __init__(self, seed: int, rollouts: int, width: int, length: int) -> None:
        self.random = np.random.Generator(np.random.PCG64(seed))
        self.length = length
        self.current = np.arange(rollouts * width).reshape(rollouts, width) * 1000
        self.fresh = 1_000_000
        self.steps: dict[tuple[int, int], list[Step]] = {}
        self.order: list[tuple[int, int, int]] = []

    def trajectory(self, rollout: int) -> Trajectory:
        """Return the next trajectory of a rollout."""
        now = self.current[rollout]
        columns: dict[str, list[Any]] = {
            "observations": [],
            "rewards": [],
            "terminations": [],
            "truncations": [],
            "next_observations": [],
        }
        for _ in range(self.length):
            following = now + 1
            kinds = self.random.integers(8, size=len(now))
            rewards = self.random.integers(-3, 4, size=len(now)) / 2
            for name, values in (
                ("observations", now.copy()),
                ("rewards", rewards),
                ("terminations", np.isin(kinds, (0, 2))),
                ("truncations", np.isin(kinds, (1, 2))),
                ("next_observations", following),
            ):
                columns[name].append(values)
            for env, kind in enumerate(kinds):
                step = Step(
                    int(now[env]),
                    float(rewards[env]),
                    kind in (0, 2),
                    kind in (1, 2),
                    int(following[env]),
                )
                mine = self.steps.setdefault((rollout, env), [])
                self.order.append((rollout, env, len(mine)))
                mine.append(step)
            self.fresh += len(now)
            now = np.where(kinds < 3, self.fresh + np.arange(len(now)), following)
        self.current[rollout] = now
        arrays = {name: np.array(values) for name, values in columns.items()}
        images = ("observations", "next_observations")
        arrays |= {name: arrays[name][:, :, None, None] for name in images}
        return Trajectory(arrays, arrays["next_observations"][-1], ())

    def n_step(self, number: int, n: int, gamma: float) -> tuple[Any, ...]:
        """Return an n-step transition, one step after the other."""
        rollout, env, first = self.order[number]
        total, discount = 0.0, 1.0
        for step in self.steps[rollout, env][first : first + n]:
            total += discount * step.reward
            discount *= gamma
            if step.terminated or step.truncated:
                break
        first_observation = self.steps[rollout, env][first].observation
        return (
            first_observation,
            total,
            step.terminated,
            step.truncated,
            step.next_observation,
            discount,
        )


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    rollouts=st.integers(1, 3),
    width=st.integers(1, 3),
    length=st.integers(1, 4),
    extra=st.integers(0, 30),
    iterations=st.integers(1, 12),
    n=st.integers(1, 6),
    save_at=st.integers(0, 12),
)
# The newest transition of the first trajectory is replaced by the second one.
@example(seed=0, rollouts=1, width=1, length=2, extra=0, iterations=2, n=1, save_at=12)
def test_n_step_transitions_equal_those_of_a_naive_buffer(
    seed: int,
    rollouts: int,
    width: int,
    length: int,
    extra: int,
    iterations: int,
    n: int,
    save_at: int,
) -> None:
    capacity = width * length + extra  # as little as one trajectory
    recorded = Recorded(seed, rollouts, width, length)
    store = TransitionStore(capacity)
    for iteration in range(iterations):
        for rollout in range(rollouts):
            added = store.add(rollout, recorded.trajectory(rollout))
            assert len(added) == width * length
        if iteration == save_at:
            saved = store.save()
            store = TransitionStore(capacity)
            store.load(saved)
            assert same(store.save(), saved)

    assert store.count == len(recorded.order)
    assert store.size == min(capacity, store.count)
    numbers = np.arange(store.count - store.size, store.count)
    found = store.take((numbers % capacity)[None], n, 0.5)
    if n == 1:
        assert "discounts" not in found
        found["discounts"] = np.full((1, store.size), 0.5)
    names = (
        "observations",
        "rewards",
        "terminations",
        "truncations",
        "next_observations",
        "discounts",
    )
    rows = list(zip(*(found[name].reshape(-1).tolist() for name in names), strict=True))
    # Powers of 2 and small halves: sums are exact, in any order.
    assert rows == [recorded.n_step(number, n, 0.5) for number in numbers]


def test_observations_are_stored_once() -> None:
    recorded = Recorded(1, rollouts=2, width=4, length=8)
    store = TransitionStore(1000)
    for _ in range(100):
        for rollout in range(2):
            store.add(rollout, recorded.trajectory(rollout))

    assert "next_observations" not in store.columns
    saved = store.save()
    ends = saved["columns"]["terminations"] | saved["columns"]["truncations"]
    # Of the ends of episodes, and of the newest transition of each environment.
    assert ends.sum() <= len(saved["last"]) <= ends.sum() + 8
    # Places are used again: after 6 times the capacity there are not 6 times as many.
    places = store._last._array
    assert places is not None
    assert len(places) < 2 * len(saved["last"])


def test_a_trajectory_longer_than_the_capacity_raises() -> None:
    trajectory = Recorded(1, rollouts=1, width=2, length=3).trajectory(0)
    with pytest.raises(ValueError, match="must have at most 5 steps, got 6"):
        TransitionStore(5).add(0, trajectory)
