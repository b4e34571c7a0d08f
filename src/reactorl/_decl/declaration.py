# SPDX-License-Identifier: Apache-2.0
"""Base of all declarations: name, owner, source position, and mode if any."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from reactorl.errors import DeclarationError
from reactorl.position import Position, here

if TYPE_CHECKING:
    from reactorl._decl.mode import Mode


class Declaration:
    """A declaration in the body of a reactor class.

    The class body gives it its name, its owner and the mode it was written in.
    """

    __slots__ = ("mode", "name", "owner", "where")

    kind: ClassVar[str]

    def __init__(self) -> None:
        self.where: Position = here()
        self.name = ""
        self.owner = ""
        self.mode: Mode | None = None

    def adopt(self, name: str, owner: str, mode: Mode | None) -> None:
        """Take the name under which class ``owner`` declares this."""
        if self.name:
            msg = f"{self.label} is declared twice, the second time as {owner}.{name}"
            raise DeclarationError(
                msg,
                self.where,
                "Make a new one for each name.",
            )
        self.name = name
        self.owner = owner
        self.mode = mode

    @property
    def label(self) -> str:
        """Kind and name, e.g. ``input Actor.weights``."""
        return f"{self.kind} {self.owner}.{self.name}" if self.name else self.kind

    def __repr__(self) -> str:
        return f"<{self.label} at {self.where}>"
