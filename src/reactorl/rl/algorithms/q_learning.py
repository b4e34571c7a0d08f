# SPDX-License-Identifier: Apache-2.0
"""Q-learning with a table: synchronised, parallel, for a few states and actions.

Rollouts act with the table of an earlier round and explore at random. The learner goes
through what all of them collected, step by step and in a step from one environment to
the next, and changes one entry at a time: the order is fixed, so the table is too.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from gymnasium import spaces

from reactorl.rl._public import public
from reactorl.rl.flow.algorithm import FlowError
from reactorl.rl.flow.encoding import Encoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.flow.algorithm import Array, Batch, Metrics, Random, Spaces

MOST_ENTRIES: Final = 100_000_000
"""A larger table would not be filled by any training, if it fitted into memory."""


class TableState(NamedTuple):
    """What the learner knows. Nobody changes these arrays; updates make new ones."""

    table: Array
    """What an action is worth: an axis for each number of a row, and one for actions.
    """
    visits: Array
    """How often each entry was changed."""


@public
@dataclass(frozen=True)
class QLearning:
    """The algorithm, and all that can be chosen about it."""

    learning_rate: float = 0.1
    """Which part of an error is made up for when an entry is changed first (alpha)."""
    learning_rate_decay: float = 0.0
    """After n changes of an entry the rate is ``alpha / (1 + decay * n)`` for it."""
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

    name = "Q-learning"
    uses_replay = False

    def check(self, spaces_: Spaces) -> None:
        """Refuse anything but a few observations and actions, counted from 0."""
        action = spaces_.action
        if not isinstance(action, spaces.Discrete):
            msg = f"Q-learning chooses among a few actions, not from {action}"
            raise FlowError(msg, "Use PPO for continuous actions.")
        if action.start != 0:
            msg = f"Q-learning counts actions from 0, and {action} does not"
            raise FlowError(msg, "Put a wrapper around the environment that does.")
        seen = spaces_.observation
        counts = Encoder(seen).counts
        if counts is None:
            msg = f"Q-learning has no table for observations of {seen}"
            remedy = "It needs a few of them, counted from 0; DQN does without."
            raise FlowError(msg, remedy)
        entries = prod(counts) * int(action.n)
        if entries > MOST_ENTRIES:
            msg = f"a table for {seen} and {action} has {entries} entries"
            raise FlowError(msg, f"More than {MOST_ENTRIES} are too many; use DQN.")

    # -- the table --------------------------------------------------------------------

    def begin(self, spaces_: Spaces, seed: int) -> TableState:
        """Return a table that has the initial value everywhere."""
        assert isinstance(spaces_.action, spaces.Discrete)
        counts = Encoder(spaces_.observation).counts
        assert counts is not None
        shape = (*counts, int(spaces_.action.n))
        table = np.full(shape, float(self.initial_value))
        return _frozen(TableState(table, np.zeros(shape, np.int64)))

    def weights(self, state: TableState) -> Array:
        """Return the table."""
        return state.table

    # -- acting -----------------------------------------------------------------------

    def act(
        self, weights: Array, observations: Array, random: Random, progress: float
    ) -> tuple[Array, Batch]:
        """Return the best action, or with a chance of epsilon any."""
        best = self.act_best(weights, observations)
        anything = random.integers(weights.shape[-1], size=len(best))
        explore = random.random(len(best)) < self.epsilon(progress)
        return np.where(explore, anything, best), {}

    def epsilon(self, progress: float) -> float:
        """Return how often actions are random."""
        done = min(1.0, progress / self.exploration_fraction)
        return self.start_e + done * (self.end_e - self.start_e)

    def act_best(self, weights: Array, observations: Array) -> Array:
        """Return the action that is worth most; of several the first."""
        width = weights.shape[-1]
        flat = weights.reshape(-1, width)
        best: Array = np.argmax(flat[_places(observations, weights)], axis=1)
        return best

    # -- learning ---------------------------------------------------------------------

    def update(
        self, state: TableState, batches: Sequence[Batch]
    ) -> tuple[TableState, Metrics, None]:
        """Learn from steps of all environments, one after the other."""
        table, visits = state.table.copy(), state.visits.copy()
        errors: list[float] = []
        values: list[float] = []
        for batch in batches:
            self._learn(table, visits, batch, errors, values)
        squares = np.square(errors)
        metrics = {
            "losses/td_loss": float(squares.mean()),
            "losses/q_values": float(np.mean(values)),
        }
        return _frozen(TableState(table, visits)), metrics, None

    def _learn(
        self,
        table: Array,
        visits: Array,
        batch: Batch,
        errors: list[float],
        values: list[float],
    ) -> None:
        length, width = batch["rewards"].shape
        count = length * width
        before, after = (
            _places(batch[name].reshape(count, -1), table)
            for name in ("observations", "next_observations")
        )
        # Numbers of Python are the same as NumPy's, and one at a time much faster; so
        # the rows in question are taken out, and put back when they are done.
        rows, places = np.unique(np.concatenate([before, after]), return_inverse=True)
        flat = table.reshape(-1, table.shape[-1])
        flat_visits = visits.reshape(-1, table.shape[-1])
        worth = flat[rows].tolist()
        seen = flat_visits[rows].tolist()
        alpha, decay, gamma = self.learning_rate, self.learning_rate_decay, self.gamma
        for here, there, action, reward, ended in zip(
            places[:count].tolist(),
            places[count:].tolist(),
            batch["actions"].reshape(-1).tolist(),
            batch["rewards"].reshape(-1).tolist(),
            batch["terminations"].reshape(-1).tolist(),
            strict=True,
        ):
            # What was cut off would have gone on; what ended is worth no more.
            due = reward if ended else reward + gamma * max(worth[there])
            value = worth[here][action]
            error = due - value
            rate = alpha / (1.0 + decay * seen[here][action])
            worth[here][action] = value + rate * error
            seen[here][action] += 1
            errors.append(error)
            values.append(value)
        flat[rows] = worth
        flat_visits[rows] = seen

    # -- keeping ----------------------------------------------------------------------

    def saved(self, state: TableState) -> Data:
        """Return the state as plain data."""
        return {"table": state.table, "visits": state.visits}

    def restored(self, like: TableState, data: Data) -> TableState:
        """Return a state from plain data.

        Raises:
            ValueError: The table is one of other spaces.
        """
        table, visits = np.array(data["table"]), np.array(data["visits"])
        if table.shape != like.table.shape:
            shapes = f"{table.shape} was saved, and the table has {like.table.shape}"
            raise ValueError(shapes)
        return _frozen(TableState(table, visits))


def _places(observations: Array, table: Array) -> Array:
    """Return which row of the table each observation is, counted through all axes."""
    numbers = observations.reshape(len(observations), -1).astype(np.int64)
    places: Any = np.ravel_multi_index(tuple(numbers.T), table.shape[:-1])
    return np.asarray(places)


def _frozen(state: TableState) -> TableState:
    for array in state:
        array.flags.writeable = False
    return state
