# SPDX-License-Identifier: Apache-2.0
"""Connections: references to ports of reactors, and statements that join them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from reactorl._decl.param import resolve
from reactorl.errors import DeclarationError, WidthError, WiringError
from reactorl.position import here

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reactorl._decl.mode import Mode
    from reactorl._decl.port import PortDeclaration
    from reactorl.position import Position
    from reactorl.tag import Duration

R = TypeVar("R")


@dataclass(frozen=True, slots=True, eq=False)
class PortRef:
    """A port of a reactor that does not run: to be connected or named in a signature.

    ``holder`` is the reactor (or bank) object through which it was named.
    """

    holder: Any
    port: PortDeclaration
    member: int | None = None  # of a bank; None: all members
    channel: int | None = None  # of a multiport; None: all channels
    interleave: bool = False  # channel-major instead of member-major

    @property
    def whole_bank(self) -> bool:
        """Whether it stands for this port of every member of a bank."""
        return self.member is None and getattr(self.holder, "_is_bank", False)

    @property
    def width(self) -> int:
        """How many channels it has, or, for a bank's port, how many members."""
        if self.whole_bank:
            return len(self.holder)
        if not self.port.is_multi:
            msg = f"{self} is not a multiport; it has no width"
            raise WiringError(msg, here())
        if self.channel is not None:
            msg = f"{self} is one channel; it has no width"
            raise WiringError(msg, here())
        return width_of(self.holder, self.port)

    def __len__(self) -> int:
        return self.width

    def __getitem__(self, index: int) -> PortRef:
        if index < 0:
            msg = f"index of {self} must not be negative, got {index!r}"
            raise WiringError(msg, here(), "Count from 0.")
        if self.whole_bank:
            return replace(self, member=index)
        if not self.port.is_multi or self.channel is not None:
            msg = f"{self} is one channel; it has no [{index}]"
            raise WiringError(msg, here())
        return replace(self, channel=index)

    def __iter__(self) -> Iterator[PortRef]:
        return (self[index] for index in range(self.width))

    def __str__(self) -> str:
        # The label of the reactor that connects is empty: its ports are named alone.
        owner = getattr(self.holder, "_label", type(self.holder).__name__)
        member = "" if self.member is None else f"[{self.member}]"
        channel = "" if self.channel is None else f"[{self.channel}]"
        name = f"{owner}{member}.{self.port.name}{channel}".removeprefix(".")
        return f"interleaved({name})" if self.interleave else name

    def _not_running(self) -> NoReturn:
        msg = f"{self} has no value: the program does not run yet"
        raise DeclarationError(
            msg,
            here(),
            "Read and set ports in reactions.",
        )

    @property
    def value(self) -> NoReturn:
        """Raise: ports have values in reactions only."""
        self._not_running()

    @property
    def is_present(self) -> NoReturn:
        """Raise: ports are present in reactions only."""
        self._not_running()

    def set(self, value: object) -> NoReturn:
        """Raise: only reactions set ports."""
        del value
        self._not_running()


def width_of(holder: Any, port: PortDeclaration) -> int:  # noqa: ANN401
    """Return the width of a multiport of a reactor that is being built.

    Raises:
        WidthError: It takes its width from a connection that is not made yet.
    """
    known: dict[str, int] | None = getattr(holder, "_widths", None)
    if known is not None and port.name in known:
        return known[port.name]
    if port.width is None:
        msg = f"the width of {port.label} is taken from its connection"
        raise WidthError(
            msg,
            port.where,
            "It is unknown until then; declare a width to use it here.",
        )
    return evaluate_width(port.width, holder, port.label, port.where)


MAX_WIDTH = 1_000_000
"""Upper bound of a width. A larger one is a mistake that would exhaust memory."""

MAX_REACTORS = 2 * MAX_WIDTH
"""Upper bound of the reactors of a program: nested banks multiply their widths."""

MAX_CHANNELS = 16 * MAX_WIDTH
"""Upper bound of the channels of all ports of a program."""


def evaluate_width(width: object, owner: Any, what: str, where: Position) -> int:  # noqa: ANN401
    """Return a width as a number, for the parameters of ``owner``.

    Raises:
        WidthError: It is not an int, negative, or more than ``MAX_WIDTH``.
    """
    value = width(owner) if callable(width) else resolve(width, owner._params)
    if isinstance(value, bool) or not isinstance(value, int):
        msg = f"the width of {what} must be an int, got {value!r}"
        raise WidthError(msg, where)
    if value < 0:
        msg = f"the width of {what} must not be negative, got {value}"
        raise WidthError(msg, where)
    if value > MAX_WIDTH:
        msg = f"the width of {what} must be at most {MAX_WIDTH}, got {value}"
        raise WidthError(msg, where, "A program of that size would exhaust memory.")
    return value


@dataclass(frozen=True, slots=True)
class Connect:
    """One connect() statement of one reactor instance.

    Attributes:
        apart: Whether each target reactor receives, and stamps, values by itself.
        serializer: The module that serializes values between federates.
    """

    sources: tuple[PortRef, ...]
    targets: tuple[PortRef, ...]
    after: Duration | None
    physical: bool
    broadcast: bool
    mode: Mode | None
    where: Position
    apart: bool = False
    serializer: str | None = None


def port_refs(side: object, where: Position) -> tuple[PortRef, ...]:
    """Return one side of a connect() as a flat tuple of references.

    Raises:
        WiringError: It holds something that is not a port.
    """
    items = side if isinstance(side, list | tuple) else [side]
    for item in items:
        if not isinstance(item, PortRef):
            msg = f"arguments of connect() must be ports, got {item!r}"
            raise WiringError(
                msg,
                where,
                "Write connect(self.child.out, self.other.inp).",
            )
    return tuple(items)


def interleaved(port: R) -> R:
    """List a bank's multiport channel by channel instead of member by member.

    For members 0, 1 and channels a, b: 0a 1a 0b 1b. ``connect(nodes.out,
    interleaved(nodes.inp))`` joins every member with every other.

    Raises:
        WiringError: It is not a multiport of a whole bank.
    """
    if not isinstance(port, PortRef) or not port.whole_bank or not port.port.is_multi:
        msg = f"argument of interleaved() must be a multiport of a bank, got {port}"
        raise WiringError(
            msg,
            here(),
        )
    return replace(port, interleave=True)
