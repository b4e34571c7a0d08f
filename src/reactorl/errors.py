# SPDX-License-Identifier: Apache-2.0
"""Everything that can be wrong, as data: what, where, and the way out.

    ReactorlError
    ├── DeclarationError        a class says something impossible
    ├── ProgramError            classes that are fine alone do not fit together
    │   ├── CausalityError      reactions wait for each other at one tag
    │   ├── WiringError         a connection or signature that may not be
    │   ├── WidthError          a width that is unknown, negative or does not divide
    │   ├── UnknownNameError    nothing has this name
    │   ├── DelayError          a time that is negative or not a time
    │   └── ContainmentError    a class contains itself
    ├── BusyError               a session is used by two threads, or by itself
    ├── AccessError             a body touched what its reaction does not declare
    ├── ReactionError           a body raised
    ├── SharedValueError        a value was changed after it was sent
    ├── GlobalRandomError       a body used global random state
    ├── TraceError              a trace cannot be read
    └── ReplayError             a recording does not fit the program

The arguments of each error are its fields, so every error survives pickling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reactorl._util.suggestions import did_you_mean

if TYPE_CHECKING:
    from reactorl.position import Position
    from reactorl.tag import Tag

__all__ = [
    "AccessError",
    "BusyError",
    "CausalityError",
    "ContainmentError",
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
    """The root of all errors of this package."""


def _prose(what: str, where: Position | None, remedy: str) -> str:
    text = what if where is None else f"{where}: {what}"
    if remedy and "\n" in what:  # a list, after which a full stop would be odd
        return f"{text}\n{remedy}"
    return f"{text}. {remedy}" if remedy else f"{text}."


class _Fault(ReactorlError):
    """An error that is what, where, and the way out.

    Attributes:
        what: The fact, without a full stop.
        where: The declaration or call at fault, if known.
        remedy: What to write instead; a sentence.
    """

    def __init__(
        self, what: str, where: Position | None = None, remedy: str = ""
    ) -> None:
        super().__init__(what, where, remedy)
        self.what = what
        self.where = where
        self.remedy = remedy

    def __str__(self) -> str:
        return _prose(self.what, self.where, self.remedy)


class DeclarationError(_Fault):
    """A reactor class, or a call of one, says something impossible.

    Raised when the class is created or called, long before time starts.
    """


class ProgramError(_Fault):
    """Declarations that are fine alone do not make a program. Raised by elaboration."""


class WiringError(ProgramError):
    """A connection or a reaction's signature that the rules of reactors forbid."""


class WidthError(ProgramError):
    """A width that is negative, not an integer, or cannot be inferred."""


class DelayError(ProgramError):
    """A delay, period, deadline or timeout that is negative or not a duration."""


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

    def __str__(self) -> str:
        """Return the hop as a line of the loop."""
        if self.by_order:
            return f"{self.where}: {self.reaction} comes before {self.target}"
        if not self.by_connection:
            return f"{self.where}: {self.reaction} sets {self.source}"
        return f"{self.where}: {self.reaction} sets {self.source} -> {self.target}"


class CausalityError(ProgramError):
    """Reactions that would each have to run before the other, at one tag.

    Attributes:
        cycle: The hops in order; the last one leads back to the first.
    """

    def __init__(self, cycle: tuple[Hop, ...]) -> None:
        count = len(cycle)
        hops = "\n".join(f"  {hop}" for hop in cycle)
        what = (
            f"{count} reactions wait for each other at one tag:\n{hops}\n"
            if count > 1
            else f"a reaction waits for itself at one tag:\n{hops}\n"
        )
        super().__init__(what, cycle[0].where, _ways_out(cycle))
        self.args = (cycle,)
        self.cycle = cycle

    def __str__(self) -> str:
        return self.what + self.remedy


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


class BusyError(_Fault, RuntimeError):
    """An object for one thread at a time was used while it is in use.

    Raised by the second user, before anything changes; the first continues unharmed.
    """


class AccessError(ReactorlError):
    """A body touched something that its reaction does not declare.

    Raised at the tag at which the reaction runs, from the line that touched it.

    Attributes:
        reaction: Full name of the reaction.
        element: Full name of what it touched, e.g. ``main.a.x``.
        where: Where the reaction is declared.
        access: What it did: ``reads``, ``sets``, ``schedules``, ...
        fix: The exact change, e.g. ``add `x` to its sources: @reaction(..., ...)``.
    """

    def __init__(
        self, reaction: str, element: str, where: Position, access: str, fix: str
    ) -> None:
        super().__init__(reaction, element, where, access, fix)
        self.reaction = reaction
        self.element = element
        self.where = where
        self.access = access
        self.fix = fix

    def __str__(self) -> str:
        return (
            f"{self.where}: reaction {self.reaction} {self.access} {self.element}, "
            f"which it does not declare; {self.fix}"
        )


class ReactionError(ReactorlError):
    """A reaction's body (or handler) raised; the original is ``__cause__``.

    The run ends: no later tag is handled, resources are torn down.

    Attributes:
        reaction: Full name of the reaction.
        tag: The tag at which it ran, elapsed since the start.
        where: Where the reaction is declared.
        cause_text: The original exception as ``Type: message``; it survives pickling
            where ``__cause__`` does not.
    """

    def __init__(
        self, reaction: str, tag: Tag, where: Position, cause_text: str
    ) -> None:
        super().__init__(reaction, tag, where, cause_text)
        self.reaction = reaction
        self.tag = tag
        self.where = where
        self.cause_text = cause_text

    def __str__(self) -> str:
        return (
            f"{self.where}: reaction {self.reaction} raised at elapsed tag {self.tag}: "
            f"{self.cause_text}"
        )


class SharedValueError(_Fault):
    """A value was changed after it was sent; its receivers see the change.

    What is sent on a port belongs to all who receive it. Found by ``run(check=True)``.
    """


class GlobalRandomError(_Fault):
    """A reaction used global random state, so its numbers depend on the schedule.

    Found by ``run(check=True)``. The way out: ``self.random``, ``self.np_random``.
    """


class TraceError(_Fault):
    """A trace or its file cannot be understood."""


class ReplayError(_Fault):
    """A recording does not fit the program it is replayed into."""


for _name in __all__:
    globals()[_name].__module__ = "reactorl"
