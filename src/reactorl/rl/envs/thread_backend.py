# SPDX-License-Identifier: Apache-2.0
"""Environments in this process: groups of them are reactors on the runtime's workers.

::

    command ---> group[0..n).command     (to all of them, at one tag)
    reply   <--- group[0..n).reply

    steps   ---> solo[0..m).command      (instead, at other tags: one each)
    replies <--- solo[0..m).reply

Several environments share a reactor, so that handing out work costs little even where
a step is short; where there are many, there are more reactors than workers, so that no
worker waits long. An environment is made at the start tag and closed at the final one,
by its home worker. In between it is stepped there, too, unless that worker is busy
while another has nothing to do; ``pin`` rules that out.

While steps are long, each is handed out by itself: then no worker waits longer than for
one of them. That changes who does a step, and nothing of what comes of it.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
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
from reactorl.rl.envs.commands import Describe, Step
from reactorl.rl.envs.errors import EnvError, stamped
from reactorl.rl.envs.placement import parts
from reactorl.rl.envs.shard import EnvShard
from reactorl.rl.envs.timeout import HangWatch, no_guard

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reactorl import Tag
    from reactorl.rl.envs.commands import Command, Description, Reply
    from reactorl.rl.envs.factory import Maker
    from reactorl.rl.envs.sub_env import Rules, SubEnv
    from reactorl.rl.envs.timeout import Guard

GROUPS_PER_WORKER: Final = 3
WORTH_A_GROUP: Final = 8
"""Environments with short steps; a group of fewer costs more than it evens out."""
LONG_STEP: Final = 20e-6
"""Seconds from which a step is worth to be handed out by itself."""


class Group(Reactor):
    """Has some environments, which obey a command at the tag at which it arrives."""

    command = Input[Any]()
    reply = Output[Any]()

    plans: Sequence[GroupPlan] = param()
    bank_index: int = param(0)

    def setup(self) -> None:
        """Have no environments yet."""
        self.company: EnvShard | None = None

    @reaction(startup)
    def make(self) -> None:
        """Make the environments."""
        plan = self.plans[self.bank_index]
        self.company = EnvShard(plan.makers, plan.rules, plan.guard)
        plan.companies[self.bank_index] = self.company

    @reaction(command, effects=[reply])
    def obey(self) -> None:
        """Let them obey; reply if there is something to say."""
        assert self.company is not None
        replies = self.company.obey(self.command.value)
        if replies:
            self.reply.set(
                {i: stamped(reply, self.when) for i, reply in replies.items()}
            )

    def when(self) -> str:
        """Return the current tag, as failures show it."""
        return str(self.tag)

    @reaction(shutdown)
    def close(self) -> None:
        """Close the environments, on their home worker."""
        self.teardown()

    def teardown(self) -> None:
        """Close the environments, if that has not happened yet."""
        company, self.company = self.company, None
        if company is not None:
            company.close()


class Solo(Reactor):
    """Lets one environment of a group step, at tags at which the group does nothing."""

    command = Input[Any]()
    reply = Output[Any]()

    plans: Sequence[GroupPlan] = param()
    bank_index: int = param(0)

    def setup(self) -> None:
        """Have no environment before the first step."""
        self.found: tuple[EnvShard, SubEnv] | None = None

    @reaction(command, effects=[reply])
    def step(self) -> None:
        """Let it step; reply if there is something to say."""
        company, seat = self.found = self.found or self.find()
        command = self.command.value
        seat.land(command.place)
        reply = company.one(command, seat)
        if reply is not None:
            self.reply.set({seat.index: stamped(reply, self.when)})

    def when(self) -> str:
        """Return the current tag, as failures show it."""
        return str(self.tag)

    def find(self) -> tuple[EnvShard, SubEnv]:
        """Find the environment that a group has made."""
        return next(
            (company, seat)
            for company in self.plans[0].companies
            if company is not None
            for seat in company.seats
            if seat.index == self.bank_index
        )


@dataclass(frozen=True)
class GroupPlan:
    """What a group is to have."""

    makers: Mapping[int, Maker]
    rules: Rules
    guard: Callable[[], Guard]
    companies: list[EnvShard | None]
    """Where a group leaves its company, at its own index, for the caller to see."""


class Threads(Reactor):
    """All environments of a vector."""

    command = Input[Any]()
    reply = MultiOutput[Any](lambda self: len(self.plans))
    steps = Input[Any]()
    replies = MultiOutput[Any](lambda self: self.solos)

    plans: Sequence[GroupPlan] = param()
    solos: int = param()

    group = bank(Group(plans=plans), width=lambda self: len(self.plans))
    solo = bank(Solo(plans=plans), width=solos)

    def build(self) -> None:
        """Connect."""
        self.connect(self.command, self.group.command, broadcast=True)
        self.connect(self.group.reply, self.reply)
        if self.solos:
            self.connect(self.steps, self.solo.command, broadcast=True)
            self.connect(self.solo.reply, self.replies)


def group_count(envs: int, threads: int) -> int:
    """Return in how many groups environments step, as long as their steps are short."""
    if threads == 1:
        return 1
    return min(GROUPS_PER_WORKER * threads, max(threads, envs // WORTH_A_GROUP))


class ThreadBackend:
    """Environments on the runtime's workers; the caller is one of these.

    Args:
        makers: Make the environments.
        rules: What holds for all of them.
        workers: How many threads; None: what helps.
        pin: Whether an environment stays with the thread that made it.
    """

    def __init__(
        self,
        makers: Sequence[Maker],
        rules: Rules,
        *,
        workers: int | None,
        pin: bool,
    ) -> None:
        self._count = len(makers)
        threads = min(usable_cores() if workers is None else workers, self._count)
        size = group_count(self._count, threads)
        self._stack = ExitStack()
        guard: Callable[[], Guard] = no_guard
        if rules.timeout is not None:
            watch = HangWatch(rules.timeout)
            self._stack.callback(watch.close)
            guard = watch.guard
        self._companies: list[EnvShard | None] = [None] * size
        plans = [
            GroupPlan({i: makers[i] for i in part}, rules, guard, self._companies)
            for part in parts(self._count, size)
        ]
        # A group of one steps alone anyway, and who is pinned stays with its group.
        solos = 0 if pin or size in (1, self._count) else self._count
        # Values stay as they are: what an environment keeps in its info is its own.
        main = Threads(plans=plans, solos=solos)
        session = drive(main, workers=threads, freeze=False, stay_home=pin)
        try:
            self._session = self._stack.enter_context(session)
            self._command = self._session.plug("command")
            self._step = self._command
            if solos:
                self._step = ByLength(
                    LONG_STEP * self._count / threads,
                    for_short=self._command,
                    for_long=self._session.plug("steps"),
                )
        except BaseException:
            self._stack.close()
            raise

    @property
    def tag(self) -> Tag:
        """The tag of the last command, elapsed."""
        return self._session.tag

    @property
    def envs(self) -> list[Any]:
        """The environments themselves."""
        return [s.env for company in self._companies if company for s in company.seats]

    def describe(self) -> list[Description]:
        """Return what each environment is."""
        replies: list[Any] = self.obey(Describe())
        for reply in replies:
            if isinstance(reply, EnvError):
                raise reply
        return replies

    def make_arrays(self, description: Description, *, lends: bool) -> Arrays:
        """Make the arrays, and let everybody know."""
        space = description.observation_space
        arrays = Arrays.of(space, self._count, lends=lends)
        # Nobody is at work, and this is no event: tags are those of processes.
        for company in self._companies:
            for seat in company.seats if company else ():
                seat.assign(arrays)
        return arrays

    def obey(self, command: Command) -> list[Reply]:
        """Let every environment obey, at the next microstep."""
        push = self._step if type(command) is Step else self._command
        replies: list[Reply] = [None] * self._count
        for index, reply in _joined(push(command)).items():
            replies[index] = reply
        return replies

    def step(self, command: Step) -> dict[int, Reply]:
        """Let every environment step, at the next microstep."""
        outputs = self._step(command)
        return _joined(outputs) if outputs else {}

    def close(self) -> None:
        """Close the environments, each on its home worker, and end the threads."""
        self._stack.close()


def _joined(outputs: Mapping[str, Sequence[dict[int, Reply] | None]]) -> dict[int, Any]:
    """Return what environments replied, in their order."""
    found: dict[int, Any] = {}
    for by_group in outputs.values():
        for replies in by_group:
            if replies is not None:
                found |= replies
    return found
