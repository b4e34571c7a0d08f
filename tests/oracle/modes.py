# SPDX-License-Identifier: Apache-2.0
"""Modes: which are active, and the pending events when that changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reactorl.tag import Tag
from tests.oracle.events import EventQueue, Trigger, Waiting
from tests.oracle.graph import scope_chain, stages

if TYPE_CHECKING:
    from reactorl._program.program import Entry, Program


@dataclass
class Suspended:
    """An event of an inactive mode, with the delay it had left when time stopped."""

    event: Waiting
    remaining: int


class Modes:
    """The current mode of every modal reactor, and all events that stand still."""

    def __init__(self, program: Program, start: int) -> None:
        self._program = program
        self._stages = stages(program)
        self._initial = {
            mode.reactor: mode.id for mode in program.modes if mode.initial
        }
        self._current = dict(sorted(self._initial.items()))
        self._suspended: list[Suspended] = []
        self.requested: dict[int, tuple[int, Entry]] = {}
        """Modal reactor -> the mode set last at this tag, and how to enter it."""
        self.reset_due: set[int] = set()
        """Modes entered by reset whose reset reactions have not run yet."""
        self.visited: set[int] = set()
        """Modes that have ever been active."""
        self._left_at = {mode.id: start for mode in program.modes}
        """When the clock of a mode stopped, if it is stopped."""
        self._running = self._active_modes()
        self.visited |= self._running

    def active(self, scope: int) -> bool:
        """Whether ``scope`` and all modes around it are current."""
        return all(
            self._current[self._program.modes[mode].reactor] == mode
            for mode in scope_chain(self._program, scope)
        )

    def scope_of(self, trigger: Trigger) -> int:
        """Return the scope a trigger lives in."""
        match trigger.kind:
            case "timer":
                return self._program.timers[trigger.id].scope
            case "action":
                return self._program.actions[trigger.id].scope
            case "stage":
                return self._stages[trigger.id][0].scope

    def suspend(self, event: Waiting, remaining: int) -> None:
        """Let an event stand still until its mode is active."""
        self._suspended.append(Suspended(event, remaining))

    def commit(
        self, now: Tag, stop: Tag, queue: EventQueue, last: dict[int, Tag]
    ) -> None:
        """Switch modes after all work of the tag ``now``, outermost reactors first.

        Args:
            now: The tag.
            stop: Events after this tag are lost.
            queue: The waiting events.
            last: Action -> the tag that the latest call of schedule() gave.
        """
        entered: dict[int, Entry] = {}
        for reactor in self._current:
            around = self._program.reactors[reactor].scope
            if entered.get(around) == "reset":
                self.requested[reactor] = (self._initial[reactor], "reset")
            if reactor in self.requested:
                mode, entry = self.requested[reactor]
                self._current[reactor] = mode
                entered[mode] = entry
        self.requested.clear()

        for mode, entry in entered.items():
            if entry == "reset":
                self._reset(mode, queue, last)
        before, self._running = self._running, self._active_modes()
        for mode in before - self._running:
            self._left_at[mode] = now.time
        self._stop_the_clocks(now, queue)
        self._start_the_clocks(now, stop, queue)
        for mode in self._running - before:
            # Spacing is local time as well.
            for action in self._program.actions:
                if action.scope == mode and action.id in last:
                    tag = last[action.id]
                    stood = now.time - self._left_at[mode]
                    last[action.id] = Tag(tag.time + stood, tag.microstep)
        self.visited |= self._running

    def _active_modes(self) -> set[int]:
        return {mode.id for mode in self._program.modes if self.active(mode.id)}

    def _reset(self, mode: int, queue: EventQueue, last: dict[int, Tag]) -> None:
        """Forget all that waits in ``mode``; restart its timers; owe it a reset."""
        queue.events = [e for e in queue.events if self.scope_of(e.trigger) != mode]
        self._suspended = [
            s for s in self._suspended if self.scope_of(s.event.trigger) != mode
        ]
        for action in self._program.actions:
            if action.scope == mode:
                last.pop(action.id, None)
        for timer in self._program.timers:
            if timer.scope == mode:
                # As if it had never been active: the full offset remains.
                event = Waiting(Trigger("timer", timer.id), Tag(0))
                self.suspend(event, timer.offset)
        self.reset_due.add(mode)

    def _stop_the_clocks(self, now: Tag, queue: EventQueue) -> None:
        for event in sorted(queue.events, key=lambda event: event.tag):
            if not self.active(self.scope_of(event.trigger)):
                queue.remove(event)
                self.suspend(event, event.tag.time - now.time)

    def _start_the_clocks(self, now: Tag, stop: Tag, queue: EventQueue) -> None:
        still = self._suspended
        self._suspended = []
        for suspended in still:
            trigger = suspended.event.trigger
            if not self.active(self.scope_of(trigger)):
                self._suspended.append(suspended)
                continue
            tag = queue.free(trigger, now.delay(suspended.remaining))
            if tag <= stop:
                queue.put(Waiting(trigger, tag, suspended.event.payload))
