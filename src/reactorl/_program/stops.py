# SPDX-License-Identifier: Apache-2.0
"""Which reactions may end the program: known before a run from their code.

Federates must know whose stop they may have to wait for. A reaction says so itself
(``@reaction(..., stops=True)``), or its code is searched for the name
``request_stop``, with the functions of its module and the methods of its class that it
names. What is hidden better than that, such as by ``getattr``, is an error when it
happens, never a wrong result.
"""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reactorl._program.program import ReactionNode

_ENDS: Final = (frozenset({"request_stop"}), frozenset({"lf", "stop"}))
"""Names that occur together in code that ends the program."""


def may_stop(reaction: ReactionNode, cls: type) -> bool:
    """Return whether a reaction of class ``cls`` may call ``request_stop()``."""
    if reaction.stops is not None:
        return reaction.stops
    bodies = (reaction.body, reaction.handler)
    return any(_reaches(body, cls) for body in bodies if body is not None)


def _reaches(body: object, cls: type) -> bool:
    todo = [body]
    if (start := _plain(body)) is not None and _body_self(cls) is not None:
        # Objects of these classes are reached by attributes, which have any names.
        of = start.__globals__
        for each in _classes(of, of.get("__name__", "")):
            todo += vars(each).values()
    seen: set[int] = set()
    while todo:
        function = _plain(todo.pop())
        if function is None or id(function.__code__) in seen:
            continue
        seen.add(id(function.__code__))
        names = set(_names(function.__code__))
        if any(ending <= names for ending in _ENDS):
            return True
        todo += [function.__globals__.get(name) for name in sorted(names)]
        todo += [_member(cls, name) for name in sorted(names)]
        for cell in function.__closure__ or ():
            try:
                todo.append(cell.cell_contents)
            except ValueError:  # not set yet
                continue
    return False


def _plain(thing: object) -> FunctionType | None:
    """Return the function that is called if ``thing`` is."""
    for attribute in ("func", "__func__", "__wrapped__", "fget", "_function"):
        inner = getattr(thing, attribute, None)
        if isinstance(inner, FunctionType):
            return inner
    return thing if isinstance(thing, FunctionType) else None


def _member(cls: type, name: str) -> Any:  # noqa: ANN401
    """Return a member of a reactor class that its author wrote."""
    for base in cls.__mro__:
        if base.__module__.startswith("reactorl._decl"):
            break
        if name in vars(base):
            return vars(base)[name]
    return getattr(_body_self(cls), name, None)


def _body_self(cls: type) -> type | None:
    """Return the class of ``self`` in bodies, if that is not the reactor class."""
    find: Any = getattr(cls, "__body_self__", None)
    found: type | None = None if find is None else find()
    return found


def _classes(names: dict[str, Any], module: str) -> Iterator[type]:
    """Yield the classes that a module defines, among the names that it has."""
    for thing in names.values():
        if isinstance(thing, type) and thing.__module__ == module:
            yield thing


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names in a function's code and in the functions inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
