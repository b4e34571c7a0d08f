# SPDX-License-Identifier: Apache-2.0
"""Actions inside modes: their spacing is local time, and they rest with the mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl import (
    LogicalAction,
    Mode,
    Output,
    PhysicalAction,
    Reactor,
    Tag,
    Timer,
    history,
    reaction,
    reset_to,
    startup,
)
from tests.programs.rule import rule

if TYPE_CHECKING:
    from collections.abc import Callable


def _spaced(enter: Callable[[Mode], object]) -> type[Reactor]:
    """Return a reactor that is in mode ``one`` from 0, 8 and 20, for 2 or 6 each."""

    class Spaced(Reactor):
        go = Timer(2, 6)
        one = Mode(initial=True)
        two = Mode()

        with one:
            a = LogicalAction[None](min_spacing=10)

            @reaction(startup, effects=[a])
            def start(self) -> None:
                self.a.schedule(1)

            @reaction(a)
            def act(self) -> None:
                pass

            @reaction(go, effects=[two, a])
            def leave(self) -> None:
                self.a.schedule()
                self.two.set()

        with two:

            @reaction(go, effects=[enter(one)])
            def back(self) -> None:
                self.one.set()

    return Spaced


_UNTIL_EIGHT = """
    (0, 0)
      run main.start
        event main.a at (1, 0)
    (1, 0)
      run main.act
    (2, 0)
      run main.leave
        event main.a at (11, 0)
        mode main.two reset
    (8, 0)
      run main.back"""

rule(
    _UNTIL_EIGHT
    + """
        mode main.one history
    (14, 0)
      run main.leave
        event main.a at (27, 0)
        mode main.two reset
    (20, 0)
      run main.back
        mode main.one history
    (23, 0)
      run main.act
    (26, 0)
      run main.leave
        event main.a dropped
        mode main.two reset
    (26, 1)
    """,
    name="SpacingInAModeIsLocalTime",
    timeout=30,
)(_spaced(history))

rule(
    _UNTIL_EIGHT
    + """
        mode main.one reset
    (14, 0)
      run main.leave
        event main.a at (14, 1)
        mode main.two reset
    (20, 0)
      run main.back
        mode main.one reset
    (26, 0)
      run main.leave
        event main.a at (26, 1)
        mode main.two reset
    (26, 1)
    """,
    name="ResetForgetsTheLatestCall",
    timeout=30,
)(_spaced(reset_to))


@rule(
    """
    (0, 0)
      run main.start
        event main.a at (1, 0)
    (1, 0)
      run main.act
    (2, 0)
      run main.tick
        mode main.two reset
    (8, 0)
      run main.back
        mode main.one history
    (14, 0)
      run main.tick
        event main.a at (17, 0)
    (17, 0)
      run main.act
    (17, 1)
    """,
    timeout=18,
)
class SpacingAfterAnEventThatHasHappenedIsLocalTime(Reactor):
    """The event is at 1, the mode rests from 2 to 8: 10 of its own time end at 17."""

    go = Timer(2, 6)
    one = Mode(initial=True)
    two = Mode()

    with one:
        a = LogicalAction[None](min_spacing=10)

        @reaction(startup, effects=[a])
        def start(self) -> None:
            self.a.schedule(1)

        @reaction(a)
        def act(self) -> None:
            pass

        @reaction(go, effects=[two, a])
        def tick(self) -> None:
            if self.elapsed == 2:
                self.two.set()
            else:
                self.a.schedule()

    with two:

        @reaction(go, effects=[history(one)])
        def back(self) -> None:
            self.one.set()


class _Physical(Reactor):
    out = Output[object]()
    go = Timer(4, 4)
    one = Mode(initial=True)
    two = Mode()

    with one:
        a = PhysicalAction[int]()

        @reaction(a, effects=[out])
        def see(self) -> None:
            self.out.set(self.a.value)

        @reaction(go, effects=[two])
        def leave(self) -> None:
            self.two.set()

    with two:

        @reaction(go, effects=[history(one)])
        def back(self) -> None:
            self.one.set()


@rule(
    """
    (2, 1)
      run main.it.see
        set main.it.out = 1
    (4, 0)
      run main.it.leave
        mode main.it.two reset
    (8, 0)
      run main.it.back
        mode main.it.one history
    (10, 0)
      run main.it.see
        set main.it.out = 3
    (11, 0)
    """,
    timeout=11,
    physical_events=(
        (Tag(2, 1), "main.it.a", 1),
        (Tag(6, 0), "main.it.a", 2),
        (Tag(10, 0), "main.it.a", 3),
    ),
)
class APhysicalEventHappensAtItsTagIfItsModeIsActive(Reactor):
    it = _Physical()


@rule(
    """
    (0, 0)
      run main.start
        event main.a dropped
        event main.b at (3, 0)
    (1, 0)
      run main.switch
        mode main.two reset
    (3, 0)
      run main.act
    (3, 1)
    """
)
class AnActionOfAnInactiveModeIsNotScheduled(Reactor):
    b = LogicalAction[None]()
    one = Mode(initial=True)
    two = Mode()

    with one:
        timer = Timer(1)

    with two:
        a = LogicalAction[None]()

    @reaction(startup, effects=[a, b])
    def start(self) -> None:
        self.a.schedule(2)
        self.b.schedule(3)

    with one:

        @reaction(timer, effects=[two])
        def switch(self) -> None:
            self.two.set()

    @reaction(a, b)
    def act(self) -> None:
        assert not self.a.is_present
