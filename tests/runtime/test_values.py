"""Values pass by reference; what was sent stays as it was sent."""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

from reactorl import (
    GlobalRandomError,
    Input,
    LogicalAction,
    Output,
    Reactor,
    SharedValueError,
    Timer,
    bank,
    msec,
    param,
    reaction,
    run,
    startup,
)


def wired(
    sender: type[Reactor], receiver: type[Reactor], count: int = 1
) -> type[Reactor]:
    class Main(Reactor):
        source = sender()
        sinks = bank(receiver, width=count)

        def build(self) -> None:
            self.connect(self.source.out, self.sinks.x, broadcast=True)  # type: ignore[attr-defined]

    return Main


class Step(NamedTuple):
    obs: object
    reward: float


@dataclass
class Batch:
    obs: object
    kind: ClassVar[str] = "batch"


@dataclass(frozen=True, slots=True)
class SlottedBatch:
    obs: object


class SendsArray(Reactor):
    """Sends an array, also inside a tuple, a list and a dict, then tries to write."""

    out = Output[object]()
    make: object = param()

    @reaction(startup, effects=[out])
    def send(self) -> None:
        array = np.zeros(3)
        self.out.set(self.make(array))  # type: ignore[operator]
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


class Sink(Reactor):
    """Takes anything."""

    x = Input[object]()

    @reaction(x)
    def take(self) -> None: ...


@pytest.mark.parametrize(
    "make",
    [
        lambda a: a,
        lambda a: (1, a),
        lambda a: [a],
        lambda a: {"obs": {"x": a}},
        lambda a: Step(a, 1.0),
        lambda a: Batch([a]),
        lambda a: SlottedBatch(a),
    ],
    ids=["array", "tuple", "list", "dict", "named tuple", "dataclass", "slots"],
)
def test_arrays_become_read_only_when_sent(make: object) -> None:
    class Main(Reactor):
        source = SendsArray(make=make)
        sink = Sink()

        def build(self) -> None:
            self.connect(self.source.out, self.sink.x)

    run(Main)


def test_arrays_stay_writable_without_freezing() -> None:
    class Writes(Reactor):
        out = Output[object]()

        @reaction(startup, effects=[out])
        def send(self) -> None:
            array = np.zeros(3)
            self.out.set(array)
            array[0] = 1

    run(wired(Writes, Sink), freeze=False)


def test_scheduled_arrays_become_read_only_too() -> None:
    class Schedules(Reactor):
        later = LogicalAction[object]()

        @reaction(startup, effects=[later])
        def send(self) -> None:
            array = np.zeros(3)
            self.later.schedule(0, array)
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1

    run(Schedules)


def test_receivers_get_the_same_object_and_mutable_inputs_a_copy_each() -> None:
    objects: dict[str, list[object]] = {"plain": [], "mutable": []}
    sent = [1, 2]

    class Sends(Reactor):
        out = Output[object]()

        @reaction(startup, effects=[out])
        def send(self) -> None:
            self.out.set(sent)

    class Plain(Reactor):
        x = Input[object]()

        @reaction(x)
        def take(self) -> None:
            objects["plain"].append(self.x.value)

    class Changing(Reactor):
        x = Input[list[int]](mutable=True)

        @reaction(x)
        def first(self) -> None:
            self.x.value.append(self.bank_index)
            assert self.x.value is self.x.value
            assert self.x.is_present
            objects["mutable"].append(self.x.value)

        @reaction(x)
        def second(self) -> None:
            objects["mutable"].append(self.x.value)

    class Main(Reactor):
        source = Sends()
        plain = bank(Plain, width=2)
        changing = bank(Changing, width=2)

        def build(self) -> None:
            self.connect(self.source.out, self.plain.x, broadcast=True)
            self.connect(self.source.out, self.changing.x, broadcast=True)

    run(Main, workers=1)

    assert all(obj is sent for obj in objects["plain"])
    assert objects["mutable"] == [[1, 2, 0], [1, 2], [1, 2, 1], [1, 2]] or objects[
        "mutable"
    ] == [[1, 2, 0], [1, 2, 1], [1, 2], [1, 2]]
    assert sent == [1, 2]


class Rewriting(Reactor):
    """Sends a list and changes it at the next tick."""

    out = Output[list[int]]()
    tick = Timer(0, msec(1))

    def setup(self) -> None:
        self.data = [0]

    @reaction(tick, effects=[out])
    def send(self) -> None:
        if self.elapsed == 0:
            self.out.set(self.data)
        else:
            self.data.append(1)


def test_checking_finds_a_value_changed_by_its_sender() -> None:
    main = wired(Rewriting, Sink)
    run(main, timeout=msec(3), fast=True)

    with pytest.raises(SharedValueError) as caught:
        run(main, timeout=msec(3), fast=True, check=True)

    assert "main.source.out" in str(caught.value)
    assert "in reaction main.source.send" in str(caught.value)
    assert "test_values.py" in str(caught.value)


def test_checking_finds_a_value_changed_by_a_receiver() -> None:
    class Sends(Reactor):
        out = Output[list[int]]()

        @reaction(startup, effects=[out])
        def send(self) -> None:
            self.out.set([3, 1, 2])

    class Sorts(Reactor):
        x = Input[list[int]]()

        @reaction(x)
        def sort(self) -> None:
            self.x.value.sort()

    with pytest.raises(SharedValueError, match=r"main\.sinks\[0\]\.sort"):
        run(wired(Sends, Sorts), check=True)


@pytest.mark.parametrize("source", ["random", "numpy"])
def test_checking_finds_global_random_state(source: str) -> None:
    class Rolls(Reactor):
        @reaction(startup)
        def roll(self) -> None:
            if source == "random":
                random.random()
            else:
                np.random.rand()

    with pytest.raises(GlobalRandomError, match=r"main\.roll"):
        run(Rolls, check=True)


def test_checking_passes_a_clean_program() -> None:
    class Rolls(Reactor):
        out = Output[object]()

        @reaction(startup, effects=[out])
        def roll(self) -> None:
            self.out.set([self.random.random(), self.np_random.random(), object()])

    run(wired(Rolls, Sink, 3), check=True)


def test_random_stream_of_a_reactor_does_not_depend_on_other_reactors() -> None:
    drawn: dict[str, float] = {}

    class Draws(Reactor):
        @reaction(startup)
        def draw(self) -> None:
            drawn[self.name] = self.random.random() + self.np_random.random()

    class Few(Reactor):
        a = Draws()
        b = Draws()

    class More(Reactor):
        other = bank(Draws, width=3)
        a = Draws()
        b = Draws()

    run(Few, seed=5)
    few = dict(drawn)
    run(More, seed=5, workers=4)
    assert len(set(drawn.values())) == 5
    assert {name: drawn[name] for name in few} == few
    run(Few, seed=6)
    assert drawn["main.a"] != few["main.a"]


def test_values_are_released_when_replaced_and_at_the_end() -> None:
    class Big:
        alive = 0

        def __init__(self) -> None:
            Big.alive += 1

        def __del__(self) -> None:
            Big.alive -= 1

    most: list[int] = []

    class Sends(Reactor):
        out = Output[object]()
        tick = Timer(0, msec(1))

        @reaction(tick, effects=[out])
        def send(self) -> None:
            self.out.set(Big())
            most.append(Big.alive)

    run(wired(Sends, Sink), timeout=msec(100), fast=True)

    assert max(most) <= 2
    assert Big.alive == 0


@pytest.mark.skipif(
    not hasattr(sys, "_is_gil_enabled") or "t" not in sys.abiflags,
    reason="only a free-threaded build can keep the GIL off",
)
def test_the_gil_stays_off() -> None:
    import reactorl

    run(wired(SendsNothing, Sink))

    assert reactorl.run is not None
    assert not sys._is_gil_enabled()


class SendsNothing(Reactor):
    """Sends nothing."""

    out = Output[object]()
