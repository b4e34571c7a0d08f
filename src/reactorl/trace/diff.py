# SPDX-License-Identifier: Apache-2.0
"""The first difference of two traces, as data and as text."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reactorl.tag import Tag
    from reactorl.trace.record import Event, ReactionRecord, TagRecord

Kind: TypeAlias = Literal[
    "end", "tag", "reaction", "deadline", "set", "value", "event", "mode", "delayed"
]


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference of two runs.

    Attributes:
        kind: What differs: one run ended before the other (``end``), continued
            with another tag (``tag``), ran another ``reaction``, took a ``deadline``
            handler, ``set`` another port, sent another ``value``, scheduled another
            ``event``, chose another ``mode``, or delayed another value (``delayed``).
        tag: Elapsed tag of the difference.
        reaction: Full name of the reaction that acted differently, if one did.
        what: The port, action, mode or connection concerned, if there is one.
        a: What the first run did, as text; None if it did nothing of the kind.
        b: What the second run did.
    """

    kind: Kind
    tag: Tag
    reaction: str | None
    what: str | None
    a: str | None
    b: str | None

    def __str__(self) -> str:
        """Return where the runs diverge and what each of them did."""
        where = f"at tag {self.tag}"
        if self.reaction is not None and self.kind != "reaction":
            where += f", in {self.reaction}"
        return f"the runs diverge {where}: {self._words()}"

    def _words(self) -> str:
        match self.kind:
            case "end":
                ended, last = ("A", self.a) if self.a is not None else ("B", self.b)
                other = "B" if ended == "A" else "A"
                if last == "":
                    return f"{ended} is empty, {other} is not"
                return f"{ended} ended at {last}, {other} continued"
            case "tag":
                return f"A continued with tag {self.a}, B with {self.b}"
            case "deadline":
                late, other = ("A", "B") if self.a == "missed" else ("B", "A")
                return f"{late} missed the deadline, {other} did not"
            case "value":
                return f"A set {self.what} to {self.a}, B to {self.b}"
        verb, rest = _VERBS[self.kind]
        if self.a is not None and self.b is not None:
            return f"A {verb} {self.a}{rest}, B {self.b}{rest}"
        if self.a is not None:
            return f"A {verb} {self.a}{rest}, B did not"
        return f"B {verb} {self.b}{rest}, A did not"


class _Part(NamedTuple):
    """One action of a run: its name, and its text."""

    name: str
    words: str


_VERBS: dict[str, tuple[str, str]] = {
    "reaction": ("ran", ""),
    "set": ("set", ""),
    "event": ("scheduled", ""),
    "mode": ("switched to", ""),
    "delayed": ("put", " on the queue"),
}


def diff(a: Iterable[TagRecord], b: Iterable[TagRecord]) -> Difference | None:
    """Return the first difference of two runs, or None if they are the same.

    Both are read in parallel and no further than the difference, so files can be
    compared without holding them. "First" is by tag, then reaction (in the order of
    the trace), then what it did: deadline, ports, events, mode.
    """
    last: Tag | None = None
    for mine, other in zip_longest(a, b):
        if mine is None or other is None:
            ended = "" if last is None else str(last)
            at = (mine or other).tag
            if mine is None:
                return Difference("end", at, None, None, ended, None)
            return Difference("end", at, None, None, None, ended)
        if mine.tag != other.tag:
            tags = str(mine.tag), str(other.tag)
            return Difference("tag", min(mine.tag, other.tag), None, None, *tags)
        found = _diff_tags(mine, other)
        if found is not None:
            return found
        last = mine.tag
    return None


def _diff_tags(a: TagRecord, b: TagRecord) -> Difference | None:
    if a == b:
        return None
    for mine, other in zip(a.reactions, b.reactions, strict=False):
        if mine.reaction != other.reaction:
            break
        found = _diff_reactions(a.tag, mine, other)
        if found is not None:
            return found
    ran = _parts(ran.reaction for ran in a.reactions)
    ran_b = _parts(ran.reaction for ran in b.reactions)
    if ran != ran_b:
        return _diff_parts("reaction", a.tag, None, ran, ran_b)
    queued = _event_parts(a.events), _event_parts(b.events)
    return _diff_parts("delayed", a.tag, None, *queued)


def _diff_reactions(
    tag: Tag, a: ReactionRecord, b: ReactionRecord
) -> Difference | None:
    if a.missed_deadline != b.missed_deadline:
        missed = ("missed", "met") if a.missed_deadline else ("met", "missed")
        return Difference("deadline", tag, a.reaction, None, *missed)
    for (port, mine), (port_b, other) in zip(a.sets, b.sets, strict=False):
        if port != port_b:
            break
        if mine != other:
            return Difference("value", tag, a.reaction, port, mine, other)
    if a.sets != b.sets:
        ports = _parts(port for port, _ in a.sets), _parts(port for port, _ in b.sets)
        return _diff_parts("set", tag, a.reaction, *ports)
    if a.events != b.events:
        events = _event_parts(a.events), _event_parts(b.events)
        return _diff_parts("event", tag, a.reaction, *events)
    modes = _parts(a.modes), _parts(b.modes)
    return _diff_parts("mode", tag, a.reaction, *modes)


def _parts(names: Iterable[str]) -> list[_Part]:
    return [_Part(name, name) for name in names]


def _event_parts(events: Iterable[Event]) -> list[_Part]:
    return [
        _Part(
            event.trigger,
            f"{event.trigger}, which was dropped"
            if event.tag is None
            else f"{event.trigger} for {event.tag}",
        )
        for event in events
    ]


def _diff_parts(
    kind: Kind, tag: Tag, reaction: str | None, a: list[_Part], b: list[_Part]
) -> Difference | None:
    """Compare two lists of items of one kind; return the first difference."""
    for mine, other in zip_longest(a, b):
        if mine == other:
            continue
        # The orders agree between runs of one program, so what only one of them has
        # at all is what it did and the other did not.
        if mine and other and mine not in b and other in a:
            other = None
        elif mine and other and other not in a and mine in b:
            mine = None
        part = mine or other
        return Difference(
            kind,
            tag,
            part.name if kind == "reaction" else reaction,
            None if kind == "reaction" else part.name,
            mine and mine.words,
            other and other.words,
        )
    return None
