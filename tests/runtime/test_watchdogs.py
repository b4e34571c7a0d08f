# SPDX-License-Identifier: Apache-2.0
"""Watchdog handlers run between the reactions of their reactor, live and replayed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from reactorl import (
    PhysicalAction,
    ReactionError,
    Reactor,
    Watchdog,
    msec,
    param,
    reaction,
    run,
    sec,
    startup,
)
from reactorl.trace import text

if TYPE_CHECKING:
    from pathlib import Path

LONGER = 0.05  # seconds: the watchdog expires while the reaction runs


class Slow(Reactor):
    """A reaction that takes longer than the timeout of the watchdog it starts."""

    log: list[str] = param()
    stops: bool = param()
    alarm = PhysicalAction[int]()
    dog = Watchdog(msec(1), effects=[alarm])

    @reaction(startup, effects=[dog])
    def begin(self) -> None:
        self.log.append("in")
        self.dog.start()
        time.sleep(LONGER)
        if self.stops:
            self.dog.stop()
        self.log.append("out")

    @dog.handler
    def expire(self) -> None:
        self.log.append("expired")
        self.alarm.schedule(0, 1)

    @reaction(alarm)
    def end(self) -> None:
        self.request_stop()


def test_watchdog_that_is_stopped_while_it_waits_for_a_reaction_does_not_expire() -> (
    None
):
    log: list[str] = []

    run(Slow(log=log, stops=True), timeout=msec(200))

    assert log == ["in", "out"]


def test_handler_runs_after_the_reaction_during_which_it_expired() -> None:
    log: list[str] = []

    run(Slow(log=log, stops=False), timeout=sec(100))

    assert log == ["in", "out", "expired"]


class Counted(Reactor):
    """Its reaction to the alarm shows whether the handler ran before."""

    log: list[int] = param()
    alarm = PhysicalAction[int]()
    dog = Watchdog(msec(1), effects=[alarm])

    def setup(self) -> None:
        self.fired = 0

    @reaction(startup, effects=[dog])
    def begin(self) -> None:
        self.dog.start()

    @dog.handler
    def expire(self) -> None:
        self.fired += 1
        self.alarm.schedule(0, self.fired)

    @reaction(alarm)
    def on_alarm(self) -> None:
        self.log.append(self.fired)
        self.request_stop()


def test_replayed_handler_runs_before_the_same_reaction() -> None:
    log: list[int] = []
    first = run(Counted(log=log), timeout=sec(100), trace=True, record=True)
    assert first.recording is not None
    assert first.recording.alarms == {"main.dog": [1]}  # after one reaction
    assert log == [1]
    log.clear()  # parameters are part of the program

    again = run(
        Counted(log=log),
        timeout=sec(100),
        trace=True,
        fast=True,
        replay=first.recording,
    )

    assert log == [1]
    assert text(again.trace) == text(first.trace)


class Failing(Reactor):
    """Its handler raises after the reaction that started the watchdog."""

    dog = Watchdog(msec(1))

    @reaction(startup, effects=[dog])
    def begin(self) -> None:
        self.dog.start()
        time.sleep(LONGER)

    @dog.handler
    def expire(self) -> None:
        msg = "it expired"
        raise ValueError(msg)


def test_a_failing_handler_has_the_same_name_live_and_replayed(tmp_path: Path) -> None:
    file = tmp_path / "recording"
    with pytest.raises(ReactionError, match="it expired") as live:
        run(Failing, timeout=sec(100), keepalive=True, record=file)
    with pytest.raises(ReactionError, match="it expired") as replayed:
        run(Failing, timeout=sec(100), keepalive=True, replay=file)

    assert live.value.reaction == replayed.value.reaction == "main.dog"


class TwoDogs(Reactor):
    """Two watchdogs; the one that is declared first has the longer timeout."""

    log: list[str] = param()
    alarm = PhysicalAction[int]()
    slow = Watchdog(sec(60), effects=[alarm])
    quick = Watchdog(msec(1), effects=[alarm])

    @reaction(startup, effects=[slow, quick])
    def begin(self) -> None:
        self.slow.start()
        self.quick.start()

    @slow.handler
    def expire_slow(self) -> None:
        self.log.append("slow")
        self.alarm.schedule()

    @quick.handler
    def expire_quick(self) -> None:
        self.log.append("quick")
        self.alarm.schedule()

    @reaction(alarm)
    def end(self) -> None:
        self.request_stop()


def test_watchdog_with_the_earliest_time_expires_first() -> None:
    log: list[str] = []

    run(TwoDogs(log=log), timeout=sec(10))

    assert log == ["quick"]
