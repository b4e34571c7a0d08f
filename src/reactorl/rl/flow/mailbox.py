# SPDX-License-Identifier: Apache-2.0
"""Where a delayed connection ends: also what was under way when a run stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reactorl import Input, LogicalAction, Output, Reactor, param, reaction, startup

if TYPE_CHECKING:
    from collections.abc import Sequence


class Mailbox(Reactor):
    """Passes on what arrives, at the tag at which it does.

    Of a run that goes on where another one stopped, what that one had sent arrives at
    the tags at which it would have arrived there.
    """

    late = Input[Any]()
    out = Output[Any]()
    kept = LogicalAction[Any]()

    restored: Sequence[tuple[int, Any]] = param(())
    """When, in nanoseconds since the start of the first run, and what."""

    @reaction(startup, effects=[kept])
    def begin(self) -> None:
        """Keep what is still to come."""
        for time, value in self.restored:
            self.kept.schedule(time, value)

    @reaction(late, effects=[out])
    def pass_on(self) -> None:
        """Pass on what arrived."""
        self.out.set(self.late.value)

    @reaction(kept, effects=[out])
    def deliver(self) -> None:
        """Pass on what was kept."""
        self.out.set(self.kept.value)
