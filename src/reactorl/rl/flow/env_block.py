# SPDX-License-Identifier: Apache-2.0
"""The environments of one part of a flow: stepped together, counted, saved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gymnasium.vector import AutoresetMode

from reactorl.rl.checkpoint.env_state import restore_env, saved_env
from reactorl.rl.envs.arrays import Arrays
from reactorl.rl.envs.commands import Reset
from reactorl.rl.envs.errors import EnvError
from reactorl.rl.envs.shard import EnvShard
from reactorl.rl.envs.sub_env import Rules
from reactorl.rl.flow.encoding import Encoder
from reactorl.rl.flow.trajectory import Episode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.envs.factory import Maker
    from reactorl.rl.flow.algorithm import Algorithm, Array, Spaces, Weights


class Ended(NamedTuple):
    """An episode that ended in a step."""

    who: int
    """Whose it was."""
    last: Array
    """What it showed last."""
    episode: Episode


class EnvBlock:
    """Some environments, reset at once when an episode ends.

    Args:
        maker: Makes one.
        spaces: What it shows and takes.
        count: How many.

    Raises:
        EnvError: One cannot be made.
    """

    def __init__(self, maker: Maker, spaces: Spaces, count: int) -> None:
        makers = dict.fromkeys(range(count), maker)
        self._company = EnvShard(makers, Rules(AutoresetMode.SAME_STEP))
        _raise_failures(self._company.unmade)
        self._encoder = Encoder(spaces.observation)
        self.arrays = Arrays.of(spaces.observation, count)
        for seat in self._company.seats:
            seat.assign(self.arrays)
        self._scores = np.zeros(count)
        self._lengths = np.zeros(count, dtype=np.int64)

    def reset(self, seeds: Sequence[int]) -> None:
        """Begin an episode in each; what was counted is forgotten."""
        _raise_failures(self._company.obey(Reset(list(seeds), None)))
        self._scores[:] = 0.0
        self._lengths[:] = 0

    def observations(self) -> Array:
        """Return what all of them show, a row each; it counts until the next step."""
        return self._encoder.batch(self.arrays.observations.batch())

    def step(self, actions: Array, tag: str) -> list[Ended]:
        """Step all of them; where an episode ends, the next one begins.

        Args:
            actions: One each.
            tag: At which tag, for whoever fails.

        Raises:
            EnvError: One failed.
        """
        replies = self._company.step(actions)
        self._scores += self.arrays.rewards
        self._lengths += 1
        if not replies:
            return []
        _raise_failures(replies, tag)
        ended = []
        for who, reply in replies.items():
            if "final_obs" not in reply[0]:
                continue
            last = self._encoder.one(reply[0]["final_obs"])
            episode = Episode(float(self._scores[who]), int(self._lengths[who]))
            ended.append(Ended(who, last, episode))
            self._scores[who] = self._lengths[who] = 0
        return ended

    def save(self) -> Data:
        """Return the state of all of them as plain data."""
        slots, seats = self.arrays.observations, self._company.seats
        return {
            "scores": self._scores.copy(),
            "lengths": self._lengths.copy(),
            "observations": [slots.row(seat.index) for seat in seats],
            "envs": [saved_env(seat.env) for seat in seats],
        }

    def load(self, saved: Data) -> None:
        """Go on where others stopped; they must have been reset before."""
        self._scores[:] = saved["scores"]
        self._lengths[:] = saved["lengths"]
        for index, row in enumerate(saved["observations"]):
            self.arrays.observations.writer(index)(row)
        for seat, data in zip(self._company.seats, saved["envs"], strict=True):
            restore_env(seat.env, data)

    def close(self) -> None:
        """Close all of them."""
        self._company.close()


class Examined(EnvBlock):
    """Environments in which an evaluation tries weights."""

    def __init__(
        self, maker: Maker, spaces: Spaces, count: int, algorithm: Algorithm
    ) -> None:
        super().__init__(maker, spaces, count)
        self._algorithm = algorithm

    def advance(self, weights: Weights, tag: str) -> list[tuple[int, Episode]]:
        """Do the best step in each; return the episodes that ended, and whose."""
        actions = self._algorithm.act_greedy(weights, self.observations())
        return [(ended.who, ended.episode) for ended in self.step(actions, tag)]


def _raise_failures(replies: dict[int, Any], tag: str = "") -> None:
    for reply in replies.values():
        if isinstance(reply, EnvError):
            raise reply.at(tag) if tag else reply
