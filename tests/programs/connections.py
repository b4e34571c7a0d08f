# SPDX-License-Identifier: Apache-2.0
"""Connections: delays, banks, multiports, and the order of channels."""

from __future__ import annotations

from reactorl import (
    Input,
    LogicalAction,
    MultiInput,
    MultiOutput,
    Output,
    Reactor,
    Tag,
    Timer,
    bank,
    interleaved,
    param,
    reaction,
    startup,
)
from tests.programs.rule import rule


class _Count(Reactor):
    out = Output[int]()
    timer = Timer(0, 2)

    def setup(self) -> None:
        self.count = 0

    @reaction(timer, effects=[out])
    def tick(self) -> None:
        self.count += 1
        self.out.set(self.count)


class _Show(Reactor):
    x = Input[int]()
    seen = Output[int]()

    @reaction(x, effects=[seen])
    def look(self) -> None:
        self.seen.set(self.x.value)


@rule(
    """
    (0, 0)
      run main.count.tick
        set main.count.out = 1
      event main.count.out after 5 at (5, 0)
    (2, 0)
      run main.count.tick
        set main.count.out = 2
      event main.count.out after 5 at (7, 0)
    (4, 0)
      run main.count.tick
        set main.count.out = 3
      event main.count.out after 5 dropped
    (5, 0)
      run main.a.look
        set main.a.seen = 1
      run main.b.look
        set main.b.seen = 1
    (6, 0)
      run main.count.tick
        set main.count.out = 4
      event main.count.out after 5 dropped
    (7, 0)
      run main.a.look
        set main.a.seen = 2
      run main.b.look
        set main.b.seen = 2
    (8, 0)
      run main.count.tick
        set main.count.out = 5
      event main.count.out after 5 dropped
    """,
    timeout=8,
)
class ManyValuesAreInFlightAndBroadcastAfterTheDelay(Reactor):
    count = _Count()
    a = _Show()
    b = _Show()

    def build(self) -> None:
        self.connect(self.count.out, [self.a.x, self.b.x], after=5, broadcast=True)


@rule(
    """
    (0, 0)
      run main.count.tick
        set main.count.out = 1
    (2, 0)
      run main.count.tick
        set main.count.out = 2
    (3, 0)
      run main.show.look
        set main.show.seen = 1
    (4, 0)
      run main.count.tick
        set main.count.out = 3
    """,
    timeout=4,
    physical_events=(
        (Tag(3, 0), "main.count.out ~> 1", 1),
        (Tag(4, 1), "main.count.out ~> 1", 2),
    ),
)
class APhysicalConnectionDeliversWhenTheClockSays(Reactor):
    count = _Count()
    show = _Show()

    def build(self) -> None:
        self.connect(self.count.out, self.show.x, after=1, physical=True)


class _Loop(Reactor):
    x = Input[int]()
    out = Output[int]()

    @reaction(startup, effects=[out])
    def start(self) -> None:
        self.out.set(0)

    @reaction(x, effects=[out])
    def again(self) -> None:
        if self.x.value < 2:
            self.out.set(self.x.value + 1)


@rule(
    """
    (0, 0)
      run main.it.start
        set main.it.out = 0
      event main.it.out after 0 at (0, 1)
    (0, 1)
      run main.it.again
        set main.it.out = 1
      event main.it.out after 0 at (0, 2)
    (0, 2)
      run main.it.again
        set main.it.out = 2
      event main.it.out after 0 at (0, 3)
    (0, 3)
      run main.it.again
    (0, 4)
    """
)
class AfterZeroIsOneMicrostepAndBreaksLoops(Reactor):
    it = _Loop()

    def build(self) -> None:
        self.connect(self.it.out, self.it.x, after=0)


class _Burst(Reactor):
    out = Output[int]()
    a = LogicalAction[int]()

    @reaction(startup, effects=[a])
    def start(self) -> None:
        self.a.schedule(0, 1)
        self.a.schedule(0, 2)

    @reaction(a, effects=[out])
    def send(self) -> None:
        self.out.set(self.a.value)


@rule(
    """
    (0, 0)
      run main.burst.start
        event main.burst.a at (0, 1)
        event main.burst.a at (0, 2)
    (0, 1)
      run main.burst.send
        set main.burst.out = 1
      event main.burst.out after 3 at (3, 0)
    (0, 2)
      run main.burst.send
        set main.burst.out = 2
      event main.burst.out after 3 at (3, 1)
    (3, 0)
      run main.show.look
        set main.show.seen = 1
    (3, 1)
      run main.show.look
        set main.show.seen = 2
    (3, 2)
    """
)
class CollidingDelaysPileUpInMicrosteps(Reactor):
    burst = _Burst()
    show = _Show()

    def build(self) -> None:
        self.connect(self.burst.out, self.show.x, after=3)


class _Link(Reactor):
    x = Input[int]()
    out = Output[int]()

    @reaction(x, effects=[out])
    def more(self) -> None:
        self.out.set(self.x.value + 1)


@rule(
    """
    (0, 0)
      run main.start
        set main.link[0].x = 0
      run main.link[0].more
        set main.link[0].out = 1
      run main.link[1].more
        set main.link[1].out = 2
      run main.link[2].more
        set main.link[2].out = 3
    (0, 1)
    """
)
class MembersOfABankAreOrderedOneByOne(Reactor):
    link = bank(_Link, width=3)

    def build(self) -> None:
        self.connect(self.link[0].out, self.link[1].x)
        self.connect(self.link[1].out, self.link[2].x)

    @reaction(startup, effects=[link[0].x])
    def start(self) -> None:
        self.link[0].x.set(0)


class _Node(Reactor):
    x = MultiInput[str](2)
    out = MultiOutput[str](2)
    seen = Output[str]()

    @reaction(startup, effects=[out])
    def send(self) -> None:
        for index, channel in enumerate(self.out):
            channel.set(f"{self.bank_index}{index}")

    @reaction(x, effects=[seen])
    def look(self) -> None:
        self.seen.set(" ".join(self.x.values()))


def _mesh(first: str, second: str) -> str:
    return f"""
    (0, 0)
      run main.node[0].send
        set main.node[0].out[0] = '00'
        set main.node[0].out[1] = '01'
      run main.node[1].send
        set main.node[1].out[0] = '10'
        set main.node[1].out[1] = '11'
      event main.node[0].out[0] after 1 at (1, 0)
      event main.node[0].out[1] after 1 at (1, 0)
      event main.node[1].out[0] after 1 at (1, 0)
      event main.node[1].out[1] after 1 at (1, 0)
    (1, 0)
      run main.node[0].look
        set main.node[0].seen = '{first}'
      run main.node[1].look
        set main.node[1].seen = '{second}'
    (1, 1)
    """


@rule(_mesh("00 01", "10 11"))
class ChannelsAreListedMemberByMember(Reactor):
    node = bank(_Node, width=2)

    def build(self) -> None:
        self.connect(self.node.out, self.node.x, after=1)


@rule(_mesh("00 10", "01 11"))
class InterleavedListsChannelByChannel(Reactor):
    node = bank(_Node, width=2)

    def build(self) -> None:
        self.connect(self.node.out, interleaved(self.node.x), after=1)


class _Two(Reactor):
    out = MultiOutput[int](2)

    @reaction(startup, effects=[out])
    def send(self) -> None:
        self.out[0].set(0)
        self.out[1].set(1)


class _Five(Reactor):
    x = MultiInput[int]()
    y = MultiInput[int](4)
    seen = Output[str]()

    @reaction(x, y, effects=[seen])
    def look(self) -> None:
        self.seen.set(f"{self.x.values()} {self.y.values()}")


@rule(
    """
    (0, 0)
      run main.two.send
        set main.two.out[0] = 0
        set main.two.out[1] = 1
      run main.five.look
        set main.five.seen = '[0, 1, 0, 1] [0, 1, 0, 1]'
    (0, 1)
    """
)
class BroadcastRepeatsAndAnOpenWidthFits(Reactor):
    two = _Two()
    five = _Five()

    def build(self) -> None:
        self.connect([self.two.out, self.two.out], self.five.x)
        self.connect(self.two.out, self.five.y, broadcast=True)


class _Member(Reactor):
    scale: int = param(1)
    shift: int = param(0)
    out = Output[int]()

    @reaction(startup, effects=[out])
    def send(self) -> None:
        self.out.set(self.scale * self.bank_index + self.shift)


@rule(
    """
    (0, 0)
      run main.group.member[0].send
        set main.group.member[0].out = 7
      run main.group.member[1].send
        set main.group.member[1].out = 105
    (0, 1)
    """
)
class MembersDifferByIndexAndByWhatTheirParentSays(Reactor):
    class _Group(Reactor):
        width: int = param(2)
        factor: int = param(100)
        member = bank(
            _Member,
            width=width,
            scale=factor,
            each=lambda self, index: {"shift": 7 - self.width * index},
        )

    group = _Group()
