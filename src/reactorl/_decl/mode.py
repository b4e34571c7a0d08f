# SPDX-License-Identifier: Apache-2.0
"""Modes: parts of a reactor of which one at a time is active."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, overload

from reactorl._decl.declaration import Declaration
from reactorl.errors import DeclarationError
from reactorl.position import here

if TYPE_CHECKING:
    from types import TracebackType

    from reactorl._decl.namespace import Namespace

Entry: TypeAlias = Literal["reset", "history"]

if TYPE_CHECKING:

    class ModeControl:
        """A mode as a reaction or ``build()`` sees it."""

        def set(self) -> None:
            """Switch to this mode at the end of the current tag.

            The last mode set at a tag takes effect. The old mode finishes the tag; the
            new one is active from the next microstep on.
            """

        def __enter__(self) -> None: ...
        def __exit__(self, *_: object) -> None: ...
else:

    class ModeControl:
        """A mode as a reaction sees it; the runtime supplies the object."""


class Mode(Declaration):
    """A mode: ``red = Mode(initial=True)``; ``with red:`` holds what belongs to it.

    What is declared inside (timers, actions, state, reactors, reactions, watchdogs) is
    active only while the mode is; its logical time stands still otherwise.
    """

    __slots__ = ("initial", "namespace")
    kind: ClassVar[str] = "mode"

    def __init__(self, *, initial: bool = False) -> None:
        super().__init__()
        self.initial = initial
        self.namespace: Namespace | None = None  # of the class body being executed

    def __enter__(self) -> None:
        if self.namespace is None:
            msg = f"`with` on {self.label} outside the class body that declares it"
            raise DeclarationError(
                msg,
                here(),
                "In build() write `with self.<mode>:`.",
            )
        self.namespace.enter(self, here())

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.namespace is not None:
            self.namespace.leave()

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: object) -> Self: ...
        @overload
        def __get__(self, instance: object, owner: object) -> ModeControl: ...
        def __get__(self, instance: object, owner: object) -> Any: ...


@dataclass(frozen=True, slots=True)
class ModeEntry:
    """A mode as an effect, with the way it is entered."""

    mode: Mode | str
    entry: Entry


def reset_to(mode: Mode | str) -> ModeEntry:
    """Enter ``mode`` as if for the first time; the meaning of a bare mode as effect.

    Its timers restart, its pending events are dropped, ``state(reset=True)`` is
    restored and ``reset`` reactions run, all at the next microstep.
    """
    return ModeEntry(mode, "reset")


def history(mode: Mode | str) -> ModeEntry:
    """Enter ``mode`` where it was left: pending events keep the delay they had."""
    return ModeEntry(mode, "history")
