# SPDX-License-Identifier: Apache-2.0
"""Reactions: what happens when something is present, and what it may touch."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Self,
    TypeAlias,
    TypeVar,
    overload,
)

from reactorl._decl.declaration import Declaration
from reactorl.errors import DeclarationError
from reactorl.position import here

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reactorl._decl.action import ActionDeclaration
    from reactorl._decl.mode import Entry, Mode, ModeEntry
    from reactorl._decl.native import NativeBody
    from reactorl._decl.port import (
        Input,
        MultiInput,
        MultiOutput,
        MultiPort,
        Output,
        Port,
    )
    from reactorl._decl.timer import Occasion, Timer
    from reactorl._decl.watchdog import Watchdog
    from reactorl.position import Position
    from reactorl.tag import Duration

    Readable: TypeAlias = (
        Input[Any]
        | MultiInput[Any]
        | Port[Any]
        | MultiPort[Any]
        | ActionDeclaration
        | str
    )
    Trigger: TypeAlias = Readable | Timer | Occasion
    Effect: TypeAlias = (
        Output[Any]
        | MultiOutput[Any]
        | Port[Any]
        | MultiPort[Any]
        | ActionDeclaration
        | Mode
        | ModeEntry
        | Watchdog
        | str
    )

F = TypeVar("F", bound="Callable[[Any], object] | NativeBody")


@dataclass(frozen=True, slots=True)
class Mention:
    """One thing in a signature, by name: ``x``, ``child.x`` or ``bank[2].x``."""

    name: str
    child: str | None = None
    member: int | None = None
    entry: Entry | None = None  # of a mode

    def __str__(self) -> str:
        if self.child is None:
            return self.name
        member = "" if self.member is None else f"[{self.member}]"
        return f"{self.child}{member}.{self.name}"


class Reaction(Declaration):
    """A reaction of a class; the decorated method is its body."""

    __slots__ = (
        "body",
        "deadline",
        "effects",
        "handler",
        "label_name",
        "occasions",
        "raw",
        "sources",
        "stops",
        "triggers",
    )
    kind: ClassVar[str] = "reaction"

    def __init__(
        self,
        body: Callable[[Any], object] | NativeBody,
        raw: tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]],
        deadline: Duration | None,
        name: str | None,
        where: Position,
        *,
        stops: bool | None = None,
    ) -> None:
        super().__init__()
        self.where = where
        self.body = body
        self.raw = raw  # triggers, sources, effects as written
        self.deadline = deadline
        self.label_name = name
        self.stops = stops
        self.handler: Callable[[Any], object] | NativeBody | None = None
        self.occasions: frozenset[str] = frozenset()
        self.triggers: tuple[Mention, ...] = ()
        self.sources: tuple[Mention, ...] = ()
        self.effects: tuple[Mention, ...] = ()

    @property
    def title(self) -> str:
        """The name it has in traces."""
        return self.label_name or self.name

    @property
    def label(self) -> str:
        """Kind and name, e.g. ``reaction Actor.act``."""
        return f"{self.kind} {self.owner}.{self.title}" if self.name else self.kind

    def deadline_handler(self, function: F) -> F:
        """Make ``function``, a method, run in place of the body after the deadline.

        It runs at the same tag and may touch what the reaction declares. It may also be
        a native body: ``act.deadline_handler(native("libenv.so", "late"))``.
        """
        if self.handler is not None:
            msg = f"{self.label} has two deadline handlers"
            raise DeclarationError(msg, here())
        if self.deadline is None:
            msg = f"{self.label} has a deadline handler but no deadline"
            raise DeclarationError(
                msg,
                here(),
                "Write @reaction(..., deadline=msec(10)).",
            )
        check_body(function, "a deadline handler", here())
        self.handler = function
        return function

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: object) -> Self: ...
        @overload
        def __get__(self, instance: object, owner: object) -> Callable[[], object]: ...
        def __get__(self, instance: object, owner: object) -> Any: ...


def is_native(body: object) -> bool:
    """Return whether a body or handler is a native one; does not load ctypes."""
    module = sys.modules.get("reactorl._decl.native")
    return module is not None and isinstance(body, module.NativeBody)


def check_body(function: object, what: str, where: Position) -> None:
    """Check that a function can be called with the instance alone.

    Raises:
        DeclarationError: Not a function, a coroutine, a generator, or of other arity.
    """
    if is_native(function):
        return
    if not inspect.isroutine(function) and not callable(function):
        msg = f"{what} must be a method, got {function!r}"
        raise DeclarationError(msg, where)
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        msg = f"{what} must be a plain method, got a coroutine or a generator"
        raise DeclarationError(
            msg,
            where,
            "Reactions are logically instantaneous; use an action to continue later.",
        )
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        msg = f"{what} must take self and no other arguments"
        raise DeclarationError(
            msg,
            where,
            "Values come through ports: self.x.value.",
        ) from None
    except ValueError:
        pass


def reaction(
    *triggers: Trigger,
    sources: Sequence[Readable] = (),
    effects: Sequence[Effect] = (),
    deadline: Duration | None = None,
    name: str | None = None,
    stops: bool | None = None,
) -> Callable[[Callable[[Any], object] | NativeBody], Reaction]:
    """Make a method a reaction: it runs at every tag at which a trigger is present.

    It runs once per tag however many triggers are present, after every reaction that
    may set what it reads, and after the reactions written before it in the class. Its
    body can touch nothing that is not listed. Strings name what ``build()`` adds:
    ``"extra.done"``.

    Args:
        triggers: Own inputs, outputs of contained reactors, actions, timers,
            ``startup``, ``shutdown``, ``reset``. All may be read.
        sources: What it reads without being triggered: own inputs, outputs of
            contained reactors.
        effects: What it may set or schedule: own outputs, inputs of contained
            reactors, actions, modes, watchdogs.
        deadline: If physical time is later than the tag's time plus this when the
            body would start, the ``deadline_handler`` runs instead (without one,
            nothing does). Zero is always missed.
        name: Its name in traces; the method's name if not given.
        stops: Whether it may call ``request_stop()``, which a federation must know in
            advance. None: its code is searched for that name. A native body may end the
            program only with True.

    Raises:
        DeclarationError: The method takes arguments besides self, or is a coroutine.
    """
    where = here()
    for role, listed in (("sources", sources), ("effects", effects)):
        if isinstance(listed, str) or not isinstance(listed, list | tuple):
            msg = f"{role} must be a list, got {listed!r}"
            raise DeclarationError(msg, where, f"Write {role}=[...].")

    def declare(body: Callable[[Any], object] | NativeBody) -> Reaction:
        check_body(body, f"reaction {getattr(body, '__name__', body)}", where)
        raw = (triggers, tuple(sources), tuple(effects))
        return Reaction(body, raw, deadline, name, where, stops=stops)

    return declare
