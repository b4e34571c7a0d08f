"""When a body fails the run ends in order: one error, no thread, nothing held."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from typing import Any

import pytest

from reactorl import (
    AccessError,
    Input,
    LogicalAction,
    Mode,
    Output,
    ReactionError,
    Reactor,
    Tag,
    Timer,
    bank,
    drive,
    msec,
    param,
    reaction,
    run,
    shutdown,
    startup,
)


class Boom(Reactor):
    """Raises at its third tick."""

    tick = Timer(0, msec(1))

    def setup(self) -> None:
        self.count = 0

    @reaction(tick)
    def explode(self) -> None:
        self.count += 1
        if self.count == 3:
            msg = "three"
            raise ValueError(msg)


def test_an_exception_names_reaction_tag_and_place_and_keeps_the_original() -> None:
    with pytest.raises(ReactionError) as caught:
        run(Boom, fast=True)

    error = caught.value
    assert error.reaction == "main.explode"
    assert error.tag == Tag(msec(2), 0)
    assert str(error.where).endswith(f"test_failures.py:{error.where.line}")
    assert isinstance(error.__cause__, ValueError)
    assert "raise ValueError" in _source_of(error.__cause__)
    assert "ValueError: three" in str(error)


def test_a_reaction_error_survives_pickling() -> None:
    with pytest.raises(ReactionError) as caught:
        run(Boom, fast=True)

    again = pickle.loads(pickle.dumps(caught.value))

    assert (again.reaction, again.tag) == (caught.value.reaction, caught.value.tag)
    assert str(again) == str(caught.value)


class Failing(Reactor):
    """One of several that fail at the same tag."""

    closed: list[int] = param()

    @reaction(startup)
    def fail(self) -> None:
        time.sleep(0.001 * (8 - self.bank_index))  # later ones fail sooner
        raise RuntimeError(str(self.bank_index))

    def teardown(self) -> None:
        self.closed.append(self.bank_index)


def failing_bank(closed: list[int]) -> type[Reactor]:
    class Many(Reactor):
        each = bank(Failing(closed=closed), width=8)

    return Many


@pytest.mark.parametrize("workers", [1, 2, 4, 8])
def test_of_several_failures_the_first_in_order_is_reported(workers: int) -> None:
    closed: list[int] = []

    with pytest.raises(ReactionError) as caught:
        run(failing_bank(closed), workers=workers, shuffle=workers)

    assert caught.value.reaction == "main.each[0].fail"
    assert closed == [7, 6, 5, 4, 3, 2, 1, 0]


@pytest.mark.parametrize("workers", [1, 2])
def test_failures_are_ordered_by_level_before_textual_order(workers: int) -> None:
    other_fails = threading.Event()
    if workers == 1:
        other_fails.set()

    class Second(Reactor):
        """Is textually first, but at level 1."""

        x = Input[int]()

        @reaction(x)
        def fail(self) -> None:
            other_fails.set()
            raise RuntimeError

    class Source(Reactor):
        out = Output[int]()

        @reaction(startup, effects=[out])
        def send(self) -> None:
            self.out.set(1)

    class First(Reactor):
        """Is textually last, at level 0, and fails last if both run concurrently."""

        @reaction(startup)
        def fail(self) -> None:
            other_fails.wait(1)
            raise RuntimeError

    class Main(Reactor):
        second = Second()
        source = Source()
        first = First()

        def build(self) -> None:
            self.connect(self.source.out, self.second.x)

    with pytest.raises(ReactionError) as caught:
        run(Main, workers=workers, shuffle=workers, fast=True)

    assert caught.value.reaction == "main.first.fail"


@pytest.mark.parametrize("workers", [1, 4])
def test_no_thread_and_no_reactor_is_left_after_a_failure(workers: int) -> None:
    seen: list[weakref.ref[Reactor]] = []
    before = threading.active_count()
    native_before = _native_threads()

    class Holder(Reactor):
        def setup(self) -> None:
            seen.append(weakref.ref(self))

        @reaction(startup)
        def fail(self) -> None:
            raise RuntimeError

    class Holders(Reactor):
        each = bank(Holder, width=8)

    with pytest.raises(ReactionError):
        run(Holders, workers=workers, shuffle=1)
    gc.collect()

    assert threading.active_count() == before
    assert _native_threads() <= native_before
    assert [ref() for ref in seen] == [None] * 8


class Source(Reactor):
    """Sends one number."""

    out = Output[int]()

    @reaction(startup, effects=[out])
    def send(self) -> None:
        self.out.set(1)


class Undeclared(Reactor):
    """Reads an input that its reaction does not declare."""

    x = Input[int]()
    y = Input[int]()

    @reaction(x)
    def look(self) -> None:
        assert self.y.value is None


class Peeking(Reactor):
    """Wires the two."""

    source = Source()
    sink = Undeclared()

    def build(self) -> None:
        self.connect(self.source.out, self.sink.x)


def test_reading_an_undeclared_port_names_reaction_port_and_fix() -> None:
    with pytest.raises(AccessError) as caught:
        run(Peeking, fast=True)

    error = caught.value
    assert (error.reaction, error.element) == ("main.sink.look", "main.sink.y")
    assert error.access == "reads"
    assert error.fix == "add `y` to its sources"
    assert error.example == "@reaction(..., sources=[y])"
    assert "test_failures.py" in str(error)


def test_setting_an_undeclared_output_is_refused() -> None:
    class Sneaky(Reactor):
        inner = Source()
        go = Timer()

        @reaction(go, sources=[inner.out])
        def write(self) -> None:
            self.inner.out.set(3)

    with pytest.raises(AccessError, match="only that one sets"):
        run(Sneaky, fast=True)


def test_setting_an_own_input_is_refused() -> None:
    class Sneaky(Reactor):
        x = Input[int]()
        go = Timer()

        @reaction(go, sources=[x])
        def write(self) -> None:
            self.x.set(3)

    class Main(Reactor):
        sneaky = Sneaky()

    with pytest.raises(AccessError, match="which only others set"):
        run(Main, fast=True)


def test_ports_actions_and_modes_are_refused_outside_reactions() -> None:
    kept: list[Any] = []

    class Keeper(Reactor):
        x = Input[int]()
        a = LogicalAction[int]()
        m = Mode(initial=True)

        def setup(self) -> None:
            kept.extend([self.x, self.a, self.m])

    class Main(Reactor):
        source = Source()
        keeper = Keeper()

        def build(self) -> None:
            self.connect(self.source.out, self.keeper.x)

    run(Main, fast=True)

    port, action, mode = kept
    only = "can be used only inside a reaction of the run it belongs to"
    with pytest.raises(RuntimeError, match=f"^a port {only}"):
        port.value  # noqa: B018
    with pytest.raises(RuntimeError, match=f"^an action {only}"):
        action.schedule(0, 1)
    with pytest.raises(RuntimeError, match=f"^a mode {only}"):
        mode.set()


def test_a_port_kept_from_an_earlier_run_is_refused() -> None:
    kept: list[Any] = []

    class Keeper(Reactor):
        out = Output[int]()

        @reaction(startup, effects=[out])
        def send(self) -> None:
            kept.append(self.out)
            kept[0].set(1)

    class Main(Reactor):
        keeper = Keeper()

    run(Main, fast=True)

    with pytest.raises(ReactionError, match="the run it belongs to"):
        run(Main, fast=True)


def test_access_lists_hold_for_any_number_of_reactions() -> None:
    """The first 64 reactions of a reactor are stored in another form than the rest."""
    seen: list[int] = []

    class Wide(Reactor):
        x = Input[int]()

        for number in range(70):

            def body(self: Any, number: int = number) -> None:
                seen.append(self.x.value if number in (3, 66, 68) else 0)

            body.__name__ = f"number_{number}"
            reads = (x,) if number in (3, 66) else ()
            locals()[f"number_{number}"] = reaction(startup, sources=reads)(body)
        del body, number, reads

    class Main(Reactor):
        wide = Wide()

    with pytest.raises(AccessError, match="number_68 reads"):
        run(Main, fast=True, workers=1)

    assert len(seen) == 68


def test_a_port_of_another_reactor_is_refused_even_where_it_could_be_read() -> None:
    leaked: list[object] = []

    class Leaker(Reactor):
        x = Input[int]()

        @reaction(x)
        def leak(self) -> None:
            leaked.append(self.x)

    class Thief(Reactor):
        x = Input[int]()

        @reaction(x)
        def steal(self) -> None:
            leaked[0].value  # type: ignore[attr-defined]  # noqa: B018

    class Main(Reactor):
        source = Source()
        leaker = Leaker()
        thief = Thief()

        def build(self) -> None:
            self.connect(self.source.out, self.leaker.x)
            self.connect(self.source.out, self.thief.x)

    with pytest.raises(AccessError, match="reactors share nothing"):
        run(Main, fast=True, workers=1)


def test_assigning_to_a_port_is_found_and_explained() -> None:
    class Careless(Reactor):
        out = Output[int]()

        @reaction(startup, effects=[out])
        def send(self) -> None:
            self.out = 3  # type: ignore[assignment]

    class Main(Reactor):
        careless = Careless()

    with pytest.raises(AccessError, match=r"self\.out\.set"):
        run(Main, fast=True)


def test_a_failing_setup_tears_down_what_was_set_up() -> None:
    log: list[str] = []

    class Bad(Reactor):
        def setup(self) -> None:
            log.append("up")
            if self.bank_index == 1:
                raise OSError

        def teardown(self) -> None:
            log.append("down")

    class Main(Reactor):
        each = bank(Bad, width=2)

    with pytest.raises(OSError):  # noqa: PT011
        run(Main)

    assert log.count("down") == 2


def test_exit_in_a_body_ends_with_its_status() -> None:
    class Leaving(Reactor):
        @reaction(startup)
        def leave(self) -> None:
            sys.exit(7)

    with pytest.raises(SystemExit) as caught:
        run(Leaving)

    assert caught.value.code == 7


BUSY = """
    import os, signal
    from reactorl import *

    signal.signal(signal.SIGINT, signal.default_int_handler)

    class Busy(Reactor):
        @reaction(startup)
        def spin(self):
            os.write(1, b"started\\n")
            while True:
                pass

        def teardown(self):
            os.write(1, b"down\\n")

    class Main(Reactor):
        each = bank(Busy, width=WORKERS)

    try:
        run(Main, workers=WORKERS, shuffle=1)
    except KeyboardInterrupt:
        os.write(1, b"interrupted\\n")
"""

IDLE = """
    import os, signal
    from reactorl import *

    signal.signal(signal.SIGINT, signal.default_int_handler)

    class Idle(Reactor):
        poke = PhysicalAction[int]()

        @reaction(startup)
        def hello(self):
            os.write(1, b"started\\n")

        @reaction(poke)
        def never(self):
            pass

        def teardown(self):
            os.write(1, b"down\\n")

    try:
        run(Idle, workers=WORKERS)
    except KeyboardInterrupt:
        os.write(1, b"interrupted\\n")
"""


SEVERAL_INTERRUPTS = """
    import threading, time
    from reactorl import *

    class Slow(KeyboardInterrupt):
        def __del__(self):  # hands the GIL to other workers while it is released
            for _ in range(20):
                time.sleep(0.001)

    class Worker(Reactor):
        tick = Timer(0, 1)

        @reaction(tick)
        def work(self):
            if self.elapsed == 20:
                barrier.wait(30)
                raise Slow

    class Main(Reactor):
        workers = bank(Worker, width=8)

    for _ in range(3):
        barrier = threading.Barrier(4)
        try:
            run(Main, fast=True, workers=4, stay_home=True)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
"""


def test_interrupts_of_several_workers_do_not_deadlock() -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SEVERAL_INTERRUPTS)],
        capture_output=True,
        text=True,
        timeout=200,
        check=True,
    )

    assert done.stdout == "interrupted\n" * 3


DAEMON = """
    import threading
    from reactorl import *

    inside = threading.Event()

    class Ticks(Reactor):
        tick = Timer(0, 1)

        @reaction(tick)
        def count(self):
            inside.set()

    threading.Thread(
        target=lambda: run(Ticks, fast=True, workers=2), daemon=True
    ).start()
    inside.wait()
    print("leaving", flush=True)
"""


def test_interpreter_exits_while_a_daemon_thread_runs_a_program() -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(DAEMON)],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, "leaving\n")


def test_an_exception_of_the_deadline_hook_ends_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran: list[str] = []

    def broken(*_: object) -> bool:
        msg = "hook"
        raise ValueError(msg)

    class Late(Reactor):
        @reaction(startup, deadline=msec(1000))
        def body(self) -> None:
            ran.append("body")

        @body.deadline_handler
        def handler(self) -> None:
            ran.append("handler")

    monkeypatch.setattr("reactorl._runtime.recording.RecordingTape.late", broken)

    with pytest.raises(ReactionError, match=r"main\.body raised .* hook"):
        run(Late, record=True)

    assert ran == []


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("program", [BUSY, IDLE], ids=["busy", "idle"])
def test_ctrl_c_stops_cleanly(program: str, workers: int) -> None:
    code = textwrap.dedent(program).replace("WORKERS", str(workers))
    started = workers if program is BUSY else 1
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(started)] == [
            "started\n"
        ] * started
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=200)
    finally:
        process.kill()
        process.wait()

    assert process.returncode == 0
    assert rest == "down\n" * started + "interrupted\n"


def test_a_failing_teardown_is_reported_after_all_were_called() -> None:
    log: list[int] = []

    class Bad(Reactor):
        def teardown(self) -> None:
            log.append(self.bank_index)
            if self.bank_index == 1:
                raise OSError

    class Main(Reactor):
        each = bank(Bad, width=3)

    with pytest.raises(OSError):  # noqa: PT011
        run(Main)

    assert log == [2, 1, 0]


class FailsTwice(Reactor):
    """Its teardown fails because of what its reaction left behind."""

    go = Input[int]()

    @reaction(go)
    def fail(self) -> None:
        msg = "the cause"
        raise ValueError(msg)

    def teardown(self) -> None:
        msg = "the consequence"
        raise KeyError(msg)


def test_a_failing_teardown_does_not_hide_the_error_of_the_run() -> None:
    class Begins(Reactor):
        out = Output[int]()

        @reaction(startup, effects=[out])
        def begin(self) -> None:
            self.out.set(1)

    class Main(Reactor):
        first = Begins()
        child = FailsTwice()

        def build(self) -> None:
            self.connect(self.first.out, self.child.go)

    with pytest.raises(ReactionError, match="the cause") as raised:
        run(Main, fast=True)

    note = "teardown() of main.child raised KeyError: 'the consequence'"
    assert raised.value.__notes__ == [note]


def test_a_failing_teardown_does_not_hide_the_error_of_a_step() -> None:
    session = drive(FailsTwice)
    with pytest.raises(ReactionError, match="the cause") as raised, session:
        session.step(go=1)

    note = "teardown() of main raised KeyError: 'the consequence'"
    assert raised.value.__notes__ == [note]


def test_shutdown_does_not_run_after_a_failure() -> None:
    log: list[str] = []

    class Bad(Reactor):
        @reaction(startup)
        def fail(self) -> None:
            raise RuntimeError

        @reaction(shutdown)
        def end(self) -> None:
            log.append("shutdown")

    with pytest.raises(ReactionError):
        run(Bad)

    assert log == []


def _source_of(error: BaseException) -> str:
    import traceback

    return "".join(traceback.format_exception(error))


def _native_threads() -> int:
    tasks = "/proc/self/task"
    return len(os.listdir(tasks)) if os.path.isdir(tasks) else 0  # noqa: PTH208, PTH112
