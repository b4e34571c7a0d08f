# SPDX-License-Identifier: Apache-2.0
"""Errors of one elaboration, which continues where it can to find all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reactorl.errors import DeclarationError, ProgramError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reactorl.position import Position

PROGRAM_ERRORS: Final = (DeclarationError, ProgramError)
"""Errors that are collected; any other exception ends elaboration."""

NO_REACTOR: Final = -1
"""Stands for a class, or the whole program, where no single instance is at fault."""


class ErrorCollector:
    """Errors in the order in which they were found.

    All instances of a class make the same mistake, so only the first one's is kept.
    """

    def __init__(self) -> None:
        self._errors: list[DeclarationError | ProgramError] = []
        self._first: dict[tuple[type, Position], int] = {}

    def add(
        self, error: DeclarationError | ProgramError, reactor: int = NO_REACTOR
    ) -> None:
        """Add an error.

        Args:
            error: The error.
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
