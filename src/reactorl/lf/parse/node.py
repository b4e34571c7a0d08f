# SPDX-License-Identifier: Apache-2.0
"""What nodes of the syntax tree have in common, made when it is needed.

To type checkers, readers and ``dataclasses`` a node is a frozen dataclass with slots.
There are dozens of classes of them, and a small program needs few: ``dataclass`` would
write and compile methods of all, which took a third of the time to say hello.
"""

from __future__ import annotations

import dataclasses
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
class NodeType(type):
    """The type of all classes of nodes: their annotations are their fields.

    Attributes:
        __node_fields__: The fields by name, those of the base first.
        __node_key__: Returns what counts when nodes are compared.
    """

    __node_fields__: dict[str, dataclasses.Field[Any]]
    __node_key__: Callable[[object], object]

    def __new__(
        cls, name: str, bases: tuple[type, ...], names: dict[str, Any]
    ) -> NodeType:
        """Make a class with a slot per field; its ``__init__`` follows on first use."""
        own = {
            field: _field(field, kind, names.pop(field, dataclasses.MISSING))
            for field, kind in names.get("__annotations__", {}).items()
            if not kind.startswith("ClassVar")
        }
        fields: dict[str, dataclasses.Field[Any]] = {}
        for base in bases:
            fields |= getattr(base, "__node_fields__", {})
        fields |= own
        positional = tuple(n for n, field in fields.items() if not field.kw_only)
        names |= {
            "__slots__": tuple(own),
            "__match_args__": positional,
            "__init__": _first_init,
        }
        made = super().__new__(cls, name, bases, names)
        made.__node_fields__ = fields
        compared = [n for n, field in fields.items() if field.compare]
        made.__node_key__ = attrgetter(*compared) if compared else _nothing
        return made


def _field(name: str, kind: Any, given: Any) -> dataclasses.Field[Any]:  # noqa: ANN401
    field: dataclasses.Field[Any] = (
        given
        if isinstance(given, dataclasses.Field)
        else dataclasses.field(default=given)
    )
    field.name, field.type = name, kind
    field.kw_only = field.kw_only is True
    return field


def _nothing(_node: object) -> object:
    return ()


def _first_init(self: Any, *args: object, **kwargs: object) -> None:  # noqa: ANN401
    cls = type(self)
    cls.__init__ = _init_of(cls.__node_fields__)
    cls.__init__(self, *args, **kwargs)


def _init_of(fields: dict[str, dataclasses.Field[Any]]) -> Callable[..., None]:
    """Return the function that gives a node its fields."""
    names: dict[str, Any] = {"_set": object.__setattr__}
    params: list[str] = []
    for name, field in sorted(fields.items(), key=lambda item: item[1].kw_only is True):
        if field.kw_only and "*" not in params:
            params.append("*")
        params.append(name)
        if field.default is not dataclasses.MISSING:
            names[f"_{name}"] = field.default
            params[-1] = f"{name}=_{name}"
    lines = [f"  _set(self, {name!r}, {name})" for name in fields]
    exec("\n".join([f"def __init__(self, {', '.join(params)}):", *lines]), names)
    init: Callable[..., None] = names["__init__"]
    return init


@cache
def _dataclass_fields(cls: NodeType) -> dict[str, Any]:
    described = [
        (
            name,
            field.type,
            dataclasses.field(
                default=field.default,
                compare=field.compare,
                repr=field.repr,
                kw_only=field.kw_only is True,
            ),
        )
        for name, field in cls.__node_fields__.items()
    ]
    made: Any = dataclasses.make_dataclass(cls.__name__, described)
    found: dict[str, Any] = made.__dataclass_fields__
    return found


class _DataclassFields:
    """``__dataclass_fields__``, for ``dataclasses.fields`` and ``replace``."""

    def __get__(self, node: object, cls: NodeType) -> dict[str, Any]:
        return _dataclass_fields(cls)


class FrozenNode(metaclass=NodeType):
    """A node that cannot be changed, equal to others that say the same."""

    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]
    else:
        __dataclass_fields__ = _DataclassFields()

    def __eq__(self, other: object) -> bool:
        cls = self.__class__
        if other.__class__ is not cls:
            return NotImplemented
        return cls.__node_key__(self) == cls.__node_key__(other)

    def __hash__(self) -> int:
        return hash(self.__class__.__node_key__(self))

    def __repr__(self) -> str:
        shown = [
            f"{name}={getattr(self, name)!r}"
            for name, field in self.__class__.__node_fields__.items()
            if field.repr
        ]
        return f"{self.__class__.__name__}({', '.join(shown)})"

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse a change."""
        msg = f"cannot assign to field {name!r}"
        raise dataclasses.FrozenInstanceError(msg)

    def __delattr__(self, name: str) -> None:
        """Refuse a change."""
        msg = f"cannot delete field {name!r}"
        raise dataclasses.FrozenInstanceError(msg)

    def __reduce__(self) -> tuple[object, ...]:
        """Return how to make it again, for ``copy`` and ``pickle``."""
        cls = self.__class__
        return _restored, (
            cls,
            {name: getattr(self, name) for name in cls.__node_fields__},
        )


def _restored(cls: type[FrozenNode], content: dict[str, Any]) -> FrozenNode:
    return cls(**content)
