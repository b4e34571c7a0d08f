# SPDX-License-Identifier: Apache-2.0
"""What elaboration found wrong: it goes on where it can, to find all of it at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reactorl.errors import DeclarationError, ProgramError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reactorl.position import Position

FAULTS: Final = (DeclarationError, ProgramError)
"""What is noted where it is caught; anything else ends elaboration."""

NO_REACTOR: Final = -1
"""Stands for a class, or the whole program, where no one instance is at fault."""


class Faults:
    """Errors of one elaboration, in the order in which they were found.

    All instances of a class make the same mistake: only the first one's counts.
    """

    def __init__(self) -> None:
        self._errors: list[DeclarationError | ProgramError] = []
        self._first: dict[tuple[type, Position], int] = {}

    def note(
        self, error: DeclarationError | ProgramError, reactor: int = NO_REACTOR
    ) -> None:
        """Add an error.

        Args:
            error: What is wrong.
            reactor: Id of the instance at which it was found.
        """
        if error.where is not None:
            key = type(error), error.where
            if self._first.setdefault(key, reactor) != reactor:
                return
        self._errors.append(error)

    def __iter__(self) -> Iterator[DeclarationError | ProgramError]:
        return iter(self._errors)

    def __bool__(self) -> bool:
        return bool(self._errors)

    def as_error(self) -> DeclarationError | ProgramError:
        """Return the first error; its notes tell the others."""
        first, *others = self._errors
        for other in others:
            first.add_note(f"Also: {other}")
        return first
