# SPDX-License-Identifier: Apache-2.0
"""The environments of one rollout or evaluation: a shard, with episode statistics."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from reactorl.rl.envs.commands import Description, Load, Reset, Save, Step
from reactorl.rl.envs.errors import EnvError
from reactorl.rl.envs.shard import execute
from reactorl.rl.flow.encoding import Encoder
from reactorl.rl.flow.trajectory import Episode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.envs.arrays import Arrays
    from reactorl.rl.envs.commands import Command
    from reactorl.rl.envs.shard import Replies
    from reactorl.rl.envs.shard_factory import ShardFactory
    from reactorl.rl.flow.algorithm import Algorithm, Array, Spaces, Weights

_log: Final = logging.getLogger(__name__)


class Ended(NamedTuple):
    """An episode that ended in a step."""

    env_index: int
    """The sub-environment."""
    last: Array
    """Its last observation."""
    episode: Episode


class ShardEnvs:
    """Sub-environments that are reset in the last step of an episode (``SAME_STEP``).

    A worker process, if there is one, is started by the constructor; ``open`` waits
    for it. In this thread, ``open`` makes the environments.

    Args:
        factory: Makes the shard.
        spaces: The spaces of one environment.
        count: Number of sub-environments.
    """

    arrays: Arrays
    """The results of the last step."""

    def __init__(self, factory: ShardFactory, spaces: Spaces, count: int) -> None:
        self._shard = factory.make(count)
        self._spaces = spaces
        self._encoder = Encoder(spaces.observation)
        self._returns = np.zeros(count)
        self._lengths = np.zeros(count, dtype=np.int64)

    def open(self) -> None:
        """Wait for the environments.

        Raises:
            EnvError: One cannot be made.
        """
        self._shard.open()
        spaces = self._spaces.observation, self._spaces.action
        self.arrays = self._shard.make_arrays(Description(*spaces, {}, None, ""))

    def reset(self, seeds: Sequence[int]) -> None:
        """Begin an episode in each sub-environment, and reset the statistics.

        Raises:
            EnvError: One failed.
        """
        self._execute(Reset(list(seeds), None))
        self._returns[:] = 0.0
        self._lengths[:] = 0

    def observations(self) -> Array:
        """Return the observations, one row each; valid until the next step."""
        return self._encoder.batch(self.arrays.observations.batch())

    def step(self, actions: Array, tag: str) -> list[Ended]:
        """Step all sub-environments.

        Args:
            actions: One for each.
            tag: The current tag, for failures.

        Returns:
            The episodes that ended; the next ones have begun.

        Raises:
            EnvError: One failed, and restarts are off.
        """
        replies = self._execute(Step(actions, actions), tag)
        self._returns += self.arrays.rewards
        self._lengths += 1
        ended = []
        for index, reply in replies.items():
            if "final_obs" not in reply[0]:
                continue
            failure = reply[0]["final_info"].get("failure")
            if isinstance(failure, EnvError):
                _log.warning("restarted after a failure: %s", failure.at(tag))
            last = self._encoder.one(reply[0]["final_obs"])
            episode = Episode(float(self._returns[index]), int(self._lengths[index]))
            ended.append(Ended(index, last, episode))
            self._returns[index] = self._lengths[index] = 0
        return ended

    def save(self) -> Data:
        """Return the state of all sub-environments as plain data."""
        slots, count = self.arrays.observations, len(self._lengths)
        states = self._execute(Save())
        return {
            "scores": self._returns.copy(),
            "lengths": self._lengths.copy(),
            "observations": [slots.row(index) for index in range(count)],
            "envs": [states[index].result() for index in range(count)],
        }

    def load(self, saved: Data) -> None:
        """Restore a saved state; the sub-environments must have been reset before."""
        self._returns[:] = saved["scores"]
        self._lengths[:] = saved["lengths"]
        for index, row in enumerate(saved["observations"]):
            self.arrays.observations.writer(index)(row)
        for answer in self._execute(Load(saved["envs"])).values():
            answer.result()

    def close(self) -> None:
        """Close the environments."""
        self._shard.close()

    def _execute(self, command: Command, tag: str = "") -> Replies:
        replies = execute(self._shard, command)
        if replies:
            for reply in replies.values():
                if isinstance(reply, EnvError):
                    raise reply.at(tag) if tag else reply
        return replies


class GreedyEnvs(ShardEnvs):
    """Sub-environments in which an evaluation acts greedily."""

    def __init__(
        self, factory: ShardFactory, spaces: Spaces, count: int, algorithm: Algorithm
    ) -> None:
        super().__init__(factory, spaces, count)
        self._algorithm = algorithm

    def advance(self, weights: Weights, tag: str) -> list[tuple[int, Episode]]:
        """Do one greedy step in each; return the episodes that ended, by index."""
        actions: Any = self._algorithm.act_best(weights, self.observations())
        return [(ended.env_index, ended.episode) for ended in self.step(actions, tag)]
