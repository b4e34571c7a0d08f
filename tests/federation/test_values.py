# SPDX-License-Identifier: Apache-2.0
"""Values on links: serializers of connections, and arrays that receivers change."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from reactorl import Input, Output, Reactor, bank, elaborate, reaction
from reactorl._federation.codec import Payload
from reactorl._federation.link_errors import CodecError
from reactorl._federation.messages import Kind, Message
from reactorl._federation.values import ValueCodec, load_serializer
from reactorl._program.cut import Cut, analyze_cut, cut_program
from reactorl._program.placement import Federation
from reactorl.errors import ProgramError

if TYPE_CHECKING:
    from pathlib import Path

    from reactorl import Program

REVERSING = """
class Serializer:
    def serialize(self, value):
        return value.encode()[::-1]

    def deserialize(self, data):
        return bytes(data)[::-1].decode().upper()
"""


class A(Reactor):
    x = Input[Any]()
    y = Output[Any]()
    z = Output[Any]()

    @reaction(x, effects=[y, z])
    def act(self) -> None:
        pass


def connected(*connections: tuple[str, str, int | None, str | None]) -> Program:
    """Return a program of two reactors: (output, input's index, delay, serializer)."""

    class Main(Reactor):
        a = A()
        b = bank(A, width=len(connections))

        def build(self) -> None:
            for name, index, delay, serializer in connections:
                self._builder.connect(
                    getattr(self.a, name),
                    self.b[int(index)].x,
                    delay,
                    physical=False,
                    broadcast=False,
                    serializer=serializer,
                )

    return elaborate(Main)


@pytest.fixture
def reversing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a serializer whose effect can be seen on both sides."""
    (tmp_path / "reversing.py").write_text(REVERSING)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "reversing", raising=False)
    return "reversing"


def codecs(program: Program, cut: Cut) -> tuple[ValueCodec, ValueCodec]:
    sender, receiver = (
        ValueCodec.of(program, cut, index, writable=False)
        for index in (cut.names.index("a"), cut.names.index("b"))
    )
    return sender, receiver


IN_TWO = Federation({"main.a": "a", "main.b": "b"})


def test_a_serializer_is_used_by_both_ends_of_its_connection(reversing: str) -> None:
    program = connected(("y", "0", 0, reversing), ("z", "1", 0, None))
    cut = cut_program(program, IN_TWO)
    a, b = cut.names.index("a"), cut.names.index("b")
    sender, receiver = codecs(program, cut)

    def sent(stage: int) -> tuple[Payload, Any]:
        message = Message(Kind.LATE, place=stage, value="text")
        payload = sender.encode(b, message)
        received = receiver.decode(a, message._replace(value=payload))
        return payload, received

    assert b"txet" in sent(0)[0].data
    assert sent(0)[1] == "TEXT"
    assert b"text" in sent(1)[0].data
    assert sent(1)[1] == "text"


def test_a_value_is_encoded_once_per_serializer_and_batch(
    reversing: str,
) -> None:
    program = connected(("y", "0", 0, reversing), ("z", "1", 0, None))
    cut = cut_program(program, IN_TWO)
    b = cut.names.index("b")
    sender, _ = codecs(program, cut)
    value = "text"
    plain = Message(Kind.LATE, place=1, value=value)
    reverse = Message(Kind.LATE, place=0, value=value)

    first = sender.encode(b, plain)
    assert sender.encode(b, plain) is first
    assert sender.encode(b, reverse) != first
    sender.forget()
    assert sender.encode(b, plain) is not first


def test_a_failing_serializer_is_named(reversing: str) -> None:
    program = connected(("y", "0", 0, reversing))
    cut = cut_program(program, IN_TWO)
    sender, _ = codecs(program, cut)

    with pytest.raises(CodecError, match="serializer reversing failed: AttributeError"):
        sender.encode(cut.names.index("b"), Message(Kind.LATE, place=0, value=1))


def test_a_module_without_a_serializer_is_refused() -> None:
    with pytest.raises(ImportError, match=r"json has no class Serializer"):
        load_serializer("json")


def test_one_federate_gets_a_value_through_one_serializer() -> None:
    program = connected(("y", "0", None, "one"), ("y", "1", None, "two"))

    together = analyze_cut(program, IN_TWO)
    apart = analyze_cut(
        program, Federation({"main.a": "a", "main.b[0]": "b", "main.b[1]": "c"})
    )

    assert apart.cut is not None
    assert [type(error) for error in together.errors] == [ProgramError]
    assert "main.a.y is connected to 'b' with the serializers 'one'" in str(
        together.errors[0]
    )


def test_serializers_are_part_of_the_cut_and_not_of_the_program() -> None:
    one, two = (connected(("y", "0", 0, name)) for name in ("one", "two"))

    assert one.digest == two.digest
    assert cut_program(one, IN_TWO).digest != cut_program(two, IN_TWO).digest


@pytest.mark.parametrize(
    "array",
    [
        np.arange(100_000.0),
        np.arange(3),
        np.array(["a", None], dtype=object),
        np.zeros((0, 3)),
        np.zeros(2, dtype="M8[s]"),
    ],
    ids=["large", "small", "objects", "empty", "dates"],
)
def test_arrays_can_be_changed_where_the_program_may(array: Any) -> None:
    sender = ValueCodec()
    message = Message(Kind.VALUE, value={"array": array})

    def received(*, writable: bool) -> Any:
        data, buffers = sender.encode(0, message)
        memory = tuple(memoryview(bytearray(each)) for each in buffers)  # as links do
        sent = message._replace(value=Payload(data, memory))
        return ValueCodec(writable=writable).decode(0, sent)["array"]

    frozen, changed = received(writable=False), received(writable=True)

    assert not frozen.flags.writeable
    assert changed.flags.writeable
    np.testing.assert_array_equal(changed, array)
