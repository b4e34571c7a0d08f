# SPDX-License-Identifier: Apache-2.0
"""Watchdogs: alarms on the wall clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, overload

from reactorl._decl.declaration import Declaration
from reactorl.errors import DeclarationError
from reactorl.position import here

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reactorl._decl.action import ActionDeclaration
    from reactorl.tag import Duration

F = TypeVar("F", bound="Callable[[Any], object]")

if TYPE_CHECKING:

    class WatchdogControl:
        """A watchdog as a reaction sees it."""

        def start(self, extra: Duration = 0) -> None:
            """Expire at the current logical time plus timeout plus ``extra``.

            A second start moves the expiry.
            """

        def stop(self) -> None:
            """Do not expire."""
else:

    class WatchdogControl:
        """A watchdog as a reaction sees it; the runtime supplies the object."""


class Watchdog(Declaration):
    """An alarm: ``dog = Watchdog(sec(1), effects=[alarm])`` and ``@dog.handler``.

    Reactions that list it as an effect start and stop it. The handler runs when the
    physical clock passes the expiry, on a thread of its own, while no reaction of the
    reactor runs. It is not at a tag: it may only schedule the actions in ``effects``.
    """

    __slots__ = ("effects", "handling", "timeout")
    kind: ClassVar[str] = "watchdog"

    def __init__(
        self,
        timeout: Duration,
        *,
        effects: Sequence[ActionDeclaration | str] = (),
    ) -> None:
        super().__init__()
        self.timeout = timeout
        self.effects = tuple(effects)
        self.handling: Callable[[Any], object] | None = None

    def handler(self, function: F) -> F:
        """Make ``function``, a method, run when the watchdog expires."""
        if self.handling is not None:
            msg = f"{self.label} has two handlers"
            raise DeclarationError(msg, here())
        self.handling = function
        return function

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: object) -> Self: ...
        @overload
        def __get__(self, instance: object, owner: object) -> WatchdogControl: ...
        def __get__(self, instance: object, owner: object) -> Any: ...
