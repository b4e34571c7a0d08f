# SPDX-License-Identifier: Apache-2.0
"""Inheritance, order of reactions, deadlines."""

from __future__ import annotations

from reactorl import (
    Input,
    Output,
    Reactor,
    hours,
    param,
    reaction,
    startup,
    state,
)
from tests.programs.rule import rule


class _Root(Reactor):
    out = Output[str]()
    word: str = param("root")
    said: str = state("")

    @reaction(startup, effects=[out])
    def root(self) -> None:
        self.said += "root "
        self.out.set(self.said)


class _Left(_Root):
    @reaction(startup, effects=[_Root.out])
    def left(self) -> None:
        self.said += "left "
        self.out.set(self.said)


class _Right(_Root):
    @reaction(startup, effects=[_Root.out])
    def right(self) -> None:
        self.said += "right "
        self.out.set(self.said)


class _Both(_Left, _Right):
    word: str = param("both")

    @reaction(startup, effects=[_Root.out])
    def both(self) -> None:
        self.out.set(self.said + self.word)


@rule(
    """
    (0, 0)
      run main.it.root
        set main.it.out = 'root '
      run main.it.left
        set main.it.out = 'root left '
      run main.it.right
        set main.it.out = 'root left right '
      run main.it.both
        set main.it.out = 'root left right both'
    (0, 1)
    """
)
class BasesComeFirstAndADiamondCountsOnce(Reactor):
    it = _Both()


class _Late(Reactor):
    x = Input[str]()
    out = Output[str]()

    @reaction(x, effects=[out], deadline=0)
    def act(self) -> None:
        self.out.set("in time")

    @act.deadline_handler
    def act_late(self) -> None:
        self.out.set("late")


class _Plain(Reactor):
    out = Output[str]()
    x = Input[str]()

    @reaction(startup, effects=[out])
    def send(self) -> None:
        self.out.set("go")

    @reaction(x)
    def look(self) -> None:
        pass


@rule(
    """
    (0, 0)
      run main.plain.send
        set main.plain.out = 'go'
      run main.late.act
        missed deadline
        set main.late.out = 'late'
      run main.plain.look
    (0, 1)
    """
)
class ADeadlineOfZeroIsAlwaysMissed(Reactor):
    plain = _Plain()
    late = _Late()

    def build(self) -> None:
        self.connect(self.plain.out, self.late.x)
        self.connect(self.late.out, self.plain.x)


class _Urgent(Reactor):
    x = Input[str]()

    @reaction(x, deadline=hours(1))
    def act(self) -> None:
        pass

    @act.deadline_handler
    def act_late(self) -> None:
        raise AssertionError


class _Idle(Reactor):
    @reaction(startup)
    def idle(self) -> None:
        pass


@rule(
    """
    (0, 0)
      run main.plain.send
        set main.plain.out = 'go'
      run main.urgent.act
      run main.idle.idle
    (0, 1)
    """
)
class DeadlinesAreInheritedUpstreamForPriority(Reactor):
    idle = _Idle()
    urgent = _Urgent()
    plain = _Plain()

    def build(self) -> None:
        self.connect(self.plain.out, self.urgent.x)
