# SPDX-License-Identifier: Apache-2.0
"""Records of a run, tag by tag, in an order fixed before the run.

Times are elapsed logical time and do not depend on the wall clock at the start.
Reactions within a tag are ordered by (level, id), whatever order they ran in.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reactorl.tag import Tag


@dataclass(frozen=True, slots=True)
class Event:
    """An event put on the queue: what will fire, and when (None: dropped)."""

    trigger: str  # "main.a.tick", or "main.a.out after" for a delayed connection
    tag: Tag | None  # elapsed


@dataclass(frozen=True, slots=True)
class ReactionRecord:
    """One reaction that ran at a tag."""

    reaction: str  # full name
    missed_deadline: bool  # its deadline handler ran instead of its body
    sets: tuple[tuple[str, str], ...]  # channel name, value as text; by channel id
    events: tuple[Event, ...]  # scheduled by it, in the order of the calls
    modes: tuple[str, ...]  # "main.light.green reset", last one set


@dataclass(frozen=True, slots=True)
class TagRecord:
    """Everything that happened at one tag."""

    tag: Tag  # elapsed
    reactions: tuple[ReactionRecord, ...]
    events: tuple[Event, ...]  # put on the queue by delayed connections, by stage id


@dataclass(frozen=True, slots=True)
class Trace:
    """A whole run."""

    tags: tuple[TagRecord, ...]

    def __iter__(self) -> Iterator[TagRecord]:
        """Iterate over the tags in order."""
        return iter(self.tags)

    def __len__(self) -> int:
        """Return how many tags there are."""
        return len(self.tags)

    def values(self, channel: str) -> list[tuple[Tag, object]]:
        """Return (tag, value) for each tag at which ``channel`` was set.

        A scalar comes back as itself, anything else as its text in the trace. Where
        several reactions set the channel at one tag, it is the last value.

        Args:
            channel: A full name or an unambiguous end of one (``"join.total"``).

        Raises:
            ValueError: Several channels that were set have such a name.
        """
        name = self._full_name(channel)
        found = []
        for record in self.tags:
            texts = [
                text
                for ran in record.reactions
                for set_, text in ran.sets
                if set_ == name
            ]
            if texts:
                found.append((record.tag, _scalar(texts[-1])))
        return found

    def _full_name(self, channel: str) -> str:
        names = {
            name: None  # a dict, to keep the order
            for record in self.tags
            for ran in record.reactions
            for name, _ in ran.sets
            if name == channel or name.endswith("." + channel)
        }
        if channel in names or not names:
            return channel
        if len(names) == 1:
            return next(iter(names))
        msg = f"{channel!r} is ambiguous: {', '.join(names)}; give more of the name"
        raise ValueError(msg)


def _scalar(text: str) -> object:
    """Return the Python scalar (or literal) a text stands for, else the text."""
    if text in ("nan", "inf", "-inf"):
        return float(text)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
