# SPDX-License-Identifier: Apache-2.0
"""Modes: when they switch, and how time passes inside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl import (
    Input,
    LogicalAction,
    Mode,
    Output,
    Reactor,
    Timer,
    history,
    reaction,
    reset,
    reset_to,
    shutdown,
    startup,
    state,
)
from tests.programs.rule import rule

if TYPE_CHECKING:
    from collections.abc import Callable


def _switch(enter: Callable[[Mode], object]) -> type[Reactor]:
    """Return a reactor that leaves mode ``one`` at 3 and comes back at 10."""

    class Switch(Reactor):
        out = Output[object]()
        go = Timer(3, 7)
        one = Mode(initial=True)
        two = Mode()

        with one:
            tick = Timer(1, 4)
            pending = LogicalAction[str]()
            count: int = state(0, reset=True)

            @reaction(startup, effects=[pending])
            def first_one(self) -> None:
                self.pending.schedule(6, "pending")

            @reaction(reset)
            def again_one(self) -> None:
                assert self.count == 0

            @reaction(tick, effects=[out])
            def tick_one(self) -> None:
                self.count += 1
                self.out.set(self.count)

            @reaction(pending, effects=[out])
            def late_one(self) -> None:
                self.out.set(self.pending.value)

            @reaction(go, effects=[two])
            def leave(self) -> None:
                self.two.set()

            @reaction(shutdown)
            def end_one(self) -> None:
                pass

        with two:
            here = Timer()

            @reaction(startup)
            def first_two(self) -> None:
                pass

            @reaction(here)
            def in_two(self) -> None:
                pass

            @reaction(go, effects=[enter(one)])
            def back(self) -> None:
                self.one.set()

            @reaction(shutdown)
            def end_two(self) -> None:
                pass

    return Switch


_UNTIL_TEN = """
    (0, 0)
      run main.it.first_one
        event main.it.pending at (6, 0)
    (1, 0)
      run main.it.tick_one
        set main.it.out = 1
    (3, 0)
      run main.it.leave
        mode main.it.two reset
    (3, 1)
      run main.it.first_two
      run main.it.in_two
    (10, 0)
      run main.it.back"""


@rule(
    _UNTIL_TEN
    + """
        mode main.it.one reset
    (10, 1)
      run main.it._reset_state[one]
      run main.it.again_one
    (11, 0)
      run main.it.tick_one
        set main.it.out = 1
    (15, 0)
      run main.it.tick_one
        set main.it.out = 2
    (15, 1)
      run main.it.end_one
      run main.it.end_two
    """,
    timeout=16,
)
class ResetRestartsTimersAndDropsEvents(Reactor):
    it = _switch(reset_to)()


@rule(
    _UNTIL_TEN
    + """
        mode main.it.one history
    (12, 0)
      run main.it.tick_one
        set main.it.out = 2
    (13, 0)
      run main.it.late_one
        set main.it.out = 'pending'
    (16, 0)
      run main.it.tick_one
        set main.it.out = 3
      run main.it.end_one
      run main.it.end_two
    """,
    timeout=16,
)
class HistoryResumesWithTheDelayThatWasLeft(Reactor):
    it = _switch(history)()


@rule(
    """
    (0, 0)
      run main.start
        event main.a at (5, 0)
    (2, 0)
      run main.restart
        mode main.one reset
    (4, 0)
      run main.restart
    (4, 1)
    """
)
class ResettingTheActiveModeDropsItsEvents(Reactor):
    one = Mode(initial=True)
    with one:
        a = LogicalAction[None]()
        timer = Timer(2)

        @reaction(startup, effects=[a])
        def start(self) -> None:
            self.a.schedule(5)

        @reaction(timer, effects=[one])
        def restart(self) -> None:
            if self.elapsed == 2:
                self.one.set()

        @reaction(a)
        def never(self) -> None:
            raise AssertionError


@rule(
    """
    (0, 0)
      run main.to_b
        mode main.b reset
      run main.to_c
        mode main.c reset
    (0, 1)
      run main.in_c
    (0, 2)
      run main.end_c
    """
)
class TheLastModeSetWins(Reactor):
    a = Mode(initial=True)
    b = Mode()
    c = Mode()
    with a:

        @reaction(startup, effects=[b])
        def to_b(self) -> None:
            self.b.set()

        @reaction(startup, effects=[c])
        def to_c(self) -> None:
            self.c.set()

    with b:

        @reaction(startup, shutdown)
        def in_b(self) -> None:
            raise AssertionError

    with c:

        @reaction(startup)
        def in_c(self) -> None:
            pass

        @reaction(shutdown)
        def end_c(self) -> None:
            pass


class _Inner(Reactor):
    x = Input[int]()
    p = Mode(initial=True)
    q = Mode()
    with p:
        in_p = Timer(1)

        @reaction(in_p, effects=[history(q)])
        def to_q(self) -> None:
            self.q.set()

        @reaction(x)
        def x_in_p(self) -> None:
            pass

    with q:
        in_q = Timer(3)

        @reaction(x)
        def x_in_q(self) -> None:
            pass

        @reaction(in_q)
        def q_tick(self) -> None:
            pass


def _nested(enter: Callable[[Mode], object]) -> type[Reactor]:
    """Return a reactor whose mode ``on`` is left at 3 and entered again at 7."""

    class Nested(Reactor):
        beat = Timer(0, 2)
        flip = Timer(3, 4)
        on = Mode(initial=True)
        off = Mode()
        with on:
            inner = _Inner()

        @reaction(beat, effects=[inner.x])
        def feed(self) -> None:
            self.inner.x.set(1)

        with on:

            @reaction(flip, effects=[off])
            def turn_off(self) -> None:
                self.off.set()

        with off:

            @reaction(flip, effects=[enter(on)])
            def turn_on(self) -> None:
                self.on.set()

    return Nested


_UNTIL_SEVEN = """
    (0, 0)
      run main.feed
        set main.inner.x = 1
      run main.inner.x_in_p
    (1, 0)
      run main.inner.to_q
        mode main.inner.q history
    (2, 0)
      run main.feed
        set main.inner.x = 1
      run main.inner.x_in_q
    (3, 0)
      run main.turn_off
        mode main.off reset
    (4, 0)
      run main.feed
        set main.inner.x = 1
    (6, 0)
      run main.feed
        set main.inner.x = 1
    (7, 0)
      run main.turn_on"""

_FROM_TEN = """
    (10, 0)
      run main.feed
        set main.inner.x = 1
      run main.inner.x_in_q
    (11, 0)
      run main.turn_off
        mode main.off reset
    (12, 0)
      run main.feed
        set main.inner.x = 1
    """

rule(
    _UNTIL_SEVEN
    + """
        mode main.on history
    (8, 0)
      run main.feed
        set main.inner.x = 1
      run main.inner.x_in_q
      run main.inner.q_tick"""
    + _FROM_TEN,
    name="InnerModesKeepTheirPlaceThroughHistory",
    timeout=12,
)(_nested(history))

rule(
    _UNTIL_SEVEN
    + """
        mode main.on reset
    (8, 0)
      run main.feed
        set main.inner.x = 1
      run main.inner.to_q
        mode main.inner.q history
      run main.inner.x_in_p
    (9, 0)
      run main.inner.q_tick"""
    + _FROM_TEN,
    name="InnerModesAreResetWithTheOuterOne",
    timeout=12,
)(_nested(reset_to))
