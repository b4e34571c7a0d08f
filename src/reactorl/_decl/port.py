# SPDX-License-Identifier: Apache-2.0
"""Ports: the only interface of a reactor. A value set at a tag is read at that tag.

On a class, a port is its declaration. In a class body or ``build()``, a port of a
reactor is a reference that can be connected. In a reaction it is a ``Port``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Self,
    TypeAlias,
    TypeVar,
    overload,
)

from reactorl._decl.declaration import Declaration
from reactorl._decl.dtype import dtype_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reactorl._decl.dtype import DTypeLike

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
T_contra = TypeVar("T_contra", contravariant=True)

Width: TypeAlias = int | Callable[[Any], int]
"""A number of channels or members: an int, a parameter, or a function of self."""


class Source(Generic[T_co]):
    """What values come out of, in a connection."""


class Sink(Generic[T_contra]):
    """What takes values, in a connection."""


if TYPE_CHECKING:

    class Port(Source[T], Sink[T]):
        """A port as a reaction sees it. It is the same all through one tag."""

        @property
        def value(self) -> T:
            """What was set at this tag; if absent, what was set last, or None."""

        @property
        def is_present(self) -> bool:
            """Whether the port was set at the current tag."""

        def set(self, value: T) -> None:
            """Make the port present with ``value``, at the current tag.

            Readers run later in the same tag and see what was set last. The object
            itself is handed over: do not change it afterwards.
            """

    class MultiPort(Source[T], Sink[T]):
        """A row of ports under one name."""

        @property
        def width(self) -> int:
            """How many channels there are."""

        @property
        def is_present(self) -> bool:
            """Whether any channel is present at the current tag."""

        def __len__(self) -> int: ...
        def __getitem__(self, index: int) -> Port[T]: ...
        def __iter__(self) -> Iterator[Port[T]]: ...

        def values(self) -> list[T]:
            """Return the values of the present channels, by channel."""

        def present(self) -> Iterator[tuple[int, Port[T]]]:
            """Iterate over the present channels, by channel."""
else:

    class Port(Source, Sink, Generic[T]):
        """A port as a reaction sees it; the runtime supplies the object."""

    class MultiPort(Source, Sink, Generic[T]):
        """A row of ports under one name; the runtime supplies the object."""


class PortDeclaration(Declaration):
    """A port, input or output, plain or multi."""

    # Where ``Input[float]()`` leaves what it was called as, for diagrams.
    __slots__ = ("__orig_class__", "dtype", "mutable", "width")

    is_input: ClassVar[bool]
    is_multi: ClassVar[bool]

    def __init__(
        self,
        *,
        width: Width | None = None,
        mutable: bool = False,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.dtype = dtype_of(dtype)
        self.width = width
        self.mutable = mutable


class Input(PortDeclaration, Generic[T]):
    """An input, set from outside: ``reward = Input[float]()``.

    With ``mutable=True`` each reaction that reads it gets a private deep copy. With a
    ``dtype``, such as ``"float64[4]"``, native bodies can use the port.
    """

    __slots__ = ()
    kind: ClassVar[str] = "input"
    is_input = True
    is_multi = False

    def __init__(
        self, *, mutable: bool = False, dtype: DTypeLike | None = None
    ) -> None:
        super().__init__(mutable=mutable, dtype=dtype)

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: object) -> Self: ...
        @overload
        def __get__(self, instance: object, owner: object) -> Port[T]: ...
        def __get__(self, instance: object, owner: object) -> Any: ...


class Output(PortDeclaration, Generic[T]):
    """An output, set by this reactor: ``mean = Output[float]()``.

    With a ``dtype``, such as ``"float64[4]"``, native bodies can use the port.
    """

    __slots__ = ()
    kind: ClassVar[str] = "output"
    is_input = False
    is_multi = False

    def __init__(self, *, dtype: DTypeLike | None = None) -> None:
        super().__init__(dtype=dtype)

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: object) -> Self: ...
        @overload
        def __get__(self, instance: object, owner: object) -> Port[T]: ...
        def __get__(self, instance: object, owner: object) -> Any: ...


class MultiInput(PortDeclaration, Generic[T]):
    """A row of inputs: ``batches = MultiInput[Batch](width)``.

    Without a width it is as wide as what the enclosing reactor connects to it, in
    one statement; unconnected, it has no channels. A ``dtype`` is that of a channel.
    """

    __slots__ = ()
    kind: ClassVar[str] = "input"
    is_input = True
    is_multi = True

    def __init__(
        self,
        width: Width | None = None,
        *,
        mutable: bool = False,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(width=width, mutable=mutable, dtype=dtype)

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: object) -> Self: ...
        @overload
        def __get__(self, instance: object, owner: object) -> MultiPort[T]: ...
        def __get__(self, instance: object, owner: object) -> Any: ...


class MultiOutput(PortDeclaration, Generic[T]):
    """A row of outputs: ``weights = MultiOutput[Array](width)``.

    A ``dtype`` is that of a channel.
    """

    __slots__ = ()
    kind: ClassVar[str] = "output"
    is_input = False
    is_multi = True

    def __init__(self, width: Width, *, dtype: DTypeLike | None = None) -> None:
        super().__init__(width=width, dtype=dtype)

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: object) -> Self: ...
        @overload
        def __get__(self, instance: object, owner: object) -> MultiPort[T]: ...
        def __get__(self, instance: object, owner: object) -> Any: ...
