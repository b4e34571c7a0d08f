# SPDX-License-Identifier: Apache-2.0
"""``send`` and ``recv`` of a vector environment (EnvPool's interface)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
from gymnasium.vector.utils import batch_space, iterate

from reactorl.rl.envs.backend import first_failure
from reactorl.rl.envs.commands import Reset, Step
from reactorl.rl.vector.arguments import check_options, ids_of, seeds_for
from reactorl.rl.vector.exclusive import exclusive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.envs.arrays import Arrays
    from reactorl.rl.envs.async_backend import AsyncBackend
    from reactorl.rl.envs.commands import Command, Reply
    from reactorl.rl.vector.batch_log import BatchLog
    from reactorl.rl.vector.env import StepResult


class SendRecv:
    """Environments step while the caller does something else, with ``batch_size``.

    Without it, ``send`` remembers the actions and ``recv`` steps all environments.
    """

    num_envs: int
    single_action_space: gym.Space[Any]
    _arrays: Arrays
    _async: AsyncBackend | None
    _sent: Command | None

    def _check_open(self) -> None:
        raise NotImplementedError

    def _execute(self, command: Command) -> Sequence[Reply]:
        raise NotImplementedError

    @exclusive
    def async_reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        """Begin to reset all environments; ``recv`` returns the results."""
        self._check_open()
        check_options(options)
        command = Reset(seeds_for(seed, self.num_envs), options)
        if self._async is None:
            self._remember(command)
        else:
            self._async.send((index, command) for index in range(self.num_envs))
            self._arrays.rewards[:] = 0.0  # all are resetting, which gives no reward

    @exclusive
    def send(self, actions: Any, env_id: Any = None) -> None:  # noqa: ANN401
        """Begin to step environments; ``recv`` returns the results.

        Args:
            actions: A batch of actions.
            env_id: The environments, as in ``info["env_id"]``; None: all, in order.

        Raises:
            ValueError: The lengths differ, or an environment was sent and not received.
        """
        self._check_open()
        ids = range(self.num_envs) if env_id is None else ids_of(env_id)
        space = batch_space(self.single_action_space, len(ids))
        each = list(iterate(space, actions))
        if len(each) != len(ids):
            msg = f"actions must have {len(ids)} items, as env_id, got {len(each)}"
            raise ValueError(msg)
        by_index = dict(zip(ids, each, strict=True))
        if self._async is not None:
            command = Step(by_index)
            self._async.send((i, command.part([i])) for i in ids)
        elif len(by_index) == len(ids) == self.num_envs:
            self._remember(Step([by_index[i] for i in range(self.num_envs)]))
        else:
            msg = (
                f"env_id must include all {self.num_envs} environments without "
                f"batch_size, got {len(by_index)}"
            )
            raise ValueError(msg)

    @exclusive
    def recv(self) -> StepResult:
        """Wait for a batch of results; ``info["env_id"]`` has the environments.

        Raises:
            EnvError: One failed, and restarts are off.
        """
        self._check_open()
        if self._async is None:
            if self._sent is None:
                msg = (
                    "recv failed: nothing was sent; call async_reset() or send() first"
                )
                raise RuntimeError(msg)
            command, self._sent = self._sent, None
            ids: Sequence[int] = range(self.num_envs)
            replies: Sequence[Any] = self._execute(command)
            if isinstance(command, Reset):
                self._arrays.rewards[:] = 0.0
        else:
            ids, replies = self._async.recv()
        first_failure(replies)
        indices = np.array(ids, dtype=np.int32)
        gather = gym.vector.VectorEnv[Any, Any, Any]()
        gather.num_envs = len(indices)
        infos: dict[str, Any] = {}
        for place, parts in enumerate(replies):
            for part in parts or ():
                infos = gather._add_info(infos, part, place)
        infos["env_id"] = indices
        return *self._arrays.of_some(indices), infos

    def _remember(self, command: Command) -> None:
        if self._sent is not None:
            msg = "send failed: the last one was not received; call recv() first"
            raise ValueError(msg)
        self._sent = command

    @property
    def batches(self) -> BatchLog:
        """The log of received batches, which can be saved and replayed.

        Raises:
            AttributeError: The vector environment has no ``batch_size``.
        """
        if self._async is None:
            msg = "batches must be read from a vector environment with batch_size"
            raise AttributeError(msg)
        return self._async.batches
