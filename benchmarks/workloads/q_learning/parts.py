# SPDX-License-Identifier: Apache-2.0
"""Rollouts, a replay buffer and a learner, independent of the engine.

A network 3-32-2, Adam, one update a round, as in the paper. All of it is NumPy: every
engine, on every Python, does the same operations in the same order, so that weights can
be compared bit by bit. Unlike in the paper, where a batch is the oldest steps of the
buffer and all environments have one seed, a batch is drawn at random (from a generator
of the buffer's own), and seeds differ.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.harness.seen import Seen

if TYPE_CHECKING:
    from collections.abc import Sequence

    Weights = list[Any]
    Steps = tuple[Any, ...]

SEED = 1
INPUTS, HIDDEN, ACTIONS = 3, 32, 2
RATE, BETA_1, BETA_2, TINY = 0.01, 0.9, 0.999, 1e-8
GAMMA = np.float32(0.99)
EPSILON = 0.1
TARGET_EVERY = 10
CAPACITY = 20_000


def first_weights() -> Weights:
    """Return the initial network: two matrices, two biases."""
    random = np.random.default_rng(SEED)
    return [
        random.uniform(-1, 1, shape).astype(np.float32) / np.float32(np.sqrt(rows))
        for rows, columns in ((INPUTS, HIDDEN), (HIDDEN, ACTIONS))
        for shape in ((rows, columns), (columns,))
    ]


class Rollout:
    """One environment, played with given weights."""

    def __init__(self, index: int) -> None:
        import gymnasium

        self._env = gymnasium.make("Blackjack-v1")
        self._random = np.random.default_rng((SEED, index))
        self._observation, _ = self._env.reset(seed=SEED + index)

    def collect(self, steps: int, weights: Weights) -> Steps:
        """Return transitions, a column for each field."""
        first, first_bias, second, second_bias = weights
        explores = self._random.random(steps) < EPSILON
        anything = self._random.integers(ACTIONS, size=steps)
        seen = np.empty((steps, INPUTS), np.float32)
        then = np.empty((steps, INPUTS), np.float32)
        actions = np.empty(steps, np.int64)
        rewards = np.empty(steps, np.float32)
        ends = np.empty(steps, np.float32)
        observation = self._observation
        for step in range(steps):
            seen[step] = observation
            if explores[step]:
                action = int(anything[step])
            else:
                hidden = seen[step] @ first
                hidden += first_bias
                np.maximum(hidden, 0, out=hidden)
                action = int((hidden @ second + second_bias).argmax())
            observation, reward, ended, cut, _ = self._env.step(action)
            then[step] = observation
            actions[step], rewards[step], ends[step] = action, reward, ended
            if ended or cut:
                observation, _ = self._env.reset()
        self._observation = observation
        return seen, actions, rewards, then, ends

    def close(self) -> None:
        """Close the environment."""
        self._env.close()


class Replay:
    """Stores the last transitions, and samples from them."""

    def __init__(self, index: int = 0) -> None:
        del index
        self.begin(0)

    def begin(self, batch: int) -> None:
        """Forget everything."""
        self._batch = batch
        self._size = self._next = 0
        self._kept: list[Any] = []
        self._random = np.random.default_rng((SEED, 10**6))

    def add_and_draw(self, *rollouts: Steps) -> Steps:
        """Store the transitions of rollouts, in order; return a batch."""
        for columns in rollouts:
            self._add(columns)
        chosen = self._random.integers(self._size, size=self._batch)
        return tuple(kept[chosen] for kept in self._kept)

    def _add(self, columns: Steps) -> None:
        if not self._kept:
            self._kept = [
                np.zeros((CAPACITY, *column.shape[1:]), column.dtype)
                for column in columns
            ]
        count = len(columns[0])
        places = np.arange(self._next, self._next + count) % CAPACITY
        for kept, column in zip(self._kept, columns, strict=True):
            kept[places] = column
        self._next = (self._next + count) % CAPACITY
        self._size = min(self._size + count, CAPACITY)


class Learner:
    """Updates the weights once a round, and counts rounds."""

    def __init__(self, watch: Any) -> None:  # noqa: ANN401
        self.weights = self._target = first_weights()
        self._mean = [np.zeros_like(each) for each in self.weights]
        self._square = [np.zeros_like(each) for each in self.weights]
        self._updates = 0
        self._watch = watch
        self._seen = Seen(watch)
        self._spent = 0.0
        """Seconds that updates took."""

    def learn(self, batch: Steps) -> bool:
        """Learn from a batch; return whether another round is to follow."""
        began = time.perf_counter()
        self._updates += 1
        gradients = self._gradients(*batch)
        self.weights = [
            self._stepped(place, gradient) for place, gradient in enumerate(gradients)
        ]
        if self._updates % TARGET_EVERY == 0:
            self._target = self.weights
        self._spent += time.perf_counter() - began
        self._seen.add(*self.weights)
        return bool(self._watch.tick(self._seen))

    def more(self) -> dict[str, Any]:
        """Return the seconds of an update."""
        return {"update_seconds": self._spent / self._updates}

    def _gradients(
        self,
        seen: Any,  # noqa: ANN401
        actions: Any,  # noqa: ANN401
        rewards: Any,  # noqa: ANN401
        then: Any,  # noqa: ANN401
        ends: Any,  # noqa: ANN401
    ) -> Sequence[Any]:
        """Return the gradients of the mean squared error."""
        second = self.weights[2]
        later = _apply(self._target, then)[1].max(axis=1)
        wanted = rewards + GAMMA * (1 - ends) * later
        hidden, values = _apply(self.weights, seen)
        rows = np.arange(len(actions))
        by_value = np.zeros_like(values)
        by_value[rows, actions] = (values[rows, actions] - wanted) * np.float32(
            2 / len(actions)
        )
        by_hidden = (by_value @ second.T) * (hidden > 0)
        return (
            seen.T @ by_hidden,
            by_hidden.sum(axis=0),
            hidden.T @ by_value,
            by_value.sum(axis=0),
        )

    def _stepped(self, place: int, gradient: Any) -> Any:  # noqa: ANN401
        """Return a part of the weights after a step of Adam."""
        mean, square = self._mean[place], self._square[place]
        mean += np.float32(1 - BETA_1) * (gradient - mean)
        square += np.float32(1 - BETA_2) * (gradient * gradient - square)
        rate = np.float32(RATE / (1 - BETA_1**self._updates))
        scale = np.float32(1 / np.sqrt(1 - BETA_2**self._updates))
        step = rate * mean / (np.sqrt(square) * scale + np.float32(TINY))
        return self.weights[place] - step


def _apply(weights: Weights, rows: Any) -> tuple[Any, Any]:  # noqa: ANN401
    """Return the hidden layer and the values of rows."""
    first, first_bias, second, second_bias = weights
    hidden = np.maximum(rows @ first + first_bias, 0)
    return hidden, hidden @ second + second_bias
