# SPDX-License-Identifier: Apache-2.0
"""The exceptions of this package. Each has fields, a position and a remedy.

    ReactorlError
    ├── DeclarationError        a reactor class is not legal
    ├── ProgramError            declarations do not make a legal program
    │   ├── CausalityError      reactions depend on each other at one tag
    │   ├── WiringError         an illegal connection or signature
    │   ├── WidthError          a width that is unknown, negative or does not divide
    │   ├── UnknownNameError    nothing has this name
    │   ├── DelayError          a time that is negative or not a time
    │   └── ContainmentError    a class contains itself
    ├── BusyError               a session is used by two threads, or by itself
    ├── AccessError             a body touched what its reaction does not declare
    ├── DTypeError              a value of another type than its port or action has
    ├── ReactionError           a body raised
    ├── SharedValueError        a value was changed after it was sent
    ├── GlobalRandomError       a body used global random state
    ├── TraceError              a trace cannot be read
    └── ReplayError             a recording does not fit the program

The arguments of each error are its fields, so every error survives pickling.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from reactorl._util.suggestions import did_you_mean
from reactorl.diagnostics import Diagnostic, Severity

if TYPE_CHECKING:
    from reactorl.position import Position
    from reactorl.tag import Tag

__all__ = [
    "AccessError",
    "BusyError",
    "CausalityError",
    "ContainmentError",
    "DTypeError",
    "DeclarationError",
    "DelayError",
    "GlobalRandomError",
    "Hop",
    "ProgramError",
    "ReactionError",
    "ReactorlError",
    "ReactorlWarning",
    "ReplayError",
    "SharedValueError",
    "TraceError",
    "UnknownNameError",
    "WidthError",
    "WiringError",
]


class ReactorlWarning(UserWarning):
    """Something legal that is probably not meant."""


class ReactorlError(Exception):
    """The base class of all errors of this package.

    Attributes:
        what: The fact, in lower case, without a full stop.
        where: The declaration or call at fault, if known.
        remedy: What to do about it; sentences. May be empty.
    """

    def __init__(
        self, what: str, where: Position | None = None, remedy: str = ""
    ) -> None:
        super().__init__(what, where, remedy)
        self.what = what
        self.where = where
        self.remedy = remedy

    @property
    def diagnostic(self) -> Diagnostic:
        """The error as data. Its ``fields`` are the other attributes of the error."""
        fields = {
            name: value
            for name, value in vars(self).items()
            if name not in _DESCRIBED and not name.startswith("_")
        }
        return Diagnostic(
            self.what, self.where, self.remedy, code=_code(type(self)), fields=fields
        )

    def __str__(self) -> str:
        return str(self.diagnostic)


_DESCRIBED: Final = ("what", "where", "remedy")
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def _code(cls: type) -> str:
    """Return ``unknown-name`` for ``UnknownNameError``."""
    return _CAPITAL.sub("-", cls.__name__.removesuffix("Error")).lower()


class DeclarationError(ReactorlError):
    """A reactor class, or a call of one, says something impossible.

    Raised when the class is created or called, long before time starts.
    """


class ProgramError(ReactorlError):
    """Declarations that are fine alone do not make a program. Raised by elaboration."""


class WiringError(ProgramError):
    """A connection or a reaction's signature that the rules of reactors forbid."""


class WidthError(ProgramError):
    """A width that is negative, not an integer, or cannot be inferred."""


class DelayError(ProgramError):
    """A delay, period, deadline or timeout that is not a valid duration."""


class UnknownNameError(ProgramError):
    """Nothing has the name that was asked for.

    Attributes:
        name: The name asked for.
        owner: What was searched, e.g. ``reactor main.a (class A)``.
        known: The names that exist there.
    """

    def __init__(
        self,
        name: str,
        owner: str,
        known: tuple[str, ...],
        where: Position | None = None,
    ) -> None:
        remedy = did_you_mean(name, known) or (
            f"It has: {', '.join(known)}." if known else "It has no names at all."
        )
        super().__init__(f"{owner} has no {name!r}", where, remedy)
        self.args = (name, owner, known, where)
        self.name = name
        self.owner = owner
        self.known = known


class ContainmentError(ProgramError):
    """A class that contains itself, directly or not, would never end.

    Attributes:
        path: Class names from the outer one to its repetition.
    """

    def __init__(self, path: tuple[str, ...], where: Position | None = None) -> None:
        chain = " contains ".join(path)
        super().__init__(
            f"a reactor class contains itself: {chain}",
            where,
            "Take the inner one out, or give it a class of its own.",
        )
        self.args = (path, where)
        self.path = path


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of a causality loop: ``reaction`` must run before the next one.

    Attributes:
        reaction: Full name of the reaction.
        source: The channel it may set; empty if only the order of reactions counts.
        target: The channel that the next reaction reads, or, if only the order
            counts, the full name of the next reaction.
        where: Where the reaction is declared.
    """

    reaction: str
    source: str
    target: str
    where: Position

    @property
    def by_order(self) -> bool:
        """Whether only the order of reactions in their class makes this hop."""
        return not self.source

    @property
    def by_connection(self) -> bool:
        """Whether the hop passes through at least one connection."""
        return bool(self.source) and self.source != self.target

    @property
    def diagnostic(self) -> Diagnostic:
        """The hop as a note at its reaction."""
        if self.by_order:
            what = f"{self.reaction} comes before {self.target}"
        elif self.by_connection:
            what = f"{self.reaction} sets {self.source} -> {self.target}"
        else:
            what = f"{self.reaction} sets {self.source}"
        return Diagnostic(what, self.where, severity=Severity.NOTE)

    def __str__(self) -> str:
        """Return the hop as a line of the loop."""
        return str(self.diagnostic)


class CausalityError(ProgramError):
    """Reactions that would each have to run before the other, at one tag.

    Attributes:
        cycle: The hops in order; the last one leads back to the first.
    """

    def __init__(self, cycle: tuple[Hop, ...]) -> None:
        what = (
            f"{len(cycle)} reactions wait for each other at one tag"
            if len(cycle) > 1
            else "a reaction waits for itself at one tag"
        )
        super().__init__(what, cycle[0].where, _ways_out(cycle))
        self.args = (cycle,)
        self.cycle = cycle

    @property
    def diagnostic(self) -> Diagnostic:
        """The error as data; the hops are related notes."""
        related = tuple(hop.diagnostic for hop in self.cycle)
        return replace(super().diagnostic, related=related)

    def __str__(self) -> str:
        return str(replace(self.diagnostic, where=None))  # the hops say where


def _ways_out(cycle: tuple[Hop, ...]) -> str:
    ways = []
    delayable = [hop for hop in cycle if hop.by_connection]
    ordered = [hop for hop in cycle if hop.by_order]
    if delayable:
        last = delayable[-1]
        ways.append(
            f"Delay one of these connections; connect({last.source}, {last.target}, "
            "after=0) delivers one microstep later."
        )
    if ordered:
        last = ordered[-1]
        also = "Or swap" if ways else "Swap"
        ways.append(
            f"{also} two reactions: {last.reaction} and {last.target} are in the loop "
            "only because they are written in this order in their class."
        )
    if not ways:
        ways.append(
            "Pass the value through an action: schedule() acts one microstep later."
        )
    return "\n".join(ways)


class BusyError(ReactorlError, RuntimeError):
    """An object for one thread at a time was used while it is in use.

    Raised by the second user, before anything changes; the first continues unharmed.
    """


class AccessError(ReactorlError):
    """A body touched something that its reaction does not declare.

    Raised at the tag at which the reaction runs, from the line that touched it.

    Attributes:
        reaction: Full name of the reaction.
        element: Full name of what it touched, e.g. ``main.a.x``.
        access: What it did: ``reads``, ``sets``, ``schedules``, ...
        fix: What to change, e.g. ``add `x` to its sources``.
        example: The changed line in Python, e.g. ``@reaction(..., sources=[x])``; may
            be empty.
    """

    def __init__(
        self,
        reaction: str,
        element: str,
        where: Position,
        access: str,
        fix: str,
        example: str = "",
    ) -> None:
        what = f"reaction {reaction} {access} {element}, which it does not declare"
        change = f"{fix[:1].upper()}{fix[1:]}"
        remedy = f"{change}: {example}" if example else f"{change}."
        super().__init__(what, where, remedy)
        self.args = (reaction, element, where, access, fix, example)
        self.reaction = reaction
        self.element = element
        self.access = access
        self.fix = fix
        self.example = example


class DTypeError(ReactorlError, TypeError):
    """A value of another type than the dtype of the port or action it is sent on.

    Raised by ``set`` and ``schedule``, at the tag at which the reaction runs, and by
    ``step`` and ``preload`` of a driven program. Nothing is converted silently: a body
    in Python and one in C must see the same values.

    Attributes:
        element: Full name of the port or action.
        dtype: Its data type.
        described: What may be sent on it.
        got: The type that was sent, and the value if it is a number.
        is_input: Whether it was given to ``step``, which then ran nothing.
    """

    def __init__(
        self,
        element: str,
        dtype: str,
        described: str,
        got: str,
        where: Position,
        is_input: bool = False,  # noqa: FBT001, FBT002 - positional, for pickling
    ) -> None:
        super().__init__(
            f"{element} must be {described}, got {got}",
            where,
            "Convert it before it is sent, or change the dtype.",
        )
        self.args = (element, dtype, described, got, where, is_input)
        self.element = element
        self.dtype = dtype
        self.described = described
        self.got = got
        self.is_input = is_input


class ReactionError(ReactorlError):
    """A reaction's body (or handler) raised; the original is ``__cause__``.

    The run ends: no later tag is handled, resources are torn down.

    Attributes:
        reaction: Full name of the reaction.
        tag: The tag at which it ran, elapsed since the start.
        cause_text: The original exception as ``Type: message``; it survives pickling
            where ``__cause__`` does not.
    """

    def __init__(
        self, reaction: str, tag: Tag, where: Position, cause_text: str
    ) -> None:
        what = f"reaction {reaction} raised at elapsed tag {tag}: {cause_text}"
        super().__init__(what, where)
        self.args = (reaction, tag, where, cause_text)
        self.reaction = reaction
        self.tag = tag
        self.cause_text = cause_text


class SharedValueError(ReactorlError):
    """A value was changed after it was sent; its receivers see the change.

    What is sent on a port belongs to all who receive it. Found by ``run(check=True)``.
    """


class GlobalRandomError(ReactorlError):
    """A reaction used global random state, so its numbers depend on the schedule.

    Found by ``run(check=True)``. The way out: ``self.random``, ``self.np_random``.
    """


class FederationError(ReactorlError):
    """A federate could not be started, did not take part, or is gone."""


class TraceError(ReactorlError):
    """A trace or its file cannot be understood."""


class ReplayError(ReactorlError):
    """A recording does not fit the program it is replayed into."""


for _name in __all__:
    globals()[_name].__module__ = "reactorl"
