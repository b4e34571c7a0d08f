# SPDX-License-Identifier: Apache-2.0
"""Values of data types cross between Python and native bodies unchanged or not."""

from __future__ import annotations

import ctypes
import math
import pickle
from typing import Any

import numpy as np
import pytest

from reactorl import (
    DeclarationError,
    DTypeError,
    Federation,
    Input,
    LogicalAction,
    Output,
    PhysicalAction,
    ProgramError,
    Reactor,
    WiringError,
    drive,
    elaborate,
    msec,
    native,
    reaction,
    run,
    startup,
)


class Card(ctypes.Structure):
    """The twin of ``card`` in bodies.c."""

    _fields_ = (("suit", ctypes.c_int32), ("value", ctypes.c_double))


class Other(ctypes.Structure):
    """Another structure of the same size."""

    _fields_ = (("a", ctypes.c_double), ("b", ctypes.c_double))


def echo(library: str, symbol: str, dtype: Any) -> type[Reactor]:  # noqa: ANN401
    """Return a reactor that sends on what it gets, by a native body."""

    class Echo(Reactor):
        inp = Input[Any](dtype=dtype)
        out = Output[Any](dtype=dtype)
        send = reaction(inp, effects=[out])(native(library, symbol))

    return Echo


INTEGERS = [
    (f"{sign}int{bits}", bits, sign) for bits in (8, 16, 32, 64) for sign in "u "
]


@pytest.mark.parametrize(("name", "bits", "sign"), INTEGERS)
def test_integers_cross_exactly_up_to_their_limits(
    library: str, name: str, bits: int, sign: str
) -> None:
    name = name.strip()
    least, most = (
        (0, 2**bits - 1) if sign == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    )
    with drive(echo(library, f"echo_{name}", name), workers=1) as session:
        for value in (0, 1, least, most):
            out = session.step(inp=value).out
            assert out == value
            assert type(out) is int
        for value in (least - 1, most + 1, 2**70, True, 1.0, None, np.int64(1)):
            with pytest.raises(
                DTypeError, match=f"main.inp must be {name}, a Python int"
            ):
                session.step(inp=value)
        assert session.step(inp=7).out == 7


def test_floats_cross_with_all_their_bits(library: str) -> None:
    with drive(echo(library, "echo_float64", "float64"), workers=1) as session:
        for value in (0.1, -0.0, 5e-324, math.inf, 1.7976931348623157e308):
            assert session.step(inp=value).out.hex() == value.hex()
        assert math.isnan(session.step(inp=math.nan).out)
        for value in (1, True, np.float64(1), "1", None):
            with pytest.raises(DTypeError, match="must be float64, a Python float"):
                session.step(inp=value)
    with drive(echo(library, "echo_float32", "float32"), workers=1) as session:
        assert session.step(inp=0.1).out == float(np.float32(0.1))


def test_other_types_cross(library: str) -> None:
    with drive(echo(library, "echo_bool", "bool"), workers=1) as session:
        assert session.step(inp=True).out is True
        assert session.step(inp=False).out is False
        with pytest.raises(DTypeError, match="must be bool, a Python bool, got int 1"):
            session.step(inp=1)
    with drive(echo(library, "echo_none", "none"), workers=1) as session:
        out = session.step(inp=None)
        assert "out" in out
        assert out.out is None
        with pytest.raises(DTypeError, match="must be none, which is None, got int 0"):
            session.step(inp=0)
    with drive(echo(library, "echo_bytes", "bytes[5]"), workers=1) as session:
        assert session.step(inp=b"\0abc\0").out == b"\0abc\0"
        with pytest.raises(
            DTypeError, match="bytes of length 5, got bytes of length 4"
        ):
            session.step(inp=b"abcd")


@pytest.mark.parametrize("shape", [(6,), (2, 3)])
def test_arrays_cross_and_are_read_only(library: str, shape: tuple[int, ...]) -> None:
    dtype = f"float32[{', '.join(map(str, shape))}]"
    value = np.arange(6, dtype=np.float32).reshape(shape)
    with drive(echo(library, "echo_array", dtype), workers=1) as session:
        out = session.step(inp=value).out
        assert out.dtype == np.float32
        assert out.shape == shape
        assert (out == value).all()
        assert not out.flags.writeable
        value[...] = 9  # what was sent is a copy
        assert (out != value).any()
        strided = np.arange(12, dtype=np.float32)[::2].reshape(shape)
        assert (session.step(inp=strided).out == strided).all()
        for wrong in (
            value.astype(np.float64),
            value.ravel()[:5],
            value.tolist(),
            value.astype(">f4"),
        ):
            with pytest.raises(DTypeError, match="a NumPy array of float32 with shape"):
                session.step(inp=wrong)


def test_structures_cross_as_objects_of_their_class(library: str) -> None:
    with drive(echo(library, "echo_struct", Card), workers=1) as session:
        out = session.step(inp=Card(3, 0.5)).out
        assert type(out) is Card
        assert (out.suit, out.value) == (4, 0.5)
        with pytest.raises(DTypeError, match="must be Card, an object of this class"):
            session.step(inp=Other(1, 2))


def test_an_error_about_a_value_names_element_place_and_remedy() -> None:
    class Sender(Reactor):
        out = Output[float](dtype="float64")

        @reaction(startup, effects=[out])
        def send(self) -> None:
            self.out.set(1)

    class Main(Reactor):
        sender = Sender()

    with pytest.raises(DTypeError) as caught:
        run(Main, fast=True)
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.element, error.dtype, error.got) == (
        "main.sender.out",
        "float64",
        "int 1",
    )
    assert error.where is not None
    assert error.where.file == __file__
    assert "Convert it before it is sent" in str(error)
    assert "in reaction main.sender.send" in caught.value.__notes__[0]
    assert isinstance(error, TypeError)


@pytest.mark.parametrize("kind", [LogicalAction, PhysicalAction])
def test_payloads_of_actions_have_their_type(kind: Any) -> None:  # noqa: ANN401
    class Main(Reactor):
        later = kind(dtype="int64")
        array = kind(dtype="float64[2]")

        @reaction(startup, effects=[later, array])
        def send(self) -> None:
            for value in (None, 1.5):
                with pytest.raises(DTypeError, match=r"main.later must be int64"):
                    self.later.schedule(0, value)
            with pytest.raises(DTypeError, match=r"main.array must be float64"):
                self.array.schedule(0, [1.0, 2.0])
            self.later.schedule(0, 5)
            self.array.schedule(0, np.array([1.0, 2.0]))

        @reaction(later)
        def see_number(self) -> None:
            seen.append(self.later.value)

        @reaction(array)
        def see_array(self) -> None:
            seen.append(self.array.value.tolist())

    seen: list[object] = []
    run(Main, workers=1, fast=True, timeout=msec(100), keepalive=False)
    assert sorted(map(str, seen)) == ["5", "[1.0, 2.0]"]


def test_a_value_on_the_way_of_a_delayed_connection_has_the_type_of_its_port(
    library: str,
) -> None:
    class Main(Reactor):
        out = Output[int](dtype="int64")

        def build(self) -> None:
            source = self.add("source", echo(library, "echo_int64", "int64"))
            self.connect(source.out, self.out, after=msec(5))

    session = drive(Main, workers=1)
    with pytest.raises(DTypeError, match=r"main.source.out must be int64"):
        session.preload("main.source.out", "x", sent=0)
    session.preload("main.source.out", 7, sent=0)
    with session:
        assert session.step(after=msec(5)).out == 7


def test_a_mutable_input_gets_a_copy_that_can_be_changed() -> None:
    class Reader(Reactor):
        inp = Input[Any](dtype="float64[2]", mutable=True)
        out = Output[float](dtype="float64")

        @reaction(inp, effects=[out])
        def change(self) -> None:
            self.inp.value[0] += 1
            self.out.set(float(self.inp.value.sum()))

    with drive(Reader, workers=1) as session:
        assert session.step(inp=np.array([1.0, 2.0])).out == 4.0


# -- programs that do not fit -------------------------------------------------------


def test_only_names_of_data_types_are_accepted() -> None:
    for wrong in (
        "int65",
        "float64[]",
        "bytes",
        "none[2]",
        "int64[0]",
        5,
        int,
        "Int64",
    ):
        with pytest.raises(
            DeclarationError, match="dtype must be the name of a data type"
        ):
            Input[Any](dtype=wrong)  # type: ignore[arg-type]


def test_connected_ports_have_one_type(library: str) -> None:
    class Main(Reactor):
        def build(self) -> None:
            first = self.add("first", echo(library, "echo_int64", "int64"))
            second = self.add("second", echo(library, "echo_float64", "float64"))
            self.connect(first.out, second.inp, after=msec(1))

    with pytest.raises(WiringError) as caught:
        elaborate(Main)
    assert "main.second.inp has dtype float64" in str(caught.value)
    assert "main.first.out" in str(caught.value)
    assert "Give both the same dtype" in str(caught.value)


def test_a_port_without_type_takes_that_of_what_it_is_connected_to(
    library: str,
) -> None:
    class Plain(Reactor):
        inp = Input[int]()
        out = Output[int]()

        @reaction(inp, effects=[out])
        def send(self) -> None:
            self.out.set(self.inp.value)

    class Main(Reactor):
        inp = Input[int]()
        out = Output[int]()

        def build(self) -> None:
            plain = self.add("plain", Plain)
            typed = self.add("typed", echo(library, "echo_int64", "int64"))
            self.connect(self.inp, plain.inp)
            self.connect(plain.out, typed.inp)
            self.connect(typed.out, self.out)

    with drive(Main, workers=1) as session:
        assert session.step(inp=3).out == 3
        with pytest.raises(DTypeError, match=r"main.plain.out must be int64"):
            session.step(inp="x")


def test_a_program_with_types_is_not_federated(library: str) -> None:
    class Main(Reactor):
        def build(self) -> None:
            first = self.add("first", echo(library, "echo_int64", "int64"))
            second = self.add("second", echo(library, "echo_int64", "int64"))
            self.connect(first.out, second.inp)

    federation = Federation({"main.first": "a", "main.second": "b"})
    with pytest.raises(ProgramError) as caught:
        run(Main, federation=federation)
    text = str(caught.value)
    assert "main.first.inp has the dtype int64, which federates lack" in text
    assert caught.value.where is not None
    assert caught.value.where.file == __file__


def test_a_native_body_needs_types_of_all_that_it_uses(library: str) -> None:
    class Main(Reactor):
        inp = Input[int](dtype="int64")
        out = Output[int]()
        send = reaction(inp, effects=[out])(native(library, "echo_int64"))

    with pytest.raises(WiringError) as caught:
        elaborate(Main)
    assert "native reaction main.send uses main.out, which has no dtype" in str(
        caught.value
    )
    assert caught.value.where is not None
    assert caught.value.where.file == __file__


def test_the_signature_of_a_body_has_to_fit_its_reaction(library: str) -> None:
    class Main(Reactor):
        inp = Input[int](dtype="int64")
        out = Output[Any](dtype="float64[2, 2]")
        send = reaction(inp, effects=[out])(native(library, "echo_int64"))

    with pytest.raises(WiringError) as caught:
        elaborate(Main)
    text = str(caught.value)
    assert '"int64 -> float64[4]" for reaction main.send, got "int64 -> int64"' in text
    assert "in this order: main.inp, main.out" in text
