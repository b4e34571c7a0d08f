# SPDX-License-Identifier: Apache-2.0
"""Connections inside modes: they hold, and their delays count, only while active."""

from __future__ import annotations

from reactorl import (
    Input,
    Mode,
    MultiInput,
    MultiOutput,
    Output,
    Reactor,
    Timer,
    history,
    reaction,
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
      event main.count.out after 3 at (3, 0)
    (2, 0)
      run main.count.tick
        set main.count.out = 2
      event main.count.out after 3 at (5, 0)
    (3, 0)
      run main.show.look
        set main.show.seen = 1
    (4, 0)
      run main.count.tick
        set main.count.out = 3
      event main.count.out after 3 at (7, 0)
    (5, 0)
      run main.turn_off
        mode main.off reset
      run main.show.look
        set main.show.seen = 2
    (6, 0)
      run main.count.tick
        set main.count.out = 4
    (8, 0)
      run main.count.tick
        set main.count.out = 5
    (10, 0)
      run main.count.tick
        set main.count.out = 6
      run main.turn_on
        mode main.on history
    (12, 0)
      run main.count.tick
        set main.count.out = 7
      run main.show.look
        set main.show.seen = 3
      event main.count.out after 3 dropped
    (12, 1)
    """,
    timeout=13,
)
class ADelayInAnInactiveModeStandsStill(Reactor):
    count = _Count()
    show = _Show()
    flip = Timer(5, 5)
    on = Mode(initial=True)
    off = Mode()

    def build(self) -> None:
        with self.on:
            self.connect(self.count.out, self.show.x, after=3)

    with on:

        @reaction(flip, effects=[off])
        def turn_off(self) -> None:
            self.off.set()

    with off:

        @reaction(flip, effects=[history(on)])
        def turn_on(self) -> None:
            self.on.set()


class _Pair(Reactor):
    a = Output[int]()
    b = Output[int]()
    timer = Timer(0, 2)

    @reaction(timer, effects=[a, b])
    def tick(self) -> None:
        self.a.set(1)
        self.b.set(2)


class _Router(Reactor):
    a = Input[int]()
    b = Input[int]()
    out = Output[int]()
    flip = Timer(3)
    left = Mode(initial=True)
    right = Mode()

    with left:

        @reaction(flip, effects=[right])
        def to_right(self) -> None:
            self.right.set()

    def build(self) -> None:
        with self.left:
            self.connect(self.a, self.out)
        with self.right:
            self.connect(self.b, self.out)


@rule(
    """
    (0, 0)
      run main.pair.tick
        set main.pair.a = 1
        set main.pair.b = 2
      run main.router._forward[1]
        set main.router.out = 1
      run main.show.look
        set main.show.seen = 1
    (2, 0)
      run main.pair.tick
        set main.pair.a = 1
        set main.pair.b = 2
      run main.router._forward[1]
        set main.router.out = 1
      run main.show.look
        set main.show.seen = 1
    (3, 0)
      run main.router.to_right
        mode main.router.right reset
    (4, 0)
      run main.pair.tick
        set main.pair.a = 1
        set main.pair.b = 2
      run main.router._forward[2]
        set main.router.out = 2
      run main.show.look
        set main.show.seen = 2
    """,
    timeout=4,
)
class ConnectionsHoldOnlyInTheirMode(Reactor):
    pair = _Pair()
    router = _Router()
    show = _Show()

    def build(self) -> None:
        self.connect(self.pair.a, self.router.a)
        self.connect(self.pair.b, self.router.b)
        self.connect(self.router.out, self.show.x)


class _Half(Reactor):
    out = MultiOutput[int](2)
    timer = Timer(0, 2)

    def setup(self) -> None:
        self.count = 0

    @reaction(timer, effects=[out])
    def tick(self) -> None:
        self.out[self.count].set(self.count)
        self.count += 1


class _Row(Reactor):
    x = MultiInput[int](2)
    out = MultiOutput[int](2)
    only = Mode(initial=True)

    def build(self) -> None:
        with self.only:
            self.connect(self.x, self.out)


@rule(
    """
    (0, 0)
      run main.half.tick
        set main.half.out[0] = 0
      run main.row._forward[0]
        set main.row.out[0] = 0
      run main.row._forward[1]
    (2, 0)
      run main.half.tick
        set main.half.out[1] = 1
      run main.row._forward[0]
      run main.row._forward[1]
        set main.row.out[1] = 1
    """,
    timeout=2,
)
class OnlyWhatIsPresentIsForwarded(Reactor):
    half = _Half()
    row = _Row()

    def build(self) -> None:
        self.connect(self.half.out, self.row.x)
