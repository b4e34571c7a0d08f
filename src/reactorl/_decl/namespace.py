# SPDX-License-Identifier: Apache-2.0
"""The namespace of a class body while it runs: declarations in order, with modes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reactorl._decl.bank import Bank, Child
from reactorl._decl.declaration import Declaration
from reactorl._decl.mode import Mode
from reactorl._decl.port import PortDeclaration
from reactorl.errors import DeclarationError
from reactorl.position import here

if TYPE_CHECKING:
    from reactorl.position import Position

_SHARED = (list, dict, set, bytearray)


class Namespace(dict[str, Any]):
    """Names of a class body. Declarations are collected; none is replaced silently."""

    def __init__(self, owner: str) -> None:
        super().__init__()
        self.owner = owner
        self.where = here()
        self.declared: dict[str, Declaration] = {}
        self._mode: Mode | None = None

    def __setitem__(self, name: str, value: object) -> None:
        declaration = _as_declaration(value)
        if name in self.declared:
            self._refuse_second(name, self.declared[name])
        if declaration is not None:
            if name in self:
                self._refuse_second(name, None)
            if isinstance(declaration, PortDeclaration) and self._mode is not None:
                msg = f"port {self.owner}.{name} is declared in {self._mode.label}"
                raise DeclarationError(
                    msg,
                    declaration.where,
                    "Ports belong to the whole reactor: declare it before the modes.",
                )
            if isinstance(declaration, Mode):
                if self._mode is not None:
                    msg = f"mode {self.owner}.{name} is declared inside a mode"
                    raise DeclarationError(
                        msg,
                        declaration.where,
                        "Nest by putting a modal reactor in the mode.",
                    )
                declaration.namespace = self
            declaration.adopt(name, self.owner, self._mode)
            self.declared[name] = declaration
        elif isinstance(value, _SHARED) and not _is_dunder(name):
            msg = (
                f"{self.owner}.{name} is a {type(value).__name__} that all instances "
                "would share"
            )
            raise DeclarationError(
                msg,
                here(),
                f"Write {name} = state(factory=...), or a tuple for a constant.",
            )
        super().__setitem__(name, value)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        self.declared.pop(name, None)

    def _refuse_second(self, name: str, first: Declaration | None) -> None:
        what = f"{self.owner}.{name} is defined twice in one class body"
        if first is not None:
            what += f"; first as {first.kind} at {first.where}"
        raise DeclarationError(what, here(), "Give the second one another name.")

    def enter(self, mode: Mode, where: Position) -> None:
        """Make the following declarations belong to ``mode``."""
        if self._mode is not None:
            msg = f"`with {mode.name}` inside `with {self._mode.name}`"
            raise DeclarationError(
                msg,
                where,
                "Modes of one reactor exclude each other.",
            )
        self._mode = mode

    def leave(self) -> None:
        """End what ``enter`` began."""
        self._mode = None

    def close(self) -> None:
        """End the class body: ``with mode:`` is an error from here on."""
        for declaration in self.declared.values():
            if isinstance(declaration, Mode):
                declaration.namespace = None


def _as_declaration(value: object) -> Declaration | None:
    if isinstance(value, Declaration):
        return value
    if isinstance(value, Bank) or hasattr(type(value), "__reactor__"):
        return Child(value)
    return None


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
