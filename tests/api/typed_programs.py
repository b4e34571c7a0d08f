# SPDX-License-Identifier: Apache-2.0
"""Programs as users write them; ``mypy --strict`` finds nothing wrong with them."""

from typing import Any, assert_type

from reactorl import (
    Action,
    Bank,
    Input,
    LogicalAction,
    Mode,
    ModeControl,
    MultiInput,
    MultiOutput,
    MultiPort,
    Output,
    PhysicalAction,
    Port,
    Program,
    Reactor,
    Tag,
    Timer,
    Watchdog,
    WatchdogControl,
    bank,
    elaborate,
    history,
    interleaved,
    msec,
    param,
    reaction,
    reset,
    reset_to,
    sec,
    shutdown,
    startup,
    state,
)


class RunningMean(Reactor):
    reward = Input[float]()
    mean = Output[float]()
    window: int = param(100)
    recent: list[float] = state(factory=list)

    @reaction(reward, effects=[mean])
    def update(self) -> None:
        assert_type(self.reward, Port[float])
        assert_type(self.reward.value, float)
        assert_type(self.reward.is_present, bool)
        assert_type(self.window, int)
        assert_type(self.recent, list[float])
        self.recent = [*self.recent, self.reward.value][-self.window :]
        self.mean.set(sum(self.recent) / len(self.recent))


class Source(Reactor):
    count = Output[int]()
    text = Output[str]()
    tick = Timer(0, msec(10))

    @reaction(tick, startup, effects=[count, text])
    def emit(self) -> None:
        self.count.set(1)
        assert_type(self.tag, Tag)
        assert_type(self.elapsed, int)
        assert_type(self.random.random(), float)
        self.request_stop()


class Merge(Reactor):
    width: int = param(2)
    values = MultiInput[float](width)
    copies = MultiOutput[int](width + 1)

    @reaction(values, effects=[copies])
    def merge(self) -> None:
        assert_type(self.values, MultiPort[float])
        assert_type(self.values[0].value, float)
        assert_type(self.values.values(), list[float])
        for index, port in self.values.present():
            assert_type(index, int)
            assert_type(port, Port[float])
        self.copies[len(self.values)].set(3)


class Retry(Reactor):
    again = LogicalAction[int](msec(1), min_spacing=msec(2), policy="drop")
    alarm = PhysicalAction[str]()
    dog = Watchdog(sec(1), effects=[alarm])

    @dog.handler
    def bark(self) -> None:
        self.alarm.schedule(value="woof")

    @reaction(startup, again, effects=[again, dog], deadline=msec(5))
    def go(self) -> None:
        assert_type(self.again, Action[int])
        assert_type(self.again.value, int)
        assert_type(self.dog, WatchdogControl)
        self.again.schedule(msec(3), 4)
        self.dog.start(sec(1))
        self.dog.stop()
        self.update_deadline(msec(6))

    @go.deadline_handler
    def late(self) -> None:
        self.check_deadline(invoke_handler=False)

    @reaction(alarm, shutdown)
    def end(self) -> None:
        assert_type(self.alarm.value, str)


class Light(Reactor):
    red = Mode(initial=True)
    green = Mode()
    with red:
        wait = Timer(sec(1))

        @reaction(wait, effects=[reset_to(green)])
        def go(self) -> None:
            assert_type(self.green, ModeControl)
            self.green.set()

    with green:

        @reaction(reset, effects=[history(red)])
        def stop(self) -> None:
            self.red.set()

    def build(self) -> None:
        with self.green:
            self.add("mean", RunningMean, window=2)


class Main(Reactor):
    width: int = param(2)
    source = Source()
    mean = RunningMean(window=width)
    merge = Merge()
    logged = Merge(width=1)
    sources = bank(Source, width=width)

    @reaction(source.count, sources.count, "extra.mean", effects=[logged.values])
    def log(self) -> None:
        assert_type(self.source.count.value, int)
        assert_type(self.sources, Bank[Source])
        assert_type(self.sources[0].text.value, str)
        self.logged.values[0].set(1.5)

    def build(self) -> None:
        extra = self.add("extra", RunningMean, window=3)
        assert_type(extra, RunningMean)
        more = self.add_bank("more", Merge(width=1), width=2)
        assert_type(more, Bank[Merge])
        self.connect(self.source.count, extra.reward)  # an int is a float
        self.connect([self.source.count, extra.mean], self.merge.values, after=0)
        self.connect(self.merge.copies[0], self.mean.reward, physical=True)
        self.connect(self.source.count, interleaved(more.values), broadcast=True)


def use() -> Program:
    """Use classes as values."""
    assert_type(RunningMean.reward, Input[float])
    assert_type(RunningMean(window=3).window, int)
    assert_type(Main(width=4).source, Source)
    anything: Any = elaborate(Main)
    assert_type(elaborate(Main(width=4)), Program)
    return elaborate(anything)
