# SPDX-License-Identifier: Apache-2.0
"""Q-learning with a table, for finite observation and action spaces.

Rollouts act epsilon-greedily with the table of an earlier iteration. The learner goes
through all transitions of an iteration in a fixed order, by step and then by
environment, and changes one entry at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from gymnasium import spaces

from reactorl.rl._public import public
from reactorl.rl.algorithms.epsilon_greedy import (
    best_actions,
    check_epsilon,
    epsilon,
    random_actions,
)
from reactorl.rl.flow.action_encoding import check_actions
from reactorl.rl.flow.algorithm import ActOutput, Algorithm, FlowError
from reactorl.rl.flow.encoding import Encoder

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.flow.algorithm import (
        ActInput,
        Array,
        Batch,
        Metrics,
        Random,
        Spaces,
    )

MOST_ENTRIES: Final = 100_000_000
"""Upper bound of the table's size."""


class TableState(NamedTuple):
    """State of the learner. Its arrays are read-only; updates make new ones."""

    table: Array
    """Q-values: an axis for each component of an observation, and one for actions."""
    visits: Array
    """How often each entry was updated."""


@public
@dataclass(frozen=True, kw_only=True)
class QLearning(Algorithm):
    """Q-learning with a table, for finite observation and action spaces."""

    num_steps: int = 32
    """Steps per environment in an iteration."""
    lag: int = 0
    """Policy lag in iterations: rollouts act with a table this many iterations old.
    0: rollouts and learner take turns; 1 or more: they run concurrently."""
    learning_rate: float = 0.1
    """Learning rate alpha."""
    learning_rate_decay: float = 0.0
    """Decay of the learning rate: alpha / (1 + decay * n) after n updates of an
    entry."""
    gamma: float = 0.99
    """Discount factor."""
    start_e: float = 1.0
    """Initial epsilon."""
    end_e: float = 0.05
    """Final epsilon."""
    exploration_fraction: float = 0.5
    """Fraction of total_timesteps over which epsilon is annealed."""
    initial_value: float = 0.0
    """Initial Q-value of all entries; a value above any return favours exploration."""

    name = "Q-learning"
    default_env = "FrozenLake-v1"

    def check(self) -> None:
        """Check the hyper-parameters."""
        super().check()
        check_epsilon(self)

    def check_spaces(self, spaces_: Spaces) -> None:
        """Check that both spaces are finite and fit into a table."""
        action = spaces_.action
        check_actions(self.name, action, [spaces.Discrete])
        assert isinstance(action, spaces.Discrete)
        observation = spaces_.observation
        counts = Encoder(observation).counts
        if counts is None:
            msg = f"observation space must be finite for Q-learning, got {observation}"
            raise FlowError(msg, "Use DQN for other observations.")
        entries = prod(counts) * int(action.n)
        if entries > MOST_ENTRIES:
            msg = f"the table must have at most {MOST_ENTRIES} entries, got {entries}"
            raise FlowError(msg, "Use DQN for large spaces.")

    # -- table ------------------------------------------------------------------------

    def init(self, spaces_: Spaces, seed: int) -> TableState:
        """Return a table with the initial value everywhere."""
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
        self, weights: Array, inputs: ActInput, random: Random, progress: float
    ) -> ActOutput:
        """Return the greedy action, or with probability epsilon a uniform one."""
        greedy = self.act_greedy(weights, inputs).actions
        uniform = random_actions(
            random, weights.shape[-1], len(greedy), inputs.action_mask
        )
        explores = random.random(len(greedy)) < epsilon(self, progress)
        return ActOutput(np.where(explores, uniform, greedy))

    def act_greedy(self, weights: Array, inputs: ActInput) -> ActOutput:
        """Return the action with the largest Q-value; of equal ones the first."""
        flat = weights.reshape(-1, weights.shape[-1])
        values = flat[_indices(inputs.observations, weights)]
        return ActOutput(best_actions(values, inputs.action_mask))

    # -- learning ---------------------------------------------------------------------

    def update(
        self, state: TableState, batches: Sequence[Batch]
    ) -> tuple[TableState, Metrics, None]:
        """Learn from the transitions of all environments, one after the other."""
        table, visits = state.table.copy(), state.visits.copy()
        errors: list[float] = []
        values: list[float] = []
        for batch in batches:
            self._learn(table, visits, batch, errors, values)
        metrics = {
            "losses/td_loss": float(np.square(errors).mean()),
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
            _indices(batch[name].reshape(count, -1), table)
            for name in ("observations", "next_observations")
        )
        # Python floats are the same numbers as NumPy's, and much faster one at a time:
        # the rows that are used are copied into lists, and copied back afterwards.
        rows, inverse = np.unique(np.concatenate([before, after]), return_inverse=True)
        flat = table.reshape(-1, table.shape[-1])
        flat_visits = visits.reshape(-1, table.shape[-1])
        q = flat[rows].tolist()
        updates = flat_visits[rows].tolist()
        alpha, decay, gamma = self.learning_rate, self.learning_rate_decay, self.gamma
        masks = batch.get("next_action_masks")
        allowed: Iterable[list[int] | None] = repeat(None, count)
        if masks is not None:
            allowed = [np.flatnonzero(row).tolist() for row in masks.reshape(count, -1)]
        for here, there, action, reward, terminated, next_actions in zip(
            inverse[:count].tolist(),
            inverse[count:].tolist(),
            batch["actions"].reshape(-1).tolist(),
            batch["rewards"].reshape(-1).tolist(),
            batch["terminations"].reshape(-1).tolist(),
            allowed,
            strict=True,
        ):
            # Bootstrap through truncation, not through termination.
            target = reward
            if not terminated:
                following = q[there]
                if next_actions is not None:
                    following = [following[each] for each in next_actions]
                target += gamma * max(following)
            value = q[here][action]
            td_error = target - value
            rate = alpha / (1.0 + decay * updates[here][action])
            q[here][action] = value + rate * td_error
            updates[here][action] += 1
            errors.append(td_error)
            values.append(value)
        flat[rows] = q
        flat_visits[rows] = updates

    # -- checkpoints ------------------------------------------------------------------

    def serialize(self, state: TableState) -> Data:
        """Return the state as plain data."""
        return {"table": state.table, "visits": state.visits}

    def deserialize(self, like: TableState, data: Data) -> TableState:
        """Return a state from plain data.

        Raises:
            ValueError: The shape of the table is another.
        """
        table, visits = np.array(data["table"]), np.array(data["visits"])
        if table.shape != like.table.shape:
            msg = f"table must have shape {like.table.shape}, got {table.shape}"
            raise ValueError(msg)
        return _frozen(TableState(table, visits))


def _indices(observations: Array, table: Array) -> Array:
    """Return the row of the flattened table for each observation."""
    numbers = observations.reshape(len(observations), -1).astype(np.int64)
    found: Any = np.ravel_multi_index(tuple(numbers.T), table.shape[:-1])
    return np.asarray(found)


def _frozen(state: TableState) -> TableState:
    for array in state:
        array.flags.writeable = False
    return state
