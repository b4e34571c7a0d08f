# SPDX-License-Identifier: Apache-2.0
"""Timers and the other triggers that come from the run itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from reactorl._decl.declaration import Declaration

if TYPE_CHECKING:
    from reactorl.tag import Duration


class Timer(Declaration):
    """A trigger at ``offset`` after the start, then every ``period``; 0: once.

    Its tags are exact, at microstep 0, and carry no value. In a mode, the clock of a
    timer runs only while the mode is active.
    """

    __slots__ = ("offset", "period")
    kind: ClassVar[str] = "timer"

    def __init__(self, offset: Duration = 0, period: Duration = 0) -> None:
        super().__init__()
        self.offset = offset
        self.period = period


class Occasion:
    """A trigger that every reactor has: startup, shutdown or reset."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


startup: Final = Occasion("startup")
"""The first tag; in a mode, the tag at which the mode first becomes active."""

shutdown: Final = Occasion("shutdown")
"""The final tag; in a mode, only if the mode has ever been active."""

reset: Final = Occasion("reset")
"""The first tag after the enclosing mode was entered by reset."""
