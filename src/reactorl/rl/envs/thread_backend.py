# SPDX-License-Identifier: Apache-2.0
"""Lock-step backend with threads: shards are reactors on the runtime's workers.

::

    command ---> shard[0..n).command    (steps all of its sub-environments)
    reply   <--- shard[0..n).reply

    single  ---> shard[0..n).single     (instead, at other tags: lends them one by one)
                 shard[0..n).lent ---> sub_env[0..m).lent
    replies <--- sub_env[0..m).reply

Several sub-environments share a reactor, so that scheduling costs little even if steps
are short. Large vectors have more shards than workers, to balance the load.
Environments are made at the start tag and closed at the final one, by the home worker
of their shard. In between they are stepped there too, unless that worker is busy while
another one is idle; ``pin`` rules that out.

If steps are long, a shard lends each sub-environment through a port to a reactor of its
own, for the rest of the tag. A worker then waits at most for one step. The port is the
only access of that reactor to the sub-environment, so the scheduler knows the order.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final

from reactorl import (
    Input,
    MultiOutput,
    Output,
    Reactor,
    bank,
    drive,
    param,
    reaction,
    shutdown,
    startup,
)
from reactorl._util.machine import usable_cores
from reactorl.rl.envs.adaptive_dispatch import ByLength
from reactorl.rl.envs.arrays import Arrays
from reactorl.rl.envs.backend import first_failure
from reactorl.rl.envs.commands import Describe, Step
from reactorl.rl.envs.errors import stamped
from reactorl.rl.envs.native.choice import are_native
from reactorl.rl.envs.placement import parts
from reactorl.rl.envs.shard import LocalShard, execute_one
from reactorl.rl.envs.timeout import HangWatch, no_guard

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reactorl import Tag
    from reactorl.rl.envs.commands import Command, Description, Reply
    from reactorl.rl.envs.rules import Rules
    from reactorl.rl.envs.sub_env import SubEnv
    from reactorl.rl.envs.timeout import Guard

SHARDS_PER_WORKER: Final = 3
MIN_SHARD: Final = 8
"""Sub-environments with short steps; a smaller shard costs more than it balances."""
MIN_NATIVE_SHARD: Final = 256
"""Sub-environments with native steps, which take less than a tenth of a microsecond."""
LONG_STEP: Final = 20e-6
"""Seconds from which a step is scheduled by itself."""


class Shard(Reactor):
    """Sub-environments that execute a command at the tag at which it arrives."""

    command = Input[Any]()
    reply = Output[Any]()
    single = Input[Step]()
    lent = MultiOutput[Any](lambda self: len(self.shards[self.bank_index].indices))
    """A sub-environment and its step; it is returned when the tag ends."""

    shards: Sequence[LocalShard] = param()
    bank_index: int = param(0)

    def setup(self) -> None:
        """Find the shard; its environments are made at the start tag."""
        self.shard = self.shards[self.bank_index]

    @reaction(startup)
    def make(self) -> None:
        """Make the environments, on the home worker."""
        self.shard.make()

    @reaction(command, effects=[reply])
    def execute(self) -> None:
        """Execute a command in all sub-environments; reply if need be."""
        replies = self.shard.execute(self.command.value)
        if replies:
            self.reply.set(
                {i: stamped(reply, self.when) for i, reply in replies.items()}
            )

    @reaction(single, effects=[lent])
    def lend(self) -> None:
        """Let each sub-environment be stepped by a reactor of its own."""
        command = self.single.value
        self.shard.use_buffer(command.buffer)
        for sub_env, port in zip(self.shard.lend(), self.lent, strict=True):
            port.set((sub_env, command))

    def when(self) -> str:
        """Return the current tag, for failures."""
        return str(self.tag)

    @reaction(shutdown)
    def close(self) -> None:
        """Close the environments, on the home worker."""
        self.teardown()

    def teardown(self) -> None:
        """Close the environments if they are still open."""
        self.shard.close()


class SingleStep(Reactor):
    """Steps one sub-environment that a shard lends to it."""

    lent = Input[Any]()
    reply = Output[Any]()

    @reaction(lent, effects=[reply])
    def step(self) -> None:
        """Step it; reply if need be."""
        sub_env: SubEnv
        sub_env, command = self.lent.value
        reply = execute_one(command, sub_env)
        if reply is not None:
            self.reply.set({sub_env.index: stamped(reply, self.when)})

    def when(self) -> str:
        """Return the current tag, for failures."""
        return str(self.tag)


class ThreadProgram(Reactor):
    """All sub-environments of a vector."""

    command = Input[Any]()
    reply = MultiOutput[Any](lambda self: len(self.shards))
    single = Input[Step]()
    replies = MultiOutput[Any](lambda self: self.singles)

    shards: Sequence[LocalShard] = param()
    singles: int = param()
    """Number of sub-environments that can be stepped one by one: all or none."""

    shard = bank(Shard(shards=shards), width=lambda self: len(self.shards))
    sub_env = bank(SingleStep(), width=singles)

    def build(self) -> None:
        """Connect."""
        self.connect(self.command, self.shard.command, broadcast=True)
        self.connect(self.shard.reply, self.reply)
        if self.singles:
            self.connect(self.single, self.shard.single, broadcast=True)
            self.connect(self.shard.lent, self.sub_env.lent)
            self.connect(self.sub_env.reply, self.replies)


def shard_count(envs: int, threads: int) -> int:
    """Return the number of shards for short steps."""
    if threads == 1:
        return 1
    return min(SHARDS_PER_WORKER * threads, max(threads, envs // MIN_SHARD))


class ThreadBackend:
    """Sub-environments on the runtime's workers; the caller's thread is one of them.

    Args:
        makers: Make the environments.
        rules: Settings of all sub-environments.
        workers: Number of threads; None: one for each core.
        pin: Whether a sub-environment stays on the thread that made it.
    """

    def __init__(
        self,
        makers: Sequence[Callable[[], Any]],
        rules: Rules,
        *,
        workers: int | None,
        pin: bool,
    ) -> None:
        self._count = len(makers)
        self._owner = os.getpid()
        threads = min(usable_cores() if workers is None else workers, self._count)
        size = shard_count(self._count, threads)
        if are_native(makers, rules.native) and not rules.check_nan:
            size = min(size, threads, max(1, self._count // MIN_NATIVE_SHARD))
        self._stack = ExitStack()
        guard: Callable[[], Guard] = no_guard
        if rules.timeout is not None:
            watch = HangWatch(rules.timeout)
            self._stack.callback(watch.close)
            guard = watch.guard
        # Each shard belongs to one reactor; the backend uses it between tags only.
        self._shards = [
            LocalShard({i: makers[i] for i in part}, rules, guard, deferred=True)
            for part in parts(self._count, size)
        ]
        # A shard of one steps alone anyway, and a pinned one stays with its worker.
        singles = 0 if pin or size in (1, self._count) else self._count
        main = ThreadProgram(shards=self._shards, singles=singles)
        # Not frozen: infos may hold objects that the environment keeps changing.
        session = drive(main, workers=threads, freeze=False, stay_home=pin)
        try:
            self._session = self._stack.enter_context(session)
            self._command = self._session.plug("command")
            self._step = self._command
            if singles:
                self._step = ByLength(
                    LONG_STEP * self._count / threads,
                    for_short=self._command,
                    for_long=self._session.plug("single"),
                )
        except BaseException:
            self._stack.close()
            raise

    @property
    def tag(self) -> Tag:
        """The tag of the last command, elapsed."""
        return self._session.tag

    @property
    def is_native(self) -> bool:
        """Whether all shards step in native code, apart from unusual steps."""
        return all(shard.is_native for shard in self._shards)

    @property
    def envs(self) -> list[Any]:
        """The environments themselves."""
        return [env for shard in self._shards for env in shard.envs]

    def describe(self) -> list[Description]:
        """Return a description of each sub-environment."""
        replies: list[Any] = self.execute(Describe())
        first_failure(replies)
        return replies

    def make_arrays(self, description: Description, *, pooled: bool) -> Arrays:
        """Make the arrays."""
        space = description.observation_space
        if any(shard.is_native for shard in self._shards):
            pooled = False  # bodies write into one buffer
        arrays = Arrays.of(space, self._count, pooled=pooled)
        # Not a command: tags are then the same as those of worker processes.
        for shard in self._shards:
            shard.assign(arrays)
        return arrays

    def execute(self, command: Command) -> list[Reply]:
        """Execute a command in every sub-environment, at the next microstep."""
        push = self._step if type(command) is Step else self._command
        replies: list[Reply] = [None] * self._count
        for index, reply in _joined(push(command)).items():
            replies[index] = reply
        return replies

    def step(self, command: Step) -> dict[int, Reply]:
        """Step every sub-environment, at the next microstep."""
        outputs = self._step(command)
        return _joined(outputs) if outputs else {}

    def close(self) -> None:
        """Close the environments, each on its home worker, and end the threads."""
        if os.getpid() == self._owner:  # a forked child has no such threads
            self._stack.close()


def _joined(outputs: Mapping[str, Sequence[dict[int, Reply] | None]]) -> dict[int, Any]:
    """Return the replies of all shards, in order."""
    found: dict[int, Any] = {}
    for by_shard in outputs.values():
        for replies in by_shard:
            if replies is not None:
                found |= replies
    return found
