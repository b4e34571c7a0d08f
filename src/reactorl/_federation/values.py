# SPDX-License-Identifier: Apache-2.0
"""Values of one federate's links as bytes: which serializer each of them goes through.

Most are pickled, see ``codec.py``. A connection of an LF program may name a serializer:
a module with a class ``Serializer`` that has ``serialize(value) -> bytes`` and
``deserialize(bytes)``; what it returns is pickled in turn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from reactorl._federation.codec import Payload, decode, encode
from reactorl._federation.link_errors import CodecError
from reactorl._federation.messages import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reactorl._federation.messages import Message
    from reactorl._program.cut import Cut
    from reactorl._program.program import Program


class Serializer(Protocol):
    """What a module of a serializer has to contain, as a class of this name."""

    def serialize(self, value: object) -> bytes:
        """Return a value as bytes."""

    def deserialize(self, data: bytes) -> object:
        """Return the value of bytes."""


def load_serializer(name: str) -> Serializer:
    """Return the serializer of a module.

    Raises:
        ImportError: There is no such module, or it has no class ``Serializer``.
    """
    made = getattr(import_module(name), "Serializer", None)
    for method in ("serialize", "deserialize"):
        if not callable(getattr(made, method, None)):
            msg = f"module {name} has no class Serializer with a method {method}()"
            raise ImportError(msg, name=name)
    found: Serializer = made()  # type: ignore[misc]  # it is callable
    return found


class ValueCodec:
    """Encodes and decodes the values of one federate's links.

    Args:
        writable: Whether received arrays can be changed: values of LF programs are not
            frozen.
        serializers: (peer, kind, index of the message) -> the serializer of its value.
    """

    def __init__(
        self,
        *,
        writable: bool = False,
        serializers: Mapping[tuple[int, Kind, int], Serializer] | None = None,
    ) -> None:
        self._writable = writable
        self._serializers = dict(serializers or {})
        self._last: tuple[object, Serializer | None, Payload] | None = None

    @classmethod
    def of(
        cls, program: Program, cut: Cut, federate: int, *, writable: bool
    ) -> ValueCodec:
        """Return the codec of a federate.

        Raises:
            ImportError: A serializer cannot be imported.
        """
        first_stage = len(program.timers) + len(program.actions)
        loaded: dict[str, Serializer] = {}
        found: dict[tuple[int, Kind, int], Serializer] = {}
        for link in cut.links:
            if federate not in (link.source, link.target):
                continue
            peer = link.target if federate == link.source else link.source
            # A peer is at the other end of up to two links; kinds and places of what is
            # sent and received are distinguished by the sign.
            sign = 1 if federate == link.source else -1
            for index, slot in enumerate(link.slots):
                if name := link.serializers.get(("slot", slot.channel)):
                    key = peer, Kind.VALUE, sign * (index + 1)
                    found[key] = _load(name, loaded)
            for kind, stages in (
                (Kind.LATE, link.stages),
                (Kind.PHYSICAL, link.physical),
            ):
                for stage in stages:
                    if name := link.serializers.get(("stage", stage)):
                        key = peer, kind, sign * (first_stage + stage + 1)
                        found[key] = _load(name, loaded)
        return cls(writable=writable, serializers=found)

    def encode(self, peer: int, message: Message) -> Payload:
        """Return the value of a message to a peer.

        What one batch of messages sends to several federates is encoded once; call
        ``forget`` after it.

        Raises:
            CodecError: The value cannot be serialized.
        """
        value = message.value
        serializer = self._find(peer, message, 1)
        last = self._last
        if last is None or last[0] is not value or last[1] is not serializer:
            if serializer is None:
                payload = encode(value)
            else:
                payload = encode(_called(serializer.serialize, value, "serializing"))
            self._last = last = (value, serializer, payload)
        return last[2]

    def forget(self) -> None:
        """Note that values may change from now on."""
        self._last = None

    def decode(self, peer: int, message: Message) -> Any:  # noqa: ANN401
        """Return the value of a message from a peer.

        Raises:
            CodecError: The value cannot be made here.
        """
        payload = message.value
        assert isinstance(payload, Payload)
        value = decode(*payload, writable=self._writable)
        serializer = self._find(peer, message, -1)
        if serializer is None:
            return value
        return _called(serializer.deserialize, value, "deserializing")

    def _find(self, peer: int, message: Message, sign: int) -> Serializer | None:
        if not self._serializers:
            return None
        key = peer, message.kind, sign * (message.place + 1)
        return self._serializers.get(key)


def _load(name: str, loaded: dict[str, Serializer]) -> Serializer:
    if name not in loaded:
        loaded[name] = load_serializer(name)
    return loaded[name]


def _called(function: Any, value: object, doing: str) -> Any:  # noqa: ANN401
    try:
        return function(value)
    except Exception as error:
        name = f"{type(error).__name__}: {error}"
        module = type(function.__self__).__module__
        msg = f"{doing} a value with the serializer {module} failed: {name}"
        raise CodecError(msg, "Correct the serializer, or leave it out.") from error
