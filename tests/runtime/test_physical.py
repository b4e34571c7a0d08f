"""Events from outside: stamped once, in tag order, recorded, replayed exactly."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from reactorl import (
    FOREVER,
    Input,
    LogicalAction,
    Output,
    PhysicalAction,
    Reactor,
    Recording,
    ReplayError,
    Tag,
    Timer,
    Watchdog,
    drive,
    msec,
    param,
    reaction,
    run,
    sec,
    shutdown,
    startup,
    usec,
)
from reactorl.trace import text

if TYPE_CHECKING:
    from pathlib import Path


class Hammered(Reactor):
    """Collects what ``threads`` threads schedule, ``count`` each."""

    threads: int = param(8)
    count: int = param(500)
    seen: list[tuple[Tag, object]] = param()
    poke = PhysicalAction[object]()

    @reaction(startup)
    def begin(self) -> None:
        self.workers = [
            threading.Thread(target=self.hammer, args=(i,)) for i in range(self.threads)
        ]
        for worker in self.workers:
            worker.start()

    def hammer(self, number: int) -> None:
        for i in range(self.count):
            self.poke.schedule(0, (number, i))

    @reaction(poke)
    def note(self) -> None:
        self.seen.append((self.tag, self.poke.value))
        if len(self.seen) == self.threads * self.count:
            self.request_stop()

    @reaction(shutdown)
    def end(self) -> None:
        for worker in self.workers:
            worker.join()


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("workers", [1, 4])
def test_every_event_of_eight_threads_arrives_once_in_tag_order(
    workers: int,
    fast: bool,  # noqa: FBT001
) -> None:
    seen: list[tuple[Tag, object]] = []

    run(Hammered(seen=seen), workers=workers, fast=fast)

    tags = [tag for tag, _ in seen]
    assert tags == sorted(set(tags))
    by_thread: dict[int, list[int]] = {}
    for _, (number, i) in seen:  # type: ignore[misc]
        by_thread.setdefault(number, []).append(i)
    assert by_thread == {n: list(range(500)) for n in range(8)}


class Noisy(Reactor):
    """Mixes physical events, deadlines, the clock and random numbers into a trace."""

    out = Output[object]()
    poke = PhysicalAction[int](min_delay=usec(50))
    tick = Timer(msec(2), msec(3))

    def setup(self) -> None:
        self.count = 0

    @reaction(startup)
    def begin(self) -> None:
        self.thread = threading.Thread(target=self.feed)
        self.thread.start()

    def feed(self) -> None:
        for i in range(20):
            time.sleep(0.0005)
            self.poke.schedule(usec(10 * i), i)

    @reaction(poke, effects=[out])
    def relay(self) -> None:
        self.count += 1
        self.out.set(f"{self.poke.value} {self.random.random()} {self.lag()}")
        if self.count == 20:
            self.request_stop()

    @reaction(tick, effects=[out], deadline=usec(150))
    def on_tick(self) -> None:
        self.out.set(f"tick {self.check_deadline(invoke_handler=False)}")

    @on_tick.deadline_handler
    def late(self) -> None:
        self.out.set("late")

    @reaction(shutdown)
    def end(self) -> None:
        thread = getattr(self, "thread", None)
        if thread is not None:
            thread.join()


class Listener(Reactor):
    """Passes on over a physical connection."""

    x = Input[object]()
    y = Output[object]()

    @reaction(x, effects=[y])
    def pass_on(self) -> None:
        self.y.set(self.x.value)


class Physical(Reactor):
    """Everything that comes from outside, in one program."""

    noisy = Noisy()
    near = Listener()
    far = Listener()

    def build(self) -> None:
        self.connect(self.noisy.out, self.near.x)
        self.connect(self.near.y, self.far.x, physical=True)


def test_a_recorded_run_can_be_replayed_exactly(tmp_path: Path) -> None:
    file = tmp_path / "run.rec"
    first = run(Physical, workers=2, trace=True, record=file, timeout=sec(100))
    assert first.recording is not None
    assert len(first.recording.events) >= 20

    for workers in (1, 2, 4):
        again = run(Physical, workers=workers, trace=True, fast=True, replay=file)
        assert text(again.trace) == text(first.trace)
        assert again.final_tag == first.final_tag


class Endless(Reactor):
    """Has a timer that nothing ends, and could hear from outside."""

    tick = Timer(0, msec(1))
    poke = PhysicalAction[int]()

    @reaction(tick, poke)
    def note(self) -> None: ...


def test_a_replay_ends_where_the_recorded_run_ended() -> None:
    first = run(Endless, workers=1, fast=True, record=True, timeout=msec(3))

    again = run(Endless, workers=1, fast=True, replay=first.recording, timeout=msec(7))

    assert again.final_tag == first.final_tag == Tag(msec(3))


class Late(Reactor):
    """Misses a deadline at each of three ticks."""

    tick = Timer(0, msec(1))

    @reaction(tick, deadline=1)
    def on_tick(self) -> None: ...

    @on_tick.deadline_handler
    def late(self) -> None: ...


class Hurried(Reactor):
    """Two reactors that miss deadlines, perhaps on two workers."""

    one = Late()
    two = Late()


def test_missed_deadlines_are_recorded_in_the_order_of_tags() -> None:
    missed = run(Hurried, workers=2, record=True, timeout=msec(2)).recording.missed  # type: ignore[union-attr]

    ticks = [Tag(msec(k), 0) for k in range(3)]
    names = ("main.one.on_tick", "main.two.on_tick")
    assert missed == [(tick, name) for tick in ticks for name in names]


class Fork(Reactor):
    """Two physical connections from one port, with the same delay."""

    noisy = Noisy()
    near = Listener()
    far = Listener()

    def build(self) -> None:
        self.connect(self.noisy.out, self.near.x, physical=True)
        self.connect(self.noisy.out, self.far.x, physical=True)


def test_events_of_two_connections_of_one_port_are_told_apart() -> None:
    first = run(Fork, workers=1, trace=True, record=True, timeout=sec(5))
    assert first.recording is not None
    names = {name for _, name, _ in first.recording.events}
    arrows = {"main.noisy.out ~> 0", "main.noisy.out ~> 0 #2"}
    assert names == {"main.noisy.poke", *arrows}

    again = run(Fork, workers=1, trace=True, fast=True, replay=first.recording)
    assert text(again.trace) == text(first.trace)


def test_a_recording_of_another_program_is_refused() -> None:
    noted = run(Physical, record=True, timeout=msec(5)).recording
    assert noted is not None

    with pytest.raises(ReplayError, match="another program"):
        run(Noisy_alone, replay=noted)


class Noisy_alone(Reactor):
    """Another program."""

    noisy = Noisy()


def test_recordings_survive_a_file_and_damage_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.rec"
    noted = Recording(
        program="p", seed=3, events=[(Tag(5, 1), "main.poke", [1, 2])], end=Tag(9, 0)
    )
    noted.save(file)

    assert Recording.load(file, allow_pickle=True) == noted
    with pytest.raises(ReplayError, match="allow_pickle"):
        Recording.load(file)
    whole = file.read_text()
    file.write_text(whole[: len(whole) // 2])
    with pytest.raises(ReplayError, match="truncated or damaged"):
        Recording.load(file)
    file.write_text("something else\n")
    with pytest.raises(ReplayError, match="not a recording"):
        Recording.load(file)


class Guarded(Reactor):
    """Starts a watchdog and feeds it too late, twice."""

    log: list[str] = param()
    out = Output[int]()
    alarm = PhysicalAction[int]()
    again = LogicalAction[None]()
    dog = Watchdog(msec(20), effects=[alarm])

    def setup(self) -> None:
        self.fired = 0

    @reaction(startup, again, effects=[dog])
    def feed(self) -> None:
        self.log.append(f"feed {self.fired}")
        self.dog.start()
        if self.fired == 2:
            self.dog.stop()
            self.request_stop()

    @dog.handler
    def bark(self) -> None:
        self.fired += 1
        self.alarm.schedule(0, self.fired)

    @reaction(alarm, effects=[out, again])
    def on_alarm(self) -> None:
        self.log.append(f"alarm {self.alarm.value}")
        self.out.set(self.alarm.value)
        self.again.schedule(msec(1))


class Kennel(Reactor):
    """A main reactor has no ports."""

    log: list[str] = param()
    guarded = Guarded(log=log)


def test_a_watchdog_barks_when_it_is_not_fed_and_replays() -> None:
    log: list[str] = []
    first = run(Kennel(log=log), trace=True, record=True)

    assert log == ["feed 0", "alarm 1", "feed 1", "alarm 2", "feed 2"]
    live_log = list(log)
    log.clear()
    again = run(
        Kennel(log=log),
        trace=True,
        fast=True,
        replay=first.recording,
    )

    assert text(again.trace) == text(first.trace)
    assert log == live_log


def test_a_stopped_watchdog_does_not_bark() -> None:
    barked: list[int] = []

    class Calm(Reactor):
        dog = Watchdog(msec(5))

        @reaction(startup, effects=[dog])
        def begin(self) -> None:
            self.dog.start()
            self.dog.stop()

        @dog.handler
        def bark(self) -> None:
            barked.append(1)

    run(Calm, keepalive=True, timeout=msec(30))

    assert barked == []


def test_keepalive_follows_from_a_physical_action_and_stop_comes_from_outside() -> None:
    class Waiting(Reactor):
        poke = PhysicalAction[int]()

        @reaction(startup)
        def begin(self) -> None:
            threading.Timer(0.05, self.request_stop).start()

        @reaction(poke)
        def never(self) -> None:
            raise AssertionError

    result = run(Waiting)

    assert result.final_tag == Tag(0, 1)


def test_events_scheduled_after_the_end_are_ignored() -> None:
    kept: list[Reactor] = []

    class Short(Reactor):
        poke = PhysicalAction[int]()

        def setup(self) -> None:
            kept.append(self)

        @reaction(poke)
        def note(self) -> None: ...

    run(Short, timeout=0)

    kept[0].poke.schedule(0, 1)  # type: ignore[attr-defined]


def test_a_schedule_in_setup_counts_from_the_start() -> None:
    got: list[int] = []

    class Early(Reactor):
        poke = PhysicalAction[int]()

        def setup(self) -> None:
            self.poke.schedule(msec(1), 7)

        @reaction(poke)
        def note(self) -> None:
            got.append(self.poke.value)
            self.request_stop()

    run(Early, timeout=sec(5))

    assert got == [7]


def test_an_endless_delay_never_happens() -> None:
    class Endless(Reactor):
        poke = PhysicalAction[int]()

        @reaction(startup)
        def begin(self) -> None:
            self.poke.schedule(FOREVER, 1)
            self.poke.schedule(FOREVER, 2)

        @reaction(poke)
        def never(self) -> None:
            raise AssertionError

    assert run(Endless, timeout=msec(5)).reactions == 1


def test_real_time_waits_and_fast_does_not() -> None:
    class Clocked(Reactor):
        tick = Timer(0, msec(10))

        def setup(self) -> None:
            self.ahead: list[int] = []

        @reaction(tick)
        def look(self) -> None:
            self.ahead.append(self.lag())
            assert self.fast or self.lag() >= 0

        fast: bool = param(default=False)

    slow = run(Clocked, timeout=msec(50))
    quick = run(Clocked(fast=True), timeout=sec(50), fast=True)

    assert slow.seconds >= 0.05
    assert quick.tags == 5001
    assert quick.seconds < 40


def test_a_driven_program_takes_physical_events_too() -> None:
    class Poked(Reactor):
        out = Output[int]()
        poke = PhysicalAction[int]()

        def setup(self) -> None:
            self.poke.schedule(0, 5)

        @reaction(poke, effects=[out])
        def send(self) -> None:
            self.out.set(self.poke.value)

    with drive(Poked) as poked:
        for _ in range(200):
            got = poked.step(after=msec(1)).get("out")
            if got is not None:
                break
            time.sleep(0.001)

    assert got == 5
