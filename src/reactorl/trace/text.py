# SPDX-License-Identifier: Apache-2.0
r"""The canonical text of a trace: one line per tag, reaction and delayed event.

::

    (0, 0)
      run main.clock.tick | set main.clock.count = 1 | event main.clock.beat at (5, 0)
      event main.clock.count after 5 at (5, 0)
    (5, 0)
      run main.light.go | missed deadline | mode main.light.green reset

Equal traces have equal texts and the other way round. Line ends, ``|`` and backslashes
inside names and values are written as ``\n``, ``\p`` and ``\\``.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final, NoReturn, TypeVar

from reactorl.errors import TraceError
from reactorl.position import Position
from reactorl.tag import Tag
from reactorl.trace.record import Event, ReactionRecord, TagRecord, Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_T = TypeVar("_T", ReactionRecord, Event)

_BETWEEN: Final = " | "
_MISSED: Final = "missed deadline"
_TAG: Final = re.compile(r"\((-?[0-9]{1,20}), ([0-9]{1,10})\)")

# Characters that end a line, separate fields, or do not encode as UTF-8.
_UNSAFE: Final = re.compile(r"[\\|\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_ESCAPE: Final = re.compile(r"\\(u[0-9a-f]{4}|.?)", re.DOTALL)
_EQUALS: Final = r"\e"
_LETTERS: Final = {"\\": "\\", "|": "p", "\n": "n", "\r": "r", "\t": "t", "=": "e"}
_CHARACTERS: Final = {letter: character for character, letter in _LETTERS.items()}


def lines(trace: Iterable[TagRecord]) -> Iterator[str]:
    """Yield the canonical lines of ``trace``, each with its line end.

    ``trace`` may be any stream of tags in order, so a long run need not be held whole.
    """
    for record in trace:
        yield f"{record.tag}\n"
        for ran in record.reactions:
            yield f"  {_reaction_line(ran)}\n"
        for event in record.events:
            yield f"  {_event_field(event)}\n"


def text(trace: Iterable[TagRecord]) -> str:
    """Return the canonical text of ``trace``; every line ends with a newline."""
    return "".join(lines(trace))


def digest(trace: Iterable[TagRecord]) -> str:
    """Return the SHA-256 of the canonical text, in hexadecimal.

    Two runs have the same digest exactly if they have the same trace.
    """
    seen = hashlib.sha256()
    for line in lines(trace):
        seen.update(line.encode())
    return seen.hexdigest()


def parse(source: str) -> Trace:
    """Return the trace whose canonical text is ``source``.

    Raises:
        TraceError: A line is not canonical; names the line.
    """
    whole = source.split("\n")
    tags = tuple(parse_lines(whole[:-1]))
    if whole[-1]:
        _Line("<trace>", len(whole), whole[-1]).refuse(
            "the text is truncated in this line"
        )
    return Trace(tags)


def parse_lines(
    source: Iterable[str], *, file: str = "<trace>", first: int = 1
) -> Iterator[TagRecord]:
    """Yield the tags of canonical lines (without their line ends), one by one.

    Args:
        source: The lines.
        file: Where they come from, for errors.
        first: The number of the first line, for errors.

    Raises:
        TraceError: A line is not canonical; names the line.
    """
    tag: Tag | None = None
    reactions: list[ReactionRecord] = []
    events: list[Event] = []
    for number, content in enumerate(source, first):
        line = _Line(file, number, content)
        if content.startswith("  run ") and tag is not None and not events:
            reactions.append(line.reaction())
        elif content.startswith("  event ") and tag is not None:
            events.append(line.event())
        elif content.startswith("("):
            if tag is not None:
                yield TagRecord(tag, tuple(reactions), tuple(events))
            later = line.tag(content)
            if tag is not None and later <= tag:
                line.refuse(f"tags must ascend, got {later} after {tag}")
            tag, reactions, events = later, [], []
        else:
            line.refuse("unexpected line in a trace")
    if tag is not None:
        yield TagRecord(tag, tuple(reactions), tuple(events))


class _Line:
    """One line to be parsed, and its position."""

    def __init__(self, file: str, number: int, content: str) -> None:
        self._file = file
        self._number = number
        self._content = content

    def refuse(self, what: str) -> NoReturn:
        remedy = "Run the program again; traces are not meant to be edited."
        where = Position(self._file, self._number)
        what = f"{what}: {self._content!r}"
        raise TraceError(what, where, remedy)

    def reaction(self) -> ReactionRecord:
        name, *fields = self._content.removeprefix("  run ").split(_BETWEEN)
        sets: list[tuple[str, str]] = []
        events: list[Event] = []
        modes: list[str] = []
        for field in fields:
            kind, _, rest = field.partition(" ")
            if kind == "set":
                channel, _, value = rest.partition(" = ")
                sets.append((self._unescape(channel), self._unescape(value)))
            elif kind == "event":
                events.append(self._event(rest))
            elif kind == "mode":
                modes.append(self._unescape(rest))
            elif field != _MISSED:
                self.refuse(f"{field!r} is not a field of a reaction")
        missed = _MISSED in fields
        read = ReactionRecord(
            self._unescape(name), missed, tuple(sets), tuple(events), tuple(modes)
        )
        return self._canonical(read, _reaction_line(read))

    def event(self) -> Event:
        read = self._event(self._content.removeprefix("  event "))
        return self._canonical(read, _event_field(read))

    def _canonical(self, read: _T, written: str) -> _T:
        """Return ``read`` if its canonical text is this line."""
        if f"  {written}" != self._content:
            self.refuse("the line is not canonical")
        return read

    def _event(self, rest: str) -> Event:
        if rest.endswith(" dropped"):
            return Event(self._unescape(rest.removesuffix(" dropped")), None)
        trigger, _, tag = rest.rpartition(" at ")
        return Event(self._unescape(trigger), self.tag(tag))

    def tag(self, source: str) -> Tag:
        match = _TAG.fullmatch(source)
        tag = Tag(int(match[1]), int(match[2])) if match else None
        if tag is None or str(tag) != source:
            self.refuse(f"{source!r} is not a tag")
        return tag

    def _unescape(self, source: str) -> str:
        return _ESCAPE.sub(self._character, source)

    def _character(self, match: re.Match[str]) -> str:
        code = match[1]
        if len(code) == 5:
            return chr(int(code[1:], 16))
        if code not in _CHARACTERS:
            self.refuse(f"{match[0]!r} is not an escape")
        return _CHARACTERS[code]


def _reaction_line(ran: ReactionRecord) -> str:
    fields = [f"run {_escape(ran.reaction)}"]
    if ran.missed_deadline:
        fields.append(_MISSED)
    fields += [
        f"set {_escape(channel).replace('=', _EQUALS)} = {_escape(value)}"
        for channel, value in ran.sets
    ]
    fields += [_event_field(event) for event in ran.events]
    fields += [f"mode {_escape(mode)}" for mode in ran.modes]
    return _BETWEEN.join(fields)


def _event_field(event: Event) -> str:
    end = "dropped" if event.tag is None else f"at {event.tag}"
    return f"event {_escape(event.trigger)} {end}"


def _escape(name: str) -> str:
    return _UNSAFE.sub(_escaped, name)


def _escaped(match: re.Match[str]) -> str:
    letter = _LETTERS.get(match[0])
    return f"\\{letter}" if letter else f"\\u{ord(match[0]):04x}"
