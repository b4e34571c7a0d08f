# SPDX-License-Identifier: Apache-2.0
"""The end of time: as in LF, what is due at FOREVER or later never happens."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from reactorl import (
    FOREVER,
    Input,
    LogicalAction,
    Output,
    PhysicalAction,
    Reactor,
    Tag,
    Timer,
    Watchdog,
    elaborate,
    msec,
    param,
    reaction,
    run,
    sec,
    startup,
)
from reactorl.testing import assert_same_trace
from reactorl.trace import Event
from tests.oracle import interpret

if TYPE_CHECKING:
    from reactorl.tag import Duration


class Repeats(Reactor):
    """Schedules an action again and again, as long as it happens."""

    delay: int = param()
    again = LogicalAction[int]()

    @reaction(startup, again, effects=[again])
    def go(self) -> None:
        self.again.schedule(self.delay)


@pytest.mark.parametrize("delay", [2**62, FOREVER - 1, FOREVER, 2**63, 10**30])
def test_event_beyond_forever_is_discarded_and_the_trace_shows_it(delay: int) -> None:
    result = run(Repeats(delay=delay), fast=True, trace=True)

    happened = [Tag(t, 0) for t in range(0, FOREVER, delay)]
    assert [tag.tag for tag in result.trace.tags if tag.reactions] == happened
    last = result.trace.tags[len(happened) - 1].reactions[0]
    assert last.events == (Event("main.again", None),)
    assert result.final_tag == Tag(happened[-1].time, 1)
    assert_same_trace(result.trace, interpret(elaborate(Repeats(delay=delay))))


def test_delayed_connections_beyond_forever_deliver_nothing() -> None:
    arrived: list[int] = []

    class Relay(Reactor):
        got = Input[int]()
        sent = Output[int]()

        @reaction(startup, got, effects=[sent])
        def go(self) -> None:
            arrived.append(self.elapsed)
            self.sent.set(1)

    class Main(Reactor):
        relay = Relay()

        def build(self) -> None:
            self.connect(self.relay.sent, self.relay.got, after=2**62)

    run(Main, fast=True)

    assert arrived == [0, 2**62]


def test_timer_beyond_forever_does_not_tick_again() -> None:
    ticks: list[int] = []

    class Main(Reactor):
        slow = Timer(0, 2**62)
        never = Timer(FOREVER)

        @reaction(slow, never)
        def tick(self) -> None:
            ticks.append(self.elapsed)

    run(Main, fast=True)

    assert ticks == [0, 2**62]


@pytest.mark.parametrize("extra", [0, FOREVER, timedelta.max])
def test_watchdog_that_never_expires_does_not_keep_others_from_it(
    extra: Duration,
) -> None:
    expired: list[str] = []

    class Main(Reactor):
        later = Timer(msec(50))
        alarm = PhysicalAction[None]()
        never = Watchdog(FOREVER)
        soon = Watchdog(msec(1), effects=[alarm])

        @reaction(startup, effects=[never])
        def begin(self) -> None:
            self.never.start(extra)

        @never.handler
        def wrong(self) -> None:
            expired.append("never")

        @reaction(later, effects=[soon])
        def go(self) -> None:
            self.soon.start()

        @soon.handler
        def expire(self) -> None:
            expired.append("soon")
            self.alarm.schedule()

        @reaction(alarm)
        def end(self) -> None:
            self.request_stop()

    run(Main, timeout=sec(60))

    assert expired == ["soon"]


def test_deadline_can_be_updated_to_more_than_forever() -> None:
    late: list[bool] = []

    class Main(Reactor):
        @reaction(startup, deadline=FOREVER)
        def go(self) -> None:
            self._context.update_deadline(2**70)
            late.append(self._context.check_deadline(invoke_handler=False))

    run(Main, fast=True)

    assert late == [False]


@pytest.mark.parametrize("start", [FOREVER, 2**64, -(2**63), -(2**64)])
def test_start_time_outside_of_64_bits_is_refused(start: int) -> None:
    with pytest.raises(ValueError, match=rf"start_time must be from .*, got {start}"):
        run(Repeats(delay=1), fast=True, timeout=0, start_time=start)
