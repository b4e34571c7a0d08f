"""A driven program: inputs in, one time's tags, outputs out."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from typing import TYPE_CHECKING, Any

import pytest

from reactorl import (
    Input,
    LogicalAction,
    MultiInput,
    MultiOutput,
    Output,
    ReactionError,
    Reactor,
    Tag,
    Timer,
    UnknownNameError,
    WidthError,
    bank,
    drive,
    msec,
    param,
    reaction,
    shutdown,
    startup,
)

if TYPE_CHECKING:
    from reactorl._runtime.drive import Outputs


class Echo(Reactor):
    """Answers with one more, and a microstep later with the double."""

    x = Input[int]()
    y = Output[int]()
    z = Output[int]()
    later = LogicalAction[int]()

    @reaction(x, effects=[y, later])
    def answer(self) -> None:
        self.y.set(self.x.value + 1)
        self.later.schedule(0, self.x.value * 2)

    @reaction(later, effects=[z])
    def double(self) -> None:
        self.z.set(self.later.value)


def test_outputs_of_the_tag_and_its_microsteps_come_back() -> None:
    with drive(Echo) as echo:
        first = echo.step(x=3)
        second = echo.step({"x": 5}, after=msec(1))

    assert (first.y, first.z) == (4, 6)
    assert (second["y"], second["z"], second.tag) == (6, 10, Tag(msec(1), 1))
    assert echo.result.final_tag == Tag(msec(1), 2)


def test_tag_of_a_step_counts_from_the_start() -> None:
    with drive(Echo, start_time=7) as echo:
        assert echo.step(x=3, after=msec(1)).tag == Tag(msec(1), 1)


def test_absent_outputs_are_not_there() -> None:
    with drive(Echo) as echo:
        nothing = echo.step()

    assert len(nothing) == 0
    assert "y" not in nothing
    with pytest.raises(AttributeError, match="no output 'y'"):
        nothing.y  # noqa: B018


class Doubler(Reactor):
    """Doubles what it gets, on whatever thread it runs."""

    x = Input[int]()
    y = Output[int]()

    def setup(self) -> None:
        self.threads: set[int] = set()

    @reaction(x, effects=[y])
    def double(self) -> None:
        self.y.set((self.x.value * 2, threading.get_ident()))  # type: ignore[arg-type]


class Wide(Reactor):
    """A bank behind multiports."""

    width: int = param(4)
    xs = MultiInput[int](width)
    ys = MultiOutput[int](width)
    each = bank(Doubler, width=width)

    def build(self) -> None:
        self.connect(self.xs, self.each.x)
        self.connect(self.each.y, self.ys)


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_multiports_take_and_give_one_value_per_channel(workers: int) -> None:
    with drive(Wide, workers=workers) as wide:
        out = wide.step(xs=[1, None, 3, None]).ys

    assert [None if v is None else v[0] for v in out] == [2, None, 6, None]


def test_small_work_stays_on_the_callers_thread() -> None:
    with drive(Wide, workers=4) as wide:
        for _ in range(100):
            out = wide.step(xs=[1, 2, 3, 4]).ys

    assert {thread for _, thread in out} == {threading.get_ident()}


def test_events_due_earlier_run_before_the_inputs() -> None:
    order: list[str] = []

    class Ticking(Reactor):
        x = Input[int]()
        tick = Timer(msec(1), msec(1))

        @reaction(tick)
        def on_tick(self) -> None:
            order.append(f"tick {self.elapsed // msec(1)}")

        @reaction(x)
        def on_x(self) -> None:
            order.append(f"x {self.elapsed // msec(1)}")

    with drive(Ticking) as ticking:
        ticking.step(x=0, after=msec(3))

    assert order == ["tick 1", "tick 2", "tick 3", "x 3"]


def test_startup_runs_on_entering_and_shutdown_on_leaving() -> None:
    log: list[str] = []

    class Logging(Reactor):
        @reaction(startup)
        def begin(self) -> None:
            log.append("startup")

        @reaction(shutdown)
        def end(self) -> None:
            log.append("shutdown")

        def teardown(self) -> None:
            log.append("teardown")

    with drive(Logging) as session:
        log.append("inside")
        session.step()

    assert log == ["startup", "inside", "shutdown", "teardown"]


def test_an_exception_of_the_caller_passes_through_and_tears_down() -> None:
    log: list[str] = []

    class Closing(Reactor):
        def teardown(self) -> None:
            log.append("teardown")

    with pytest.raises(ZeroDivisionError), drive(Closing):
        _ = 1 / 0

    assert log == ["teardown"]


def test_a_program_that_stops_itself_can_be_stepped_no_more() -> None:
    class Stopping(Reactor):
        x = Input[int]()

        @reaction(x)
        def stop(self) -> None:
            self.request_stop()

    with drive(Stopping) as session:
        session.step(x=1)
        with pytest.raises(RuntimeError, match="not running"):
            session.step(x=2)

    assert session.result.final_tag == Tag(0, 2)


def test_exception_of_a_step_is_not_raised_again_on_exit() -> None:
    class Grumpy(Reactor):
        x = Input[int]()

        @reaction(x)
        def refuse(self) -> None:
            raise SystemExit(self.x.value)

    with drive(Grumpy) as grumpy:
        with pytest.raises(SystemExit, match="3"):
            grumpy.step(x=3)
        with pytest.raises(RuntimeError, match="an earlier step raised"):
            grumpy.step(x=4)

    with pytest.raises(RuntimeError, match="has a result"):
        _ = grumpy.result


def test_unknown_inputs_and_wrong_widths_are_refused() -> None:
    with drive(Wide) as wide:
        with pytest.raises(UnknownNameError, match="xs"):
            wide.step(xz=[1])
        with pytest.raises(WidthError, match="4 channels"):
            wide.step(xs=[1])


def test_a_program_can_be_driven_from_inside_a_reaction() -> None:
    class Outer(Reactor):
        out = Output[int]()

        @reaction(startup, effects=[out])
        def nest(self) -> None:
            with drive(Echo) as echo:
                self.out.set(echo.step(x=1).y)

    class Main(Reactor):
        outer = Outer()
        got = Output[int]()

        def build(self) -> None:
            self.connect(self.outer.out, self.got)

    with drive(Main) as main:
        assert main.step().get("got") is None
    assert main.result.tags == 3


def test_a_bank_of_width_zero_is_an_empty_sequence() -> None:
    seen: list[int] = []

    class Main(Reactor):
        width: int = param(0)
        each = bank(Doubler, width=width)

        @reaction(startup, effects=[each.x])
        def look(self) -> None:
            seen.append(len(self.each))
            for member in self.each:
                member.x.set(1)

    with drive(Main):
        pass
    with drive(Main(width=2)):
        pass

    assert seen == [0, 2]


def test_a_plug_does_what_step_does_with_one_input() -> None:
    with drive(Echo, trace=True) as echo:
        for value in (3, 5):
            echo.step(x=value)
    with drive(Echo, trace=True) as plugged:
        push = plugged.plug("x")
        outputs = [push(3), push(5)]

    assert outputs == [{"y": 4, "z": 6}, {"y": 6, "z": 10}]
    assert plugged.result.digest == echo.result.digest


def test_plug_of_a_program_without_outputs_returns_an_empty_dict() -> None:
    class Silent(Reactor):
        x = Input[int]()

    with drive(Silent) as silent:
        assert silent.plug("x")(1) == {}


def test_a_plug_is_for_an_input_that_exists_and_is_single() -> None:
    class Wide(Reactor):
        many = MultiInput[int](2)

    with drive(Wide) as wide:
        with pytest.raises(UnknownNameError, match="few"):
            wide.plug("few")
        with pytest.raises(WidthError, match="many"):
            wide.plug("many")


def test_a_plug_raises_what_a_body_raises_and_then_refuses() -> None:
    class Broken(Reactor):
        x = Input[int]()

        @reaction(x)
        def fail(self) -> None:
            _ = 1 / self.x.value

    with drive(Broken) as broken:
        push = broken.plug("x")
        push(1)
        with pytest.raises(ReactionError, match="fail"):
            push(0)
        with pytest.raises(RuntimeError, match="earlier step raised"):
            push(1)


def test_a_plug_of_a_program_that_stopped_itself_refuses() -> None:
    class Stopping(Reactor):
        x = Input[int]()

        @reaction(x)
        def stop(self) -> None:
            self.request_stop()

    with drive(Stopping) as session:
        push = session.plug("x")
        push(1)
        with pytest.raises(RuntimeError, match="not running"):
            push(2)

    assert session.result.final_tag == Tag(0, 2)


@pytest.mark.parametrize("after", [0, msec(2)])
def test_plug_advances_time_as_step_does(after: int) -> None:
    class Ticking(Reactor):
        x = Input[int]()
        seen = Output[tuple[Any, ...]]()
        tick = Timer(msec(1), msec(3))

        @reaction(x, tick, effects=[seen])
        def note(self) -> None:
            value = self.x.value if self.x.is_present else None
            self.seen.set((self.tag, value))

    with drive(Ticking, trace=True) as stepped:
        wanted = [_held(stepped.step(after=after, x=k)) for k in range(4)]
        wanted += [_held(stepped.step(after=after)) for _ in range(4)]
    with drive(Ticking, trace=True) as plugged:
        push = plugged.plug("x", after=after)
        found = [push(k) for k in range(4)]
        tick = plugged.plug(after=after)
        found += [tick() for _ in range(4)]

    assert found == wanted
    assert plugged.result.digest == stepped.result.digest


def _held(outputs: Outputs) -> dict[str, Any]:
    return {name: outputs[name] for name in outputs}


def test_a_program_that_is_never_closed_exits_silently() -> None:
    code = textwrap.dedent("""
        from reactorl import LogicalAction, Reactor, drive, reaction, startup

        class Main(Reactor):
            action = LogicalAction[int]()

            @reaction(startup, effects=[action])
            def begin(self):
                self.action.schedule()

        session = drive(Main).__enter__()
    """)

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )

    assert done.stderr == ""
