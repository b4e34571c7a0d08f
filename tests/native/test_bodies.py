# SPDX-License-Identifier: Apache-2.0
"""Native bodies: how they are found, run in parallel, keep state, fail and stop."""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import reactorl
from reactorl import (
    DeclarationError,
    Input,
    NativeBody,
    NativeState,
    Output,
    ReactionError,
    Reactor,
    ReactorlError,
    Tag,
    Timer,
    Watchdog,
    WiringError,
    bank,
    drive,
    elaborate,
    msec,
    native,
    native_state,
    param,
    reaction,
    run,
    shutdown,
    startup,
)
from reactorl._decl.native import ABI
from reactorl._util import seeds
from tests.native.conftest import compile_c

# -- parallel ------------------------------------------------------


def test_two_native_bodies_of_a_level_run_at_the_same_time_also_with_a_gil(
    library: str,
) -> None:
    # Each waits until the other has begun: one at a time, this would never end.
    class Meeting(Reactor):
        tick = Timer(0, msec(1))
        meet = reaction(tick)(native(library, "meet"))

    class Main(Reactor):
        pair = bank(Meeting, width=2)

    result = run(Main, workers=2, fast=True, timeout=msec(5), shuffle=1, trace=True)
    assert len(result.trace.tags) == 6
    assert result.shared_tags >= 6


def test_a_native_body_runs_while_python_computes(library: str) -> None:
    # The body in Python waits for the native one while it holds the GIL: without
    # detaching, neither would end. ctypes.PyDLL keeps the GIL.
    # Not at the start, which reactors begin on their home workers.
    class Native(Reactor):
        tick = Timer(msec(1))
        meet = reaction(tick)(native(library, "meet"))

    class Python(Reactor):
        tick = Timer(msec(1))

        @reaction(tick)
        def meet(self) -> None:
            held = ctypes.PyDLL(library)
            body = Body.in_dll(held, "meet")
            function = ctypes.PYFUNCTYPE(
                ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p
            )
            assert function(body.function)(None, None) == 0

    class Main(Reactor):
        native = Native()
        python = Python()

    for shuffle in range(1, 5):
        run(Main, workers=2, fast=True, shuffle=shuffle)


class Body(ctypes.Structure):
    """``reactorl_body``."""

    _fields_ = (
        ("abi", ctypes.c_uint32),
        ("size", ctypes.c_uint32),
        ("signature", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
    )


# -- where bodies are from ------------------------------------------------------


def test_a_library_that_cannot_be_loaded_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError) as caught:
        native(tmp_path / "missing.so", "work")
    assert f"loading the library {tmp_path / 'missing.so'} failed" in str(caught.value)
    assert caught.value.where is not None
    assert caught.value.where.file == __file__


@pytest.mark.parametrize(
    ("symbol", "what"),
    [
        ("missing", "does not export 'missing'"),
        ("from_the_future", f"must be {ABI}, got {ABI + 1}"),
        ("without_function", "has no function"),
        ("without_types", "must be a list of types, got 'int65 ->'"),
    ],
)
def test_a_body_that_does_not_fit_is_an_error(
    library: str, symbol: str, what: str
) -> None:
    with pytest.raises(DeclarationError, match=re.escape(what)):
        native(library, symbol)


def test_a_state_that_does_not_fit_is_an_error(library: str) -> None:
    with pytest.raises(DeclarationError, match=f"must be {ABI}, got {ABI + 1}"):
        native_state(library, "state_from_the_future")
    with pytest.raises(DeclarationError, match="REACTORL_STATE"):
        native_state(library, "missing")


def test_bodies_may_be_addresses_and_capsules(library: str) -> None:
    loaded = ctypes.CDLL(library)
    body = Body.in_dll(loaded, "echo_int64")
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = (
        ctypes.py_object,
        (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p),
    )
    capsule = new(ctypes.addressof(body), b"reactorl.body", None)
    pointer = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)(
        body.function
    )
    text = "int64 -> int64"
    for source in (
        native(capsule),
        native(pointer, signature=text),
        native(body.function, signature=text),
    ):
        assert isinstance(source, NativeBody)

        class Echo(Reactor):
            inp = Input[int](dtype="int64")
            out = Output[int](dtype="int64")
            send = reaction(inp, effects=[out])(source)

        with drive(Echo, workers=1) as session:
            assert session.step(inp=4).out == 4
    with pytest.raises(DeclarationError, match="has no signature"):
        native(body.function)
    with pytest.raises(DeclarationError, match=r"must be named reactorl\.body"):
        native(new(ctypes.addressof(body), b"other", None))
    with pytest.raises(DeclarationError, match="in a library, a capsule or an address"):
        native(print)
    with pytest.raises(DeclarationError, match="needs the name"):
        native(library)


@pytest.mark.parametrize("standard", ["c99", "c11", "c17"])
def test_the_header_compiles_without_warnings(tmp_path: Path, standard: str) -> None:
    source = Path(__file__).with_name("bodies.c")
    compile_c(source, tmp_path / "lib.so", f"-std={standard}", "-O1")


def test_the_header_compiles_as_cxx(tmp_path: Path) -> None:
    source = tmp_path / "body.cpp"
    source.write_text(
        "#include <reactorl.h>\n"
        'REACTORL_BODY(work, "int64 -> int64") {\n'
        "  return reactorl_set_int64(context, 0, 0, 2);\n"
        "}\n"
    )
    target = compile_c(source, tmp_path / "lib.so", "-std=c++17", "-Wconversion")
    assert native(target, "work").signature == "int64 -> int64"


def test_the_header_has_the_version_of_the_package() -> None:
    header = Path(reactorl.get_include(), "reactorl.h").read_text("utf-8")
    assert f"#define REACTORL_ABI {ABI}\n" in header


def test_import_reactorl_does_not_load_ctypes() -> None:
    code = "import sys, reactorl; sys.exit('ctypes' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# -- failures ------------------------------------------------------


def failing(library: str, symbol: str) -> type[Reactor]:
    """Return a program of four reactors, of which the last two fail."""

    class Fine(Reactor):
        @reaction(startup)
        def work(self) -> None:
            pass

    class Failing(Reactor):
        work = reaction(startup)(native(library, symbol))

    class Main(Reactor):
        fine = bank(Fine, width=2)
        failing = bank(Failing, width=2)

        @reaction(shutdown)
        def end(self) -> None:
            raise AssertionError

    return Main


@pytest.mark.parametrize(
    ("symbol", "cause"),
    [
        ("fail_with_message", "the native body failed with code 3: no such card"),
        ("fail_with_code", "the native body failed with code -7"),
    ],
)
@pytest.mark.parametrize(("workers", "shuffle"), [(1, 0), (2, 1), (4, 2)])
def test_the_first_failure_in_the_fixed_order_is_raised(
    library: str, symbol: str, cause: str, workers: int, shuffle: int
) -> None:
    with pytest.raises(ReactionError) as caught:
        run(failing(library, symbol), workers=workers, shuffle=shuffle, fast=True)
    error = caught.value
    assert error.reaction == "main.failing[0].work"
    assert error.tag == Tag(0, 0)
    assert error.cause_text == cause
    assert error.where is not None
    assert error.where.file == __file__


@pytest.mark.parametrize("python_first", [False, True])
@pytest.mark.parametrize("workers", [1, 4])
def test_failures_of_both_kinds_have_one_order(
    library: str,
    python_first: bool,  # noqa: FBT001
    workers: int,
) -> None:
    class Native(Reactor):
        work = reaction(startup)(native(library, "fail_with_message"))

    class Python(Reactor):
        @reaction(startup)
        def work(self) -> None:
            msg = "three"
            raise ValueError(msg)

    class Main(Reactor):
        def build(self) -> None:
            self.add("first", Python if python_first else Native)
            self.add("second", Native if python_first else Python)

    for shuffle in range(3):
        with pytest.raises(ReactionError) as caught:
            run(Main, workers=workers, shuffle=shuffle, fast=True)
        assert caught.value.reaction == "main.first.work"
        expected = "ValueError: three" if python_first else "no such card"
        assert expected in caught.value.cause_text


def test_what_a_reaction_does_not_declare_cannot_be_used(library: str) -> None:
    class Child(Reactor):
        out = Output[int](dtype="int64")
        work = reaction(startup, effects=[out])(native(library, "wrong_input"))

    class Main(Reactor):
        child = Child()

    with pytest.raises(ReactionError, match="input must be less than 0, got 0"):
        run(Main, fast=True)


def test_another_type_than_declared_cannot_be_used(library: str) -> None:
    class Child(Reactor):
        inp = Input[int](dtype="int64")
        out = Output[int](dtype="int64")
        work = reaction(inp, effects=[out])(native(library, "wrong_type"))

    with (
        pytest.raises(ReactionError, match=r"main.inp has dtype int64, and the native"),
        drive(Child, workers=1) as session,
    ):
        session.step(inp=1)


# -- stops and deadlines ------------------------------------------------------


def counting(library: str, stops: bool | None) -> type[Reactor]:  # noqa: FBT001
    """Return a program that a native body ends when a counter is at three."""

    class Counter(Reactor):
        tick = Timer(0, msec(1))
        count = Output[int](dtype="int64")

        def setup(self) -> None:
            self.number = 0

        @reaction(tick, effects=[count])
        def add_one(self) -> None:
            self.number += 1
            self.count.set(self.number)

    class Stopper(Reactor):
        count = Input[int](dtype="int64")
        look = reaction(count, stops=stops)(native(library, "stop_at_three"))

    class Main(Reactor):
        def build(self) -> None:
            self.connect(
                self.add("counter", Counter).count, self.add("stopper", Stopper).count
            )

    return Main


def test_a_native_body_can_end_the_program(library: str) -> None:
    for workers in (1, 2):
        main = counting(library, stops=True)
        assert run(main, workers=workers, fast=True).final_tag == Tag(msec(2), 1)


def test_a_native_body_that_ends_the_program_says_so_in_advance(library: str) -> None:
    with pytest.raises(ReactionError, match="must be declared with stops=True"):
        run(counting(library, stops=None), fast=True)


def test_body_and_deadline_handler_may_be_of_different_kinds(library: str) -> None:
    class Worker(Reactor):
        tick = Timer(0, msec(1))
        out = Output[int](dtype="int64")
        native_late = reaction(tick, effects=[out], deadline=0)(native(library, "one"))
        handled = native_late.deadline_handler(native(library, "two"))

        python_late = reaction(tick, effects=[out], deadline=0)(native(library, "one"))

        @python_late.deadline_handler
        def late(self) -> None:
            seen.append(self.out.value)

        unhandled = reaction(tick, effects=[out], deadline=0)(native(library, "one"))

    class Main(Reactor):
        worker = Worker()

    for workers in (1, 2):
        seen: list[int] = []
        result = run(Main, workers=workers, fast=True, timeout=msec(3), trace=True)
        assert seen == [2, 2, 2, 2]
        records = result.trace.tags[0].reactions
        assert [r.missed_deadline for r in records] == [True, True, True]
        assert records[0].sets == (("main.worker.out", "2"),)


def test_a_deadline_that_is_met_runs_the_native_body(library: str) -> None:
    class Worker(Reactor):
        out = Output[int](dtype="int64")
        work = reaction(startup, effects=[out], deadline=msec(3_600_000))(
            native(library, "one")
        )
        late = work.deadline_handler(native(library, "two"))

    class Main(Reactor):
        worker = Worker()

    trace = run(Main, workers=1, trace=True, record=True).trace
    assert trace.tags[0].reactions[0].sets == (("main.worker.out", "1"),)


# -- state ------------------------------------------------------


def counter(library: str) -> type[Reactor]:
    """Return a reactor with native state."""

    class Counter(Reactor):
        rate: float = param(0.5)
        tick = Input[None](dtype="none")
        saved = Input[bytes]()
        number = Output[int](dtype="int64")
        rates = Output[float](dtype="float64")
        place = Output[int](dtype="int64")
        seeds = Output[int](dtype="uint64")
        path = Output[bytes](dtype="bytes[64]")
        memory: NativeState = native_state(library, "counter_state")

        @reaction(saved)
        def restore(self) -> None:
            self.memory.load(self.saved.value)

        count = reaction(startup, effects=[number, rates, place, seeds, path])(
            native(library, "count", state=memory)
        )
        again = reaction(tick, effects=[number])(
            native(
                Address.of(library, "count_again"),
                signature="none -> int64",
                state=memory,
            )
        )

    return Counter


class Address:
    """Addresses of functions that a library exports."""

    @staticmethod
    def of(library: str, name: str) -> Any:  # noqa: ANN401
        return ctypes.CDLL(library)[name]


def test_native_state_is_made_from_parameters_seed_and_name(library: str) -> None:
    class Main(Reactor):
        counters = bank(counter(library), width=3, rate=0.25)

        @reaction(startup, sources=[counters.seeds])
        def begin(self) -> None:
            pass

    found = run(Main, workers=2, fast=True, seed=5, trace="values").trace.tags[0]
    sets = {name: text for record in found.reactions for name, text in record.sets}
    for i in range(3):
        name = f"main.counters[{i}]"
        assert sets[f"{name}.number"] == "1"
        assert sets[f"{name}.rates"] == "0.25"
        assert sets[f"{name}.place"] == str(i)
        assert sets[f"{name}.seeds"] == str(seeds.derive(5, name) % 2**64)
        assert name in sets[f"{name}.path"]


def test_a_run_continues_from_saved_native_state(library: str) -> None:
    with drive(counter(library), workers=1) as session:
        straight = [session.step(tick=None).number for _ in range(6)]
        memory: NativeState = session._live._instances[0].memory  # type: ignore[attr-defined]
        kept = memory.save()
    assert straight == [2, 3, 4, 5, 6, 7]
    assert len(kept) == 8
    with drive(counter(library), workers=1) as session:
        session.step(saved=kept)
        assert session.step(tick=None).number == 8
    with pytest.raises(
        ReactorlError, match=r"save of counter_state .* the run has ended"
    ):
        memory.save()


def test_a_saved_state_of_another_size_is_refused(library: str) -> None:
    with (
        pytest.raises(ReactorlError, match=r"load of counter_state .* failed: code 5"),
        drive(counter(library), workers=1) as session,
    ):
        session.step(saved=b"123")


def test_plain_memory_is_saved_as_it_is(library: str) -> None:
    class Ring(Reactor):
        inp = Input[int](dtype="int64")
        saved = Input[bytes]()
        memory: NativeState = native_state(library, "ring_state")

        @reaction(saved)
        def restore(self) -> None:
            self.memory.load(self.saved.value)
            seen.append(self.memory.save())

    seen: list[bytes] = []
    with drive(Ring, workers=1) as session:
        session.step(saved=(77).to_bytes(8, "little"))
        with pytest.raises(ReactorlError, match="must have 8 bytes, got 3"):
            session.step(saved=b"abc")
    assert seen == [(77).to_bytes(8, "little")]


def test_every_state_is_destroyed_once(library: str) -> None:
    destroyed = ctypes.CDLL(library).count_destroyed
    destroyed.restype = ctypes.c_int64
    before = destroyed()

    class Main(Reactor):
        counters = bank(counter(library), width=3)

    run(Main, fast=True)
    assert destroyed() == before + 3

    class Broken(Reactor):
        def build(self) -> None:
            self.add("good", counter(library))
            self.add("bad", counter(library), rate=-1.0)

    with pytest.raises(ReactorlError) as caught:
        run(Broken, fast=True)
    assert "init of counter_state" in str(caught.value)
    assert "main.bad failed: code 4, rate must not be negative" in str(caught.value)
    assert destroyed() == before + 4


def test_native_state_is_not_replaced_behind_native_bodies(library: str) -> None:
    class Replacing(counter(library)):  # type: ignore[misc]
        def setup(self) -> None:
            self.memory = None

    with (
        pytest.raises(DeclarationError, match=r"main.memory must be the native state"),
        drive(Replacing, workers=1),
    ):
        pass


def test_state_has_to_be_native_and_of_the_same_class(library: str) -> None:
    with pytest.raises(DeclarationError, match="must be what native_state"):
        native(library, "meet", state=5)  # type: ignore[arg-type]

    foreign = native_state(library, "ring_state")

    class Main(Reactor):
        meet = reaction(startup)(native(library, "meet", state=foreign))

    with pytest.raises(WiringError, match="has a state that Main does not declare"):
        elaborate(Main)


def test_a_reactor_with_watchdogs_has_no_native_bodies(library: str) -> None:
    class Main(Reactor):
        dog = Watchdog(msec(1))
        meet = reaction(startup)(native(library, "meet"))

        @dog.handler
        def bark(self) -> None:
            pass

    with pytest.raises(WiringError, match="is in a reactor with watchdogs"):
        elaborate(Main)
