# SPDX-License-Identifier: Apache-2.0
"""The metaclass of reactors: from a class statement to a reactor class.

Declarations leave the class's dictionary for ``cls.__reactor__``; ``cls.port`` still
finds them. So an attribute of a running instance (a port's view) hides nothing in its
class, and CPython reads it three times as fast.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from reactorl._decl.bank import Child
from reactorl._decl.classdecl import ClassDecl
from reactorl._decl.namespace import Namespace
from reactorl._decl.param import Param
from reactorl._decl.port import PortDeclaration
from reactorl._decl.reaction import Reaction, is_native
from reactorl.errors import DeclarationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reactorl._decl.declaration import Declaration

OVERRIDABLE = frozenset({"setup", "teardown", "build"})
"""Methods of Reactor that users override."""


class ReactorType(type):
    """The class of reactor classes."""

    __reactor__: ClassDecl

    @classmethod
    def __prepare__(
        mcls, name: str, bases: tuple[type, ...], /, **kwds: object
    ) -> Namespace:
        return Namespace(name)

    def __init__(
        cls,
        name: str,
        bases: tuple[type, ...],
        body: Mapping[str, Any],
        /,
        *,
        free_names: bool = False,
        **kwds: object,
    ) -> None:
        del free_names
        super().__init__(name, bases, dict(body), **kwds)

    def __new__(
        mcls,
        name: str,
        bases: tuple[type, ...],
        body: Mapping[str, Any],
        /,
        *,
        free_names: bool = False,
        **kwds: object,
    ) -> ReactorType:
        """Make the class.

        ``free_names`` is for front ends whose users do not know ``Reactor``: elements
        may have any name. Where one hides an attribute of ``Reactor``, it is
        found only in the instance's dictionary.
        """
        if not isinstance(body, Namespace):  # type(Reactor)(name, bases, {...})
            given, body = body, Namespace(name)
            for key, value in given.items():
                body[key] = value
        body.close()
        declared = body.declared
        reactor_bases = [base for base in bases if isinstance(base, ReactorType)]
        if reactor_bases and not free_names:
            _check_names(body, reactor_bases)
        content = {k: v for k, v in body.items() if k not in declared}
        for key, declaration in declared.items():
            if isinstance(declaration, Reaction):
                _name_native(declaration, key, body)
                content[key] = declaration.body
            elif isinstance(declaration, Param) and not (
                free_names and hasattr(reactor_bases[0], key)
            ):
                content[key] = property(attrgetter(f"_p_{key}"))
        cls = super().__new__(mcls, name, bases, content, **kwds)
        root = _root(cls)
        cls.__reactor__ = ClassDecl(
            name,
            body.where,
            declared,
            [base.__reactor__ for base in reactor_bases],
            has_build=getattr(cls, "build", None) is not getattr(root, "build", None),
        )
        cls.__reactor__.free_names = free_names or any(
            base.__reactor__.free_names for base in reactor_bases
        )
        _check_inherited(cls.__reactor__, body)
        cls.__reactor__.settle()
        return cls

    if not TYPE_CHECKING:  # type checkers know the attributes of each class

        def __getattr__(cls, name: str) -> Any:  # noqa: ANN401
            """Return the declaration ``name`` of this class."""
            if not name.startswith("__"):
                found: Declaration | None = cls.__reactor__.elements.get(name)
                if found is not None:
                    return found.handle if isinstance(found, Child) else found
            msg = f"reactor class {cls.__name__!r} has no attribute {name!r}"
            raise AttributeError(msg, name=name, obj=cls)

    def __dir__(cls) -> list[str]:
        return sorted({*super().__dir__(), *cls.__reactor__.elements})


def _name_native(reaction: Reaction, key: str, body: Mapping[str, Any]) -> None:
    """Give native bodies the names that methods in their place would have."""
    module, owner = body.get("__module__", ""), body.get("__qualname__", "")
    if is_native(reaction.body):
        native: Any = reaction.body
        reaction.body = native.named(module, f"{owner}.{key}")
    if is_native(reaction.handler):
        native = reaction.handler
        names = (name for name, value in body.items() if value is native)
        name = next(names, f"{key}.deadline_handler")
        reaction.handler = native.named(module, f"{owner}.{name}")


def _root(cls: type) -> type:
    """Return Reactor, the first class of this kind."""
    return [base for base in cls.__mro__ if isinstance(base, ReactorType)][-1]


def _check_names(body: Namespace, bases: list[ReactorType]) -> None:
    root = _root(bases[0])
    if "__init__" in body or "__new__" in body:
        msg = f"{body.owner} defines __init__ or __new__"
        raise DeclarationError(
            msg,
            body.where,
            "Parameters are declared with param(); state is made in setup().",
        )
    for name in body:
        declaration = body.declared.get(name)
        where = body.where if declaration is None else declaration.where
        if name.startswith("__") and declaration is None:
            continue
        if name == "bank_index" and isinstance(declaration, Param):
            continue
        ours = name in root.__dict__ or name.startswith(("_p_", "__"))
        if ours or name in INSTANCE_NAMES:
            if declaration is None and name in OVERRIDABLE:
                continue
            msg = f"{body.owner}.{name}: the name {name!r} is reserved by Reactor"
            raise DeclarationError(
                msg,
                where,
                "Choose another name.",
            )
        if declaration is None:
            continue
        if isinstance(declaration, PortDeclaration) and name.startswith("_"):
            msg = f"{declaration.label} starts with an underscore"
            remedy = "Ports are public; choose a name without underscore."
            raise DeclarationError(msg, where, remedy)
        for base in bases:
            for ancestor in base.__mro__:
                taken = ancestor.__dict__.get(name)
                if taken is not None and name not in base.__reactor__.elements:
                    msg = f"{declaration.label} would hide {ancestor.__name__}.{name}"
                    raise DeclarationError(
                        msg,
                        where,
                        "Choose another name.",
                    )


INSTANCE_NAMES = frozenset(
    {
        "_context",
        "_node",
        "_params",
        "_given",
        "_where",
        "_label",
        "_widths",
        "_builder",
    }
)


def _check_inherited(decl: ClassDecl, body: Namespace) -> None:
    for name in body:
        inherited = decl.elements.get(name)
        if inherited is not None and name not in body.declared:
            remedy = "Choose another name."
            if isinstance(inherited, Param):
                remedy = f"To change the default write {name} = param(...)."
            msg = (
                f"{decl.name}.{name} would hide {inherited.label} at {inherited.where}"
            )
            raise DeclarationError(
                msg,
                body.where,
                remedy,
            )
