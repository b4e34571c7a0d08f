# SPDX-License-Identifier: Apache-2.0
"""The environments of one rollout or evaluation: a shard, with episode statistics."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from gymnasium.vector import AutoresetMode

from reactorl.rl.envs.commands import Describe, Description, Only, Reset, Step
from reactorl.rl.envs.errors import EnvError
from reactorl.rl.envs.shard import LocalShard, execute
from reactorl.rl.envs.snapshot_policy import load
from reactorl.rl.flow.action_encoding import ActionDecoder
from reactorl.rl.flow.action_masks import ActionMasks, MaskError
from reactorl.rl.flow.algorithm import ActInput
from reactorl.rl.flow.encoding import Encoder
from reactorl.rl.flow.native_stepping import native_stepping
from reactorl.rl.flow.policy_memory import PolicyMemory
from reactorl.rl.flow.trajectory import Episode
from reactorl.rl.wrappers.life_loss import is_life_lost

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.envs.arrays import Arrays
    from reactorl.rl.envs.commands import Command
    from reactorl.rl.envs.native.shard import NativeShard
    from reactorl.rl.envs.shard import EnvShard, Replies
    from reactorl.rl.envs.shard_factory import ShardFactory
    from reactorl.rl.flow.algorithm import (
        ActOutput,
        Algorithm,
        Array,
        Spaces,
        Weights,
    )

_log: Final = logging.getLogger(__name__)


class ShardEnvs:
    """Sub-environments with encoded observations, episode returns and lengths.

    A worker process, if there is one, is started by the constructor; ``open`` waits
    for it. In this process, ``open`` makes the environments.

    Args:
        factory: Makes the shard.
        spaces: The spaces of one environment.
        count: Number of sub-environments.
        algorithm: Of the policy that acts in them.
        autoreset: What happens after the end of an episode.
    """

    arrays: Arrays
    """The results of the last step."""

    def __init__(
        self,
        factory: ShardFactory,
        spaces: Spaces,
        count: int,
        algorithm: Algorithm,
        autoreset: AutoresetMode,
    ) -> None:
        self.count = count
        self._every = list(range(count))
        self._shard = factory.make(count, autoreset)
        self._snapshots = factory.snapshots
        self._spaces = spaces
        self._encoder = Encoder(spaces.observation)
        self._decoder = ActionDecoder(spaces.action)
        self._memory = PolicyMemory(algorithm, spaces, count)
        self._masks = ActionMasks(spaces.action, count)
        self._returns = np.zeros(count)
        self._lengths = np.zeros(count, dtype=np.int64)

    def open(self) -> None:
        """Make the environments, or wait for the process that makes them.

        Raises:
            EnvError: One cannot be made.
        """
        self._shard.open()
        spaces = self._spaces.observation, self._spaces.action
        self.arrays = self._shard.make_arrays(Description(*spaces, {}, None, ""))

    def reset(self, seeds: Mapping[int, int | None]) -> None:
        """Begin an episode in some sub-environments, by index.

        Raises:
            EnvError: One failed.
        """
        every = range(self.count)
        mask = None if len(seeds) == self.count else [i in seeds for i in every]
        replies = self._execute(Reset([seeds.get(i) for i in every], None, mask))
        for index in seeds:
            self._returns[index] = self._lengths[index] = 0
        self._memory.begin(list(seeds))
        infos = {index: reply[0] for index, reply in replies.items()}
        try:
            self._masks.begin(infos, list(seeds))
        except MaskError as error:
            raise self._failure(error) from None

    def observations(self) -> Array:
        """Return the observations, one row each; valid until the next step."""
        return self._encoder.batch(self.arrays.observations.batch())

    def inputs(self) -> ActInput:
        """Return what the policy acts on next; valid until the next step."""
        return ActInput(self.observations(), self._masks.rows, self._memory.rows)

    @property
    def action_masks(self) -> Array | None:
        """The current masks, one row each; None: the environments give none."""
        return self._masks.rows

    # -- steps in native code ---------------------------------------------------------

    @property
    def native(self) -> NativeShard | None:
        """Native bodies of all sub-environments; None: they live elsewhere."""
        return self._shard.native if isinstance(self._shard, LocalShard) else None

    @property
    def encoder(self) -> Encoder:
        """Encodes observations."""
        return self._encoder

    @property
    def sums(self) -> tuple[Array, Array]:
        """The returns and lengths of the episodes so far, to be added to."""
        return self._returns, self._lengths

    def _failure(self, error: MaskError, tag: str = "") -> EnvError:
        """Return an invalid mask as a failure of its environment."""
        name = self._execute(Describe())[error.index].name
        step = int(self._lengths[error.index])
        return EnvError(error.index, name, step, tag, str(error))

    def _episode(self, index: int) -> Episode:
        return Episode(float(self._returns[index]), int(self._lengths[index]))

    def save(self) -> Data:
        """Return the state of all sub-environments as plain data."""
        slots, every = self.arrays.observations, range(self.count)
        states = self._snapshots.save(self._execute, every)
        policy = {"memory": self._memory.save(), "masks": self._masks.save()}
        return {
            **{name: data for name, data in policy.items() if data is not None},
            "scores": self._returns.copy(),
            "lengths": self._lengths.copy(),
            "observations": [slots.row(index) for index in every],
            "envs": [states[index] for index in every],
        }

    def load(self, saved: Data) -> None:
        """Restore a saved state; the sub-environments must have been reset before.

        Those whose state cannot be restored begin a new episode.
        """
        self._returns[:] = saved["scores"]
        self._lengths[:] = saved["lengths"]
        self._memory.load(saved.get("memory"))
        self._masks.load(saved.get("masks"))
        seeds = load(self._execute, dict(enumerate(saved["envs"])))
        if seeds:
            self.reset(seeds)
        for index, row in enumerate(saved["observations"]):
            if index not in seeds:
                self.arrays.observations.writer(index)(row)

    def close(self) -> None:
        """Close the environments."""
        self._shard.close()

    def _execute(self, command: Command, tag: str = "") -> Replies:
        return execute_or_raise(self._shard, command, tag)


class Ended(NamedTuple):
    """An episode that ended in a step."""

    env_index: int
    last: Array
    """Its last observation."""
    episode: Episode
    last_mask: Array | None = None
    """The action mask of that observation; None: the environments give none."""


class RolloutEnvs(ShardEnvs):
    """Sub-environments that are reset in the last step of an episode."""

    def __init__(
        self, factory: ShardFactory, spaces: Spaces, count: int, algorithm: Algorithm
    ) -> None:
        super().__init__(factory, spaces, count, algorithm, AutoresetMode.SAME_STEP)
        self.lives_lost: list[int] = []
        """Indices of environments that lost a life in the last step and continue."""

    def step(self, output: ActOutput, tag: str) -> list[Ended]:
        """Step all sub-environments.

        Args:
            output: What the policy returned for all.
            tag: The current tag, for failures.

        Returns:
            The episodes that ended; the next ones have begun.

        Raises:
            EnvError: One failed, and restarts are off.
        """
        actions = self._decoder.batch(output.actions)
        replies = self._execute(Step(actions, actions), tag)
        self._memory.put(output.memory)
        self._returns += self.arrays.rewards
        self._lengths += 1
        try:
            return self._ended(replies, tag)
        except MaskError as error:
            raise self._failure(error, tag) from None

    def finish(self, native: NativeShard, output: ActOutput, tag: str) -> list[Ended]:
        """Finish a step that native bodies have begun; see ``step``."""
        actions = self._decoder.batch(output.actions)
        replies = raise_failure(native.finish(actions, self._every), tag)
        self._returns += self.arrays.rewards
        self._lengths += 1
        return self._ended(replies, tag)

    def put_masks(self, rows: Array) -> None:
        """Note the masks after native steps."""
        self._masks.rows = rows

    def _ended(self, replies: Replies, tag: str) -> list[Ended]:
        """Return the episodes that ended, and note what the infos of a step say."""
        ended = []
        self.lives_lost = []
        infos = {}
        over = self.arrays.terminations | self.arrays.truncations
        for index, reply in replies.items():
            info = reply[0]
            if is_life_lost(info):
                self.lives_lost.append(index)
            if not over[index]:
                infos[index] = info
                continue
            if len(reply) > 1:  # the info of the reset
                infos[index] = reply[1]
            log_restart(info["final_info"], tag)
            last = self._encoder.one(info["final_obs"])
            mask = self._masks.last(info["final_info"], index)
            ended.append(Ended(index, last, self._episode(index), mask))
            self._returns[index] = self._lengths[index] = 0
        self._masks.step(infos, self._every)
        # A lost life is the end of an episode for the policy, but not for the game.
        self._memory.begin([*(each.env_index for each in ended), *self.lives_lost])
        return ended


class EvaluationEnvs(ShardEnvs):
    """Sub-environments in which an evaluation acts greedily; resets are explicit.

    Args:
        factory: Makes the shard.
        spaces: The spaces of one environment.
        count: Number of sub-environments.
        algorithm: Of the policy that acts in them.
        max_steps: Steps after which an episode is cut.
    """

    def __init__(
        self,
        factory: ShardFactory,
        spaces: Spaces,
        count: int,
        algorithm: Algorithm,
        max_steps: int,
    ) -> None:
        super().__init__(factory, spaces, count, algorithm, AutoresetMode.DISABLED)
        self._algorithm = algorithm
        self._max_steps = max_steps

    @property
    def env(self) -> Any:  # noqa: ANN401
        """The first environment itself, for rendering; only in this process."""
        return local_env(self._shard)

    def step_greedily(
        self, weights: Weights, active: Sequence[int], tag: str = ""
    ) -> list[tuple[int, Episode]]:
        """Do a greedy step in some sub-environments.

        Args:
            weights: Of the policy.
            active: Indices of the sub-environments, in order.
            tag: The current tag, for failures.

        Returns:
            The episodes that ended or were cut, by index; ``reset`` begins the next
            ones.

        Raises:
            EnvError: One failed, and restarts are off.
        """
        rows = list(active)
        all_active = len(rows) == self.count
        inputs = self.inputs()
        if not all_active:
            masks = inputs.action_mask
            inputs = ActInput(
                inputs.observations[rows],
                None if masks is None else masks[rows],
                self._memory.of(rows),
            )
        output = self._algorithm.act_greedy(weights, inputs)
        actions = self._decoder.batch(output.actions)
        self._memory.put(output.memory, rows)
        command: Command = Step(actions, actions)
        if not all_active:
            by_index = dict(zip(rows, actions, strict=True))
            command = Only(Step(by_index), tuple(rows))
        replies = self._execute(command, tag)
        return self._after_step(rows, replies, tag)

    def steps_greedily(
        self, weights: Weights, active: Sequence[int], limit: int, tag: str = ""
    ) -> tuple[int, list[tuple[int, Episode]]]:
        """Do greedy steps until an episode ends, or the limit is reached.

        Returns:
            The number of steps, and what ``step_greedily`` returns for the last one.
        """
        found = self._play(weights, list(active), limit, tag)
        if found is None:
            return 1, self.step_greedily(weights, active, tag)
        return found

    def _play(
        self, weights: Weights, rows: list[int], limit: int, tag: str
    ) -> tuple[int, list[tuple[int, Episode]]] | None:
        """Do greedy steps in native code; None: that is not possible."""
        stepping = native_stepping(self, self._algorithm, weights, 0.0)
        if stepping is None:
            return None
        actions = stepping.actions(len(rows))
        count, is_left = stepping.core.play(
            rows, limit, *self.sums, self._max_steps, actions
        )
        if is_left:
            by_index = dict(zip(rows, self._decoder.batch(actions), strict=True))
            replies = raise_failure(stepping.native.finish(by_index, rows), tag)
            return count, self._after_step(rows, replies, tag)
        if stepping.masks is not None:
            masks = self._masks.rows
            assert masks is not None
            masks = masks.copy()
            masks[rows] = stepping.masks[self.observations()[rows]]
            over = self.arrays.terminations | self.arrays.truncations
            masks[[index for index in rows if over[index]]] = True
            self._masks.rows = masks
        return count, self._ends(rows)

    def _after_step(
        self, rows: list[int], replies: Replies, tag: str
    ) -> list[tuple[int, Episode]]:
        """Note what a step gave, and return the episodes that ended."""
        for reply in replies.values():
            log_restart(reply[0], tag)
        self._returns[rows] += self.arrays.rewards[rows]
        self._lengths[rows] += 1
        over = self.arrays.terminations | self.arrays.truncations
        # At the end of an episode there is no next action.
        infos = {k: reply[0] for k, reply in replies.items() if not over[k]}
        try:
            self._masks.step(infos, rows)
        except MaskError as error:
            raise self._failure(error, tag) from None
        # As in training: to the policy, a lost life is the end of an episode.
        self._memory.begin([k for k, info in infos.items() if is_life_lost(info)])
        return self._ends(rows)

    def _ends(self, rows: list[int]) -> list[tuple[int, Episode]]:
        over = self.arrays.terminations | self.arrays.truncations
        ends = over | (self._lengths >= self._max_steps)
        return [
            (index, replace(self._episode(index), is_cut=not over[index]))
            for index in rows
            if ends[index]
        ]


def execute_or_raise(shard: EnvShard, command: Command, tag: str = "") -> Replies:
    """Let a shard execute a command; raise the first failure, with the tag."""
    return raise_failure(execute(shard, command), tag)


def raise_failure(replies: Replies, tag: str) -> Replies:
    """Return replies; raise the first failure among them, with the tag."""
    if replies:
        for reply in replies.values():
            if isinstance(reply, EnvError):
                raise reply.at(tag) if tag else reply
    return replies


def log_restart(info: Mapping[str, Any], tag: str) -> None:
    """Log a restart that an info reports: training has no infos of its own."""
    failure = info.get("failure")
    if isinstance(failure, EnvError):
        _log.warning("environment restarted: %s", failure.at(tag))


def local_env(shard: Any) -> Any:  # noqa: ANN401
    """Return the first environment of a shard in this process."""
    return shard.envs[0]
