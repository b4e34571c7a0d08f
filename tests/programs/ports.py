# SPDX-License-Identifier: Apache-2.0
"""Ports: presence, values, sharing, order of readers and writers."""

from __future__ import annotations

from reactorl import (
    Input,
    LogicalAction,
    MultiInput,
    MultiOutput,
    Output,
    Reactor,
    Timer,
    param,
    reaction,
    startup,
)
from tests.programs.rule import rule


class _Emit(Reactor):
    out = Output[int]()
    at: int = param(0)
    timer = Timer(at)

    @reaction(timer, effects=[out])
    def emit(self) -> None:
        self.out.set(1)


class _Add(Reactor):
    x = Input[int]()
    out = Output[int]()

    @reaction(x, effects=[out])
    def more(self) -> None:
        self.out.set(self.x.value + 1)


class _Join(Reactor):
    a = Input[int]()
    b = Input[int]()
    total = Output[int]()

    @reaction(a, b, effects=[total])
    def join(self) -> None:
        assert self.a.is_present
        assert self.b.is_present
        self.total.set(self.a.value + self.b.value)


@rule(
    """
    (0, 0)
      run main.source.emit
        set main.source.out = 1
      run main.first.more
        set main.first.out = 2
      run main.second.more
        set main.second.out = 3
      run main.join.join
        set main.join.total = 4
    (0, 1)
    """
)
class Diamond(Reactor):
    """Paths of different length meet at one tag, and the reader runs once."""

    join = _Join()
    second = _Add()
    first = _Add()
    source = _Emit()

    def build(self) -> None:
        self.connect(self.source.out, self.first.x)
        self.connect(self.first.out, self.second.x)
        self.connect(self.source.out, self.join.a)
        self.connect(self.second.out, self.join.b)


class _Peek(Reactor):
    x = Input[int]()
    seen = Output[object]()
    timer = Timer(0, 2)

    @reaction(timer, sources=[x], effects=[seen])
    def peek(self) -> None:
        self.seen.set(repr((self.x.is_present, self.x.value)))


@rule(
    """
    (0, 0)
      run main.peek.peek
        set main.peek.seen = '(False, None)'
    (1, 0)
      run main.odd.emit
        set main.odd.out = 1
    (2, 0)
      run main.peek.peek
        set main.peek.seen = '(False, 1)'
    (4, 0)
      run main.peek.peek
        set main.peek.seen = '(False, 1)'
    """,
    timeout=4,
)
class ASourceDoesNotTriggerAndAnAbsentPortKeepsItsValue(Reactor):
    peek = _Peek()
    odd = _Emit(at=1)

    def build(self) -> None:
        self.connect(self.odd.out, self.peek.x)


@rule(
    """
    (0, 0)
      run main.now.emit
        set main.now.out = 1
      run main.peek.peek
        set main.peek.seen = '(True, 1)'
    (2, 0)
      run main.peek.peek
        set main.peek.seen = '(False, 1)'
    """,
    timeout=2,
)
class ASourceOrdersLikeATrigger(Reactor):
    peek = _Peek()
    now = _Emit()

    def build(self) -> None:
        self.connect(self.now.out, self.peek.x)


class _Writers(Reactor):
    out = Output[object]()
    none = Output[object]()
    never = Output[object]()
    report = Output[str]()
    again = LogicalAction[None]()

    @reaction(startup, effects=[out, never, again])
    def first(self) -> None:
        self.out.set(1)
        self.out.set(2)
        self.again.schedule()

    @reaction(startup, effects=[out, none])
    def second(self) -> None:
        self.out.set(self.out.value + 10)
        self.none.set(None)

    @reaction(startup, again, effects=[out, none, never, report])
    def third(self) -> None:
        ports = self.out, self.none, self.never
        self.report.set(" ".join(f"{p.is_present:d}:{p.value}" for p in ports))


class _Last(Reactor):
    x = Input[object]()
    y = Input[object]()
    seen = Output[object]()

    @reaction(x, y, effects=[seen])
    def look(self) -> None:
        assert self.y.is_present
        assert self.y.value is None
        self.seen.set(self.x.value)


@rule(
    """
    (0, 0)
      run main.it.first
        set main.it.out = 2
        event main.it.again at (0, 1)
      run main.it.second
        set main.it.out = 12
        set main.it.none = None
      run main.it.third
        set main.it.report = '1:12 1:None 0:None'
      run main.last.look
        set main.last.seen = 12
    (0, 1)
      run main.it.third
        set main.it.report = '0:12 0:None 0:None'
    (0, 2)
    """
)
class TheLastSetWinsAndSettingNoneIsSetting(Reactor):
    it = _Writers()
    last = _Last()

    def build(self) -> None:
        self.connect(self.it.out, self.last.x)
        self.connect(self.it.none, self.last.y)


class _SendList(Reactor):
    out = Output[list[int]]()

    def setup(self) -> None:
        self.sent = [1]

    @reaction(startup, effects=[out])
    def send(self) -> None:
        self.out.set(self.sent)


class _Change(Reactor):
    x = Input[list[int]](mutable=True)
    length = Output[int]()

    @reaction(x, effects=[length])
    def change(self) -> None:
        self.x.value.append(2)
        self.length.set(len(self.x.value))

    @reaction(x, effects=[length])
    def change_again(self) -> None:
        self.x.value.append(2)
        self.length.set(len(self.x.value))


class _Read(Reactor):
    x = Input[list[int]]()
    changed = Input[int]()
    length = Output[int]()

    @reaction(changed, sources=[x], effects=[length])
    def read(self) -> None:
        self.length.set(len(self.x.value))


@rule(
    """
    (0, 0)
      run main.sender.send
        set main.sender.out = <list>
      run main.change.change
        set main.change.length = 2
      run main.change.change_again
        set main.change.length = 2
      run main.read.read
        set main.read.length = 1
    (0, 1)
    """
)
class AMutableInputIsAPrivateCopyForEachReaction(Reactor):
    sender = _SendList()
    change = _Change()
    read = _Read()

    def build(self) -> None:
        self.connect(self.sender.out, self.change.x)
        self.connect(self.sender.out, self.read.x)
        self.connect(self.change.length, self.read.changed)


class _Row(Reactor):
    out = MultiOutput[int](3)

    @reaction(startup, effects=[out])
    def send(self) -> None:
        assert (len(self.out), self.out.width) == (3, 3)
        self.out[1].set(10)
        self.out[2].set(20)


class _Any(Reactor):
    x = MultiInput[int](3)
    seen = Output[str]()

    @reaction(x, effects=[seen])
    def look(self) -> None:
        assert self.x.is_present
        assert self.x.values() == [10, 20]
        present = [index for index, _ in self.x.present()]
        absent = [channel.is_present for channel in self.x]
        self.seen.set(f"{present} {absent}")


@rule(
    """
    (0, 0)
      run main.row.send
        set main.row.out[1] = 10
        set main.row.out[2] = 20
      run main.any.look
        set main.any.seen = '[1, 2] [False, True, True]'
    (0, 1)
    """
)
class AMultiportTriggersOnAnyChannel(Reactor):
    row = _Row()
    any = _Any()

    def build(self) -> None:
        self.connect(self.row.out, self.any.x)


class _Relay(Reactor):
    x = Input[int]()
    out = Output[int]()
    inner = _Add()

    def build(self) -> None:
        self.connect(self.x, self.inner.x)
        self.connect(self.inner.out, self.out)


@rule(
    """
    (0, 0)
      run main.feed
        set main.one.x = 5
      run main.one.inner.more
        set main.one.inner.out = 6
      run main.two.inner.more
        set main.two.inner.out = 7
      run main.see
        set main.three.x = 7
      run main.three.inner.more
        set main.three.inner.out = 8
    (0, 1)
    """
)
class AParentSetsInputsAndReadsOutputsOfItsChildren(Reactor):
    one = _Relay()
    two = _Relay()
    three = _Relay()

    def build(self) -> None:
        self.connect(self.one.out, self.two.x)

    @reaction(startup, effects=[one.x])
    def feed(self) -> None:
        self.one.x.set(5)

    @reaction(two.out, effects=[three.x])
    def see(self) -> None:
        self.three.x.set(self.two.out.value)
