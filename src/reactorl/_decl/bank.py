# SPDX-License-Identifier: Apache-2.0
"""Banks: one reactor class, many members, one name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

from reactorl._decl.connection import PortRef
from reactorl._decl.declaration import Declaration
from reactorl.errors import DeclarationError, UnknownNameError, WidthError
from reactorl.position import here

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from reactorl._decl.port import Width
    from reactorl._decl.reactor import Reactor
    from reactorl.position import Position

R = TypeVar("R", bound="Reactor")


class Bank(Generic[R]):
    """A row of reactors of one class; ``bank.port`` stands for that port of each.

    Its own names start with an underscore, so that they do not hide a port.
    """

    _is_bank = True

    def __init__(self, member: R, width: Width, each: object, where: Position) -> None:
        self._member = member  # configuration shared by all members
        self._width = width
        self._each = each
        self._where = where
        self._label = type(member).__name__

    def __len__(self) -> int:
        if isinstance(self._width, int):
            return self._width
        msg = f"the width of the bank of {self._label} is unknown in the class body"
        raise WidthError(
            msg,
            here(),
            "Use it in build(), where self has parameters.",
        )

    def __getitem__(self, index: int) -> R:
        if isinstance(self._width, int) and not 0 <= index < self._width:
            msg = (
                f"index of bank {self._label} must be from 0 to {self._width - 1}, "
                f"got {index}"
            )
            raise WidthError(
                msg,
                here(),
            )
        return cast("R", Member(self, index))

    def __iter__(self) -> Iterator[R]:
        return (self[index] for index in range(len(self)))

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return _port(self, name, None)


class Member:
    """One member of a bank, by index; its attributes are its ports."""

    def __init__(self, bank: Bank[Any], index: int) -> None:
        self._bank = bank
        self._index = index

    def __getattr__(self, name: str) -> PortRef:
        return _port(self._bank, name, self._index)


def _port(bank: Bank[Any], name: str, member: int | None) -> PortRef:
    if name.startswith("_"):
        raise AttributeError(name)
    cls = type(bank._member)
    for port in cls.__reactor__.ports:
        if port.name == name:
            return PortRef(bank, port, member)
    known = tuple(port.name for port in cls.__reactor__.ports)
    raise UnknownNameError(name, f"bank of {cls.__name__}", known, here())


class Child(Declaration):
    """A contained reactor or bank, with the configuration of its members."""

    __slots__ = ("cls", "each", "given", "handle", "width")
    kind: ClassVar[str] = "reactor"

    def __init__(self, handle: Any) -> None:  # noqa: ANN401
        super().__init__()
        self.handle = handle
        self.where = handle._where
        member = handle._member if isinstance(handle, Bank) else handle
        self.cls: type[Reactor] = type(member)
        self.given: Mapping[str, Any] = member._given
        self.width: Width | None = handle._width if isinstance(handle, Bank) else None
        self.each: Callable[..., Mapping[str, Any]] | None = getattr(
            handle, "_each", None
        )


def configured(
    reactor: type[R] | R, params: Mapping[str, Any], *, partial: bool = False
) -> R:
    """Return ``reactor`` as a configured reactor: called if it is a class.

    ``partial`` if each member of a bank adds parameters of its own.

    Raises:
        DeclarationError: It is not a reactor, or it already has its parameters.
    """
    if isinstance(reactor, type) and hasattr(reactor, "__reactor__"):
        made = reactor.__new__(reactor)
        made._configure(params, partial=partial)
        return made
    if not hasattr(type(reactor), "__reactor__"):
        msg = f"expected a reactor class or a reactor, got {reactor!r}"
        raise DeclarationError(msg, here())
    if params:
        msg = f"parameters for {type(reactor).__name__} are given in two places"
        raise DeclarationError(
            msg,
            here(),
            "Give them in one call only.",
        )
    return cast("R", reactor)


def bank(
    reactor: type[R] | R,
    *,
    width: Width,
    each: Callable[[Any, int], Mapping[str, Any]] | None = None,
    **params: Any,  # noqa: ANN401
) -> Bank[R]:
    """Declare a row of reactors in a class body.

    ``actors = bank(Actor, width=width)``

    Members are made in index order and know their ``bank_index``.

    Args:
        reactor: The class of the members, or one reactor as the model for all.
        width: How many; may depend on the parameters of the enclosing class.
        each: Called with the enclosing reactor (which has its parameters) and the
            index, returns the parameters in which this member differs.
        params: Parameters of all members, if ``reactor`` is a class.
    """
    member = configured(reactor, params, partial=each is not None)
    return Bank(member, width, each, here())
