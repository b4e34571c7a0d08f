# SPDX-License-Identifier: Apache-2.0
"""Shards: sub-environments that share a thread or a process, behind one interface."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from reactorl.rl.envs._stepping import StepperGroup
from reactorl.rl.envs.arrays import Arrays
from reactorl.rl.envs.buffer_pool import HOME
from reactorl.rl.envs.commands import Answer, Describe, Only, Reset, Step
from reactorl.rl.envs.errors import EnvError
from reactorl.rl.envs.native.shard import NativeShard, native_shard
from reactorl.rl.envs.sub_env import SubEnv
from reactorl.rl.envs.timeout import HangWatch, no_guard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from reactorl.rl.envs.commands import Actions, Command, Description
    from reactorl.rl.envs.factory import Maker
    from reactorl.rl.envs.rules import Rules
    from reactorl.rl.envs.sub_env import Infos
    from reactorl.rl.envs.timeout import Guard

    Replies = dict[int, Any]
    """By index; sub-environments with nothing to report are missing."""


class EnvShard(Protocol):
    """Sub-environments that share a thread or a process.

    A command is posted, then collected; between the two a process works while the
    caller does something else. One thread at a time may use a shard.
    """

    @property
    def indices(self) -> Sequence[int]:
        """The indices of its sub-environments, in order."""

    def open(self) -> None:
        """Make the environments if that has not begun yet, and wait for them.

        Raises:
            EnvError: One cannot be made.
        """

    def post(self, command: Command) -> None:
        """Begin to execute a command; ``collect`` must follow."""

    def collect(self) -> Replies:
        """Wait until the posted command is done and return the replies.

        A failure of a sub-environment is an ``EnvError`` among the replies.
        """

    def make_arrays(self, description: Description) -> Arrays:
        """Make arrays for the results of a shard that is used alone.

        The indices must count from 0.
        """

    def close(self) -> None:
        """Close the sub-environments; more than once is allowed.

        Raises:
            EnvError: One raised while it was closed; all are closed nevertheless.
        """


def execute(shard: EnvShard, command: Command) -> Replies:
    """Let a shard execute a command and wait for it."""
    shard.post(command)
    return shard.collect()


class LocalShard:
    """Sub-environments in this process, used by one thread at a time.

    A sub-environment that cannot be made replies with that error to every command.

    Args:
        makers: Make the environments, by index.
        rules: Settings of all sub-environments.
        guard: Makes the timeout guard of a sub-environment. None: the shard has a watch
            of its own if the rules have a timeout.
        deferred: Whether the caller calls ``make`` later, on the thread of its choice.
    """

    def __init__(
        self,
        makers: Mapping[int, Maker],
        rules: Rules,
        guard: Callable[[], Guard] | None = None,
        *,
        deferred: bool = False,
    ) -> None:
        self.indices = tuple(makers)
        self.sub_envs: list[SubEnv] = []
        self._makers, self.rules = makers, rules
        self._unmade: dict[int, EnvError] = {}
        self._buffer = HOME
        self._posted: Command | None = None
        self._watch: HangWatch | None = None
        if guard is None:
            guard = no_guard
            if rules.timeout is not None:
                self._watch = HangWatch(rules.timeout)
                guard = self._watch.guard
        self._guard = guard
        self._native: NativeShard | None = None
        self._made = False
        if not deferred:
            self.make()

    def make(self) -> None:
        """Make the environments, on the calling thread."""
        self._made = True
        make = self.rules.sub_env or SubEnv
        for index, maker in self._makers.items():
            try:
                self.sub_envs.append(make(index, maker, self.rules, self._guard()))
            except EnvError as failure:
                self._unmade[index] = failure
        found = native_shard(self.sub_envs, self._makers, self.rules)
        if isinstance(found, NativeShard):
            self._native = found
        elif self.rules.native is True:
            self._refuse(f"native=True is not possible: {found}")
        self._by_index = {sub_env.index: sub_env for sub_env in self.sub_envs}
        self._steppers = StepperGroup([each.stepper for each in self.sub_envs])

    def _refuse(self, what: str) -> None:
        """Close all environments: they are not what was asked for."""
        refused, self.sub_envs = self.sub_envs, []
        for each in refused:
            self._unmade[each.index] = EnvError(each.index, each.name, 0, "", what)
            with suppress(EnvError):
                each.close()

    # -- as any shard -----------------------------------------------------------------

    def open(self) -> None:
        """Make the environments, on the calling thread."""
        if not self._made:
            self.make()
        # As in a worker process: wrappers cache what a description reads, and saved
        # states must not depend on the placement.
        for reply in self.execute(Describe()).values():
            if isinstance(reply, EnvError):
                raise reply

    def post(self, command: Command) -> None:
        """Remember a command; ``collect`` executes it."""
        self._posted = command

    def collect(self) -> Replies:
        """Execute the posted command and return the replies."""
        command, self._posted = self._posted, None
        assert command is not None
        return self.execute(command)

    def make_arrays(self, description: Description) -> Arrays:
        """Make arrays for the results of a shard that is used alone."""
        arrays = Arrays.of(description.observation_space, len(self.indices))
        self.assign(arrays)
        return arrays

    def close(self) -> None:
        """Close the sub-environments, then raise the first failure."""
        first: EnvError | None = None
        sub_envs, self.sub_envs = self.sub_envs, []
        for sub_env in sub_envs:
            try:
                sub_env.close()
            except EnvError as failure:
                first = first or failure
        if self._watch is not None:
            self._watch.close()
        if first is not None:
            raise first

    # -- local ------------------------------------------------------------------------

    def assign(self, arrays: Arrays) -> None:
        """Write results into these arrays from now on."""
        for sub_env in self.sub_envs:
            sub_env.assign(arrays)
        if self._native is not None and not self._native.assign(arrays):
            self._native = None

    @property
    def is_native(self) -> bool:
        """Whether steps are done in native code, apart from unusual ones."""
        return self._native is not None and self._native.is_active

    @property
    def native(self) -> NativeShard | None:
        """The native bodies, if steps may be done without this shard: no timeouts."""
        return None if self.rules.timeout is not None else self._native

    @property
    def envs(self) -> list[Any]:
        """The environments themselves; from now on they are stepped in Python."""
        if self._native is not None:
            self._native.expose()
        return [sub_env.env for sub_env in self.sub_envs]

    def lend(self) -> list[SubEnv]:
        """Return the sub-environments, to be stepped one by one until the tag ends."""
        if self._native is not None:
            self._native.release_all()
        return self.sub_envs

    def execute(self, command: Command) -> Replies:
        """Execute a command and return the replies."""
        if type(command) is Step:
            self.use_buffer(command.buffer)
            return self.step(command.actions)
        replies: Replies = dict(self._unmade)
        sub_envs: Iterable[SubEnv] = self.sub_envs
        if type(command) is Only:
            sub_envs = [
                self._by_index[i] for i in command.indices if i in self._by_index
            ]
            command = command.command
        elif type(command) is Reset:
            self._buffer = command.buffer
            for sub_env in self.sub_envs:
                sub_env.use_buffer(command.buffer)
        for sub_env in sub_envs:
            reply = self.execute_one(command, sub_env)
            if reply is not None:
                replies[sub_env.index] = reply
        return replies

    def execute_one(self, command: Command, sub_env: SubEnv) -> Any:  # noqa: ANN401
        """Execute a command in one sub-environment; a failure is a reply."""
        native = self._native
        if native is None:
            return execute_one(command, sub_env)
        if type(command) is Step:
            try:
                return self.step_one(sub_env, command.action(sub_env.index)) or None
            except EnvError as failure:
                return failure
        if not native.prepare(command, sub_env):
            return None
        reply = execute_one(command, sub_env)
        native.follow(command, sub_env, reply)
        return reply

    def step_one(self, sub_env: SubEnv, action: Any) -> Infos:  # noqa: ANN401
        """Step one sub-environment.

        Raises:
            EnvError: It failed, and restarts are off.
        """
        if self._native is None:
            return sub_env.step(action)
        return self._native.step_one(sub_env, action)

    def step(self, actions: Actions) -> Replies:
        """Step all sub-environments with their items of the actions."""
        if self._native is not None:
            found = self._native.step(actions)
            if found is not None:
                return found
        if type(actions) is np.ndarray and actions.ndim > 1:
            actions = actions.copy()  # environments may keep their row; see ``Step``
        replies: Replies = {}
        first = 0
        while (stop := self._steppers.step(first, actions)) is not None:
            at, unfinished = stop
            sub_env = self.sub_envs[at]
            try:
                reply: Infos | EnvError = sub_env.finish_step(
                    actions[sub_env.index], unfinished
                )
            except EnvError as failure:
                reply = failure
            if reply:
                replies[sub_env.index] = reply
            first = at + 1
        return replies

    def use_buffer(self, buffer: int) -> None:
        """Write observations into this buffer from now on."""
        if buffer != self._buffer:
            self._buffer = buffer
            for sub_env in self.sub_envs:
                sub_env.use_buffer(buffer)


def execute_one(command: Command, sub_env: SubEnv) -> Any:  # noqa: ANN401
    """Execute a command in one sub-environment; a failure is a reply."""
    try:
        reply = command.apply(sub_env)
    except EnvError as failure:
        return failure
    if isinstance(reply, Answer) and reply.error is not None:
        reply.error.add_note(f"in environment {sub_env.index} ({sub_env.name})")
    return reply
