# SPDX-License-Identifier: Apache-2.0
"""Stop, starvation, failures and physical inputs of programs in parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from reactorl import (
    Input,
    LogicalAction,
    Output,
    PhysicalAction,
    ReactionError,
    Reactor,
    ReactorlError,
    Tag,
    Timer,
    bank,
    elaborate,
    reaction,
    run,
    shutdown,
    startup,
)
from reactorl._federation.coordinator import (
    Coordinator,
    earliest,
    floors,
    links_into,
)
from reactorl._federation.messages import BEFORE_ALL, NEVER_ENDS, Kind, Message, Report
from reactorl._program.cut import cut_program
from reactorl._program.placement import Federation
from reactorl.testing import assert_same_trace
from tests.federation.simulation import Simulation

if TYPE_CHECKING:
    from reactorl._program.cut import Cut

SEEDS = range(5)


class Ticker(Reactor):
    """Sends its count every nanosecond."""

    out = Output[int]()
    timer = Timer(0, 1)

    def setup(self) -> None:
        self.count = 0

    @reaction(timer, effects=[out])
    def tick(self) -> None:
        self.count += 1
        self.out.set(self.count)


class Judge(Reactor):
    x = Input[int]()
    out = Output[int]()

    @reaction(x, effects=[out])
    def see(self) -> None:
        self.out.set(self.x.value)
        if self.x.value == 7:
            self.request_stop()

    @reaction(shutdown, effects=[out])
    def end(self) -> None:
        self.out.set(-1)


class Watcher(Reactor):
    x = Input[int]()
    own = Timer(0, 2)
    again = LogicalAction[int]()

    @reaction(x, own)
    def see(self) -> None:
        pass

    @reaction(own, effects=[again])
    def plan(self) -> None:
        self.again.schedule(3)

    @reaction(shutdown, x)
    def end(self) -> None:
        pass


class Stopping(Reactor):
    ticker = Ticker()
    judge = Judge()
    watcher = Watcher()

    def build(self) -> None:
        self.connect(self.ticker.out, self.judge.x)
        self.connect(self.judge.out, self.watcher.x)


EVERYWHERE = {"main.ticker": "a", "main.judge": "b", "main.watcher": "c"}


def in_parts(
    main: type[Reactor],
    placement: Any,
    seed: int,
    **options: Any,
) -> Simulation:
    program = elaborate(main)
    federation = options.pop("federation", None) or Federation(placement)
    return Simulation(program, cut_program(program, federation), seed=seed, **options)


# -- the end ----


@pytest.mark.parametrize("seed", SEEDS)
def test_a_stop_takes_effect_at_the_next_microstep_everywhere(seed: int) -> None:
    alone = run(Stopping, fast=True, trace=True, workers=1)

    trace = in_parts(Stopping, EVERYWHERE, seed).run()

    assert_same_trace(trace, alone.trace)
    assert trace.tags[-1].tag == Tag(6, 1)
    ends = [ran.reaction for ran in trace.tags[-1].reactions]
    assert ends == ["main.judge.end", "main.watcher.see", "main.watcher.end"]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_reactions_to_the_end_set_arrives(seed: int) -> None:
    class Main(Stopping):
        def build(self) -> None:
            self.connect(self.ticker.out, self.judge.x, after=1)
            self.connect(self.judge.out, self.watcher.x)

    for timeout in (0, 3, 5):
        alone = run(Main, fast=True, trace=True, workers=1, timeout=timeout)
        trace = in_parts(Main, EVERYWHERE, seed, timeout=timeout).run()
        assert_same_trace(trace, alone.trace)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_program_without_events_ends(seed: int) -> None:
    class Once(Reactor):
        out = Output[int]()
        timer = Timer(3)

        @reaction(timer, effects=[out])
        def send(self) -> None:
            self.out.set(1)

    class Main(Reactor):
        once = Once()
        judge = Judge()
        watcher = bank(Judge, width=2)

        def build(self) -> None:
            self.connect(self.once.out, self.judge.x, after=4)
            self.connect([self.judge.out], self.watcher.x, after=1, broadcast=True)

    alone = run(Main, fast=True, trace=True, workers=1)

    simulation = in_parts(Main, {"main.once": "a", "main.watcher[1]": "b"}, seed)

    assert_same_trace(simulation.run(), alone.trace)
    assert alone.final_tag == Tag(8, 1)


def test_an_unannounced_stop_is_an_error_that_says_how_to_announce_it() -> None:
    class Sneaky(Reactor):
        @reaction(startup)
        def go(self) -> None:
            getattr(self, "request_" + "stop")()

    class Main(Reactor):
        sneaky = Sneaky()
        ticker = Ticker()

    with pytest.raises(ReactorlError, match="stops=True") as caught:
        in_parts(Main, {"main.ticker": "a"}, 0, timeout=10).run()

    assert caught.value.where is not None
    assert "main.sneaky.go" in str(caught.value)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_stop_from_outside_ends_all_at_one_tag(seed: int) -> None:
    class Endless(Reactor):
        ticker = Ticker()
        judges = bank(Watcher, width=3)

        def build(self) -> None:
            self.connect([self.ticker.out], self.judges.x, broadcast=True)

    simulation = in_parts(Endless, 4, seed, window=3)
    simulation.stop_after(40)

    trace = simulation.run()

    ended = trace.tags[-1]
    assert len(ended.reactions) >= 3
    assert simulation.coordinator.end == ended.tag
    alone = run(
        Endless, fast=True, trace=True, workers=1, timeout=ended.tag.time + 10
    ).trace
    before = [tag for tag in trace.tags if tag.tag.time < ended.tag.time]
    assert before == [tag for tag in alone.tags if tag.tag.time < ended.tag.time]


# -- failures ----


class Faulty(Reactor):
    x = Input[int]()
    at = 3

    @reaction(x)
    def fail(self) -> None:
        if self.x.value == self.at:
            msg = "on purpose"
            raise ValueError(msg)


class FaultyLater(Faulty):
    at = 5


@pytest.mark.parametrize("seed", range(10))
def test_the_first_failure_in_the_order_of_the_program_is_raised(seed: int) -> None:
    class Main(Reactor):
        ticker = Ticker()
        early = Faulty()
        late = FaultyLater()

        def build(self) -> None:
            self.connect(self.ticker.out, self.early.x, after=5)
            self.connect(self.ticker.out, self.late.x)

    with pytest.raises(ReactionError) as alone:
        run(Main, fast=True, workers=1)

    placement = {"main.early": "a", "main.late": "b"}
    simulation = in_parts(Main, placement, seed, window=4)
    with pytest.raises(ReactionError) as parts:
        simulation.run()

    assert (parts.value.reaction, parts.value.tag, parts.value.cause_text) == (
        alone.value.reaction,
        alone.value.tag,
        alone.value.cause_text,
    )
    assert isinstance(parts.value.__cause__, ValueError)


# -- replicas ----


@pytest.mark.parametrize("seed", SEEDS)
def test_replicas_run_everywhere_and_are_traced_once(seed: int) -> None:
    class Main(Reactor):
        ticker = Ticker()
        watchers = bank(Watcher, width=4)

        def build(self) -> None:
            self.connect([self.ticker.out], self.watchers.x, broadcast=True)

    alone = run(Main, fast=True, trace=True, workers=1, timeout=9)
    placement = {"main.watchers[0:2]": "a", "main.watchers[2:4]": "b"}

    counts = []
    for replicas in ((), ("main.ticker",)):
        federation = Federation(placement, replicas=replicas)
        simulation = in_parts(Main, None, seed, federation=federation, timeout=9)
        assert_same_trace(simulation.run(), alone.trace)
        counts.append(simulation.counts.values)

    assert counts == [20, 0]


# -- physical inputs ----


@pytest.mark.parametrize("fast", [True, False])
def test_who_has_physical_inputs_promises_what_its_clock_has_passed(fast: bool) -> None:  # noqa: FBT001
    class Sensor(Reactor):
        event = PhysicalAction[int]()
        out = Output[int]()

        @reaction(startup, effects=[event])
        def begin(self) -> None:
            self.event.schedule(0, 4)

        @reaction(event, effects=[event, out])
        def sense(self) -> None:
            self.out.set(self.event.value)
            if self.event.value > 0:
                self.event.schedule(0, self.event.value - 1)

    class Counter(Reactor):
        x = Input[int]()
        timer = Timer(0, 1_000_000)

        @reaction(x, timer)
        def see(self) -> None:
            if self.x.is_present and self.x.value == 0:
                self.request_stop()

    class Main(Reactor):
        sensor = Sensor()
        counter = Counter()

        def build(self) -> None:
            self.connect(self.sensor.out, self.counter.x)

    simulation = in_parts(
        Main, {"main.sensor": "a"}, 1, fast=fast, serial=False, record=True
    )

    trace = simulation.run()

    sent = [text for _, text in trace.values("sensor.out")]
    assert sent == [4, 3, 2, 1, 0]
    times = [tag.tag for tag in trace.tags]
    assert times == sorted(set(times))
    again = run(Main, fast=True, trace=True, workers=1, replay=simulation.recorded())
    assert_same_trace(again.trace, trace)


# -- the coordinator alone ----


START = Tag(0, 0)


def report(next_: Tag, done: Tag = START, **more: Any) -> Report:
    values: dict[str, Any] = {
        "bound": next_,
        "horizon": NEVER_ENDS,
        "inside": False,
        "taken": 0,
        "sent": (0, 0),
        "received": (0, 0),
        **more,
    }
    return Report(next=next_, done=done, **values)


def two() -> Cut:
    class Main(Reactor):
        ticker = Ticker()
        watcher = Watcher()

        def build(self) -> None:
            self.connect(self.ticker.out, self.watcher.x, after=5)

    return cut_program(elaborate(Main), Federation({"main.watcher": "w"}))


def test_a_floor_follows_from_the_reports_of_all() -> None:
    cut = two()
    coordinator = Coordinator(cut)

    assert coordinator.on_report(1, report(Tag(3, 0))) == []
    orders = coordinator.on_report(0, report(Tag(2, 0)))

    assert orders == [(1, Message(Kind.FLOOR, tag=NEVER_ENDS, at=Tag(7, 0)))]
    assert coordinator.on_report(0, report(Tag(2, 0))) == []  # said already


def test_nothing_is_promised_to_whom_a_value_is_on_its_way() -> None:
    cut = two()
    coordinator = Coordinator(cut)
    coordinator.on_report(1, report(Tag(30, 0)))

    assert coordinator.on_report(0, report(Tag(40, 0), sent=(0, 1))) == []
    orders = coordinator.on_report(1, report(Tag(30, 0), received=(1, 0)))

    assert [to for to, _ in orders] == [1]


def test_the_program_ends_only_when_nothing_is_on_its_way() -> None:
    coordinator = Coordinator(two())
    coordinator.on_report(0, report(NEVER_ENDS, Tag(4, 0), sent=(0, 1)))

    assert coordinator.on_report(1, report(NEVER_ENDS, Tag(2, 0))) == []
    coordinator.on_report(1, report(NEVER_ENDS, Tag(9, 1), received=(1, 0)))

    assert coordinator.end == Tag(9, 2)


def test_who_waits_in_a_tag_counts_with_that_tag() -> None:
    cut = two()
    reports = [report(Tag(3, 0), inside=True), report(Tag(9, 0))]

    act = earliest(cut, reports)

    assert act == [Tag(3, 0), Tag(8, 0)]
    assert floors(links_into(cut)[1], act) == (NEVER_ENDS, Tag(8, 0))


def test_the_first_failure_counts_in_whatever_order_they_are_reported() -> None:
    early, late = (
        Message(Kind.FAILURE, tag=Tag(3, 0), key=9),
        Message(Kind.FAILURE, tag=Tag(4, 0), key=1),
    )
    for order in ((0, early, 1, late), (1, late, 0, early)):
        coordinator = Coordinator(two())
        coordinator.on_message(order[0], order[1])
        coordinator.on_message(order[2], order[3])
        assert (coordinator.failure, coordinator.failed) == (early, 0)


def test_of_copies_that_fail_at_one_place_the_first_federate_counts() -> None:
    failure = Message(Kind.FAILURE, tag=Tag(3, 0), key=9)
    for order in ((0, 1), (1, 0)):
        coordinator = Coordinator(two())
        for federate in order:
            coordinator.on_message(federate, failure)
        assert coordinator.failed == 0


def test_a_stop_from_outside_waits_until_all_have_stopped() -> None:
    coordinator = Coordinator(two())
    coordinator.on_report(0, report(Tag(3, 0), Tag(2, 0)))
    coordinator.on_report(1, report(Tag(3, 0), Tag(2, 0)))
    orders = coordinator.request_stop()
    assert [message.kind for _, message in orders] == [Kind.HORIZON] * 2

    frozen = {"horizon": BEFORE_ALL}
    coordinator.on_report(1, report(Tag(4, 0), Tag(3, 0), **frozen))
    assert coordinator.end is None
    coordinator.on_report(0, report(Tag(9, 0), Tag(8, 0), **frozen))

    assert coordinator.end == Tag(8, 1)


def test_a_federate_that_begins_again_is_stopped_as_the_others_are() -> None:
    coordinator = Coordinator(two())
    coordinator.request_stop()

    orders = coordinator.forget(1)

    assert orders == [(1, Message(Kind.HORIZON, tag=BEFORE_ALL))]


def test_a_federate_that_has_failed_fails_again_by_itself() -> None:
    failure = Message(Kind.FAILURE, tag=Tag(3, 0), key=9)
    coordinator = Coordinator(two())
    coordinator.on_message(0, failure)

    assert coordinator.forget(0) == []
    assert coordinator.forget(1) == [(1, failure)]


def test_a_missing_value_is_an_error() -> None:
    simulation = in_parts(Stopping, EVERYWHERE, 0)
    federate = simulation.federate(1)

    with pytest.raises(ReactorlError, match="values 1 to 1 of federate 0 are missing"):
        federate.take(0, Message(Kind.VALUE, number=2, tag=Tag(0, 0), value=1))
    federate.live.close()
