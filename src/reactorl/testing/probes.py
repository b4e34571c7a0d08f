# SPDX-License-Identifier: Apache-2.0
"""Reactors for tests: one that plays inputs, two that record them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from reactorl import Input, LogicalAction, Output, Reactor, param, reaction, startup
from reactorl.tag import Tag

if TYPE_CHECKING:
    from collections.abc import Iterable

Script: TypeAlias = Sequence[tuple[Tag, Any]]
"""What happens when: (elapsed tag, value) in order."""


class Stimulus(Reactor):
    """Sets ``out`` to each value of ``script`` at its elapsed tag.

    Example:
        >>> source = Stimulus(script=[(Tag(0), 1), (Tag(5, 1), 2)])

    Tags after the final tag, or before a mode around it is first active, never come.

    Raises:
        ValueError: Before time starts, if the tags of the script do not ascend.
    """

    out = Output[Any]()
    script: Script = param(())
    advance = LogicalAction[None]()

    def setup(self) -> None:
        """Check the script."""
        tags = [Tag(*tag) for tag, _ in self.script]
        if any(later <= tag for tag, later in pairwise(tags)):
            msg = f"the tags of the script of {self.name} must ascend, got {tags}"
            raise ValueError(msg)
        self._left = [
            (tag, value) for tag, (_, value) in zip(tags, self.script, strict=True)
        ]

    @reaction(startup, advance, effects=[out, advance])
    def play(self) -> None:
        """Set the value that is due now, then schedule the next one."""
        now = Tag(self.elapsed, self.tag.microstep)
        while self._left and self._left[0][0] <= now:
            tag, value = self._left.pop(0)
            if tag == now:
                self.out.set(value)
        if self._left:
            # A microstep without events is reached one microstep at a time.
            self.advance.schedule(self._left[0][0].time - now.time)


class Collector(Reactor):
    """Appends what arrives at ``x`` to a list that the test passes in.

    Example:
        >>> seen: list[tuple[Tag, int]] = []
        >>> sink = Collector(into=seen)

    ``into`` receives (elapsed tag, value) at each tag at which ``x`` is present. Read
    the list after the run.
    """

    x = Input[Any]()
    into: list[tuple[Tag, Any]] = param()

    @reaction(x)
    def collect(self) -> None:
        """Append the value."""
        tag = Tag(self.elapsed, self.tag.microstep)
        self.into.append((tag, self.x.value))


class Recorder(Reactor):
    """Passes ``x`` on to ``out`` at the same tag, so that a trace shows it by name."""

    x = Input[Any]()
    out = Output[Any]()

    @reaction(x, effects=[out])
    def record(self) -> None:
        """Pass it on."""
        self.out.set(self.x.value)


def script(times: Iterable[tuple[int, Any]]) -> Script:
    """Return a script from plain (elapsed time, value) pairs, all at microstep 0."""
    return tuple((Tag(time), value) for time, value in times)
