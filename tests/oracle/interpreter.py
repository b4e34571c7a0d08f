# SPDX-License-Identifier: Apache-2.0
"""One run of a program, read off the rules: slow, plain, one thread, no levels.

At a tag, any reaction may go next that no other waiting reaction has to precede; which
one is a seeded choice. By the promise of the model the choice cannot be observed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from reactorl._program.program import NO_SCOPE
from reactorl._runtime.instances import instantiate, restore_reset_state
from reactorl.tag import FOREVER, MAX_MICROSTEP, Tag
from reactorl.trace import Event, ReactionRecord, TagRecord, Trace, value_text
from tests.oracle.events import EventQueue, Trigger, Waiting
from tests.oracle.graph import Precedence, roots, stage_name, stages
from tests.oracle.modes import Modes
from tests.oracle.views import Host

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from reactorl._program.program import Entry, Program, ReactionNode


@dataclass(frozen=True)
class Options:
    """The inputs of a run besides the program.

    Attributes:
        choice_seed: Which of the ready reactions goes next.
        timeout: The final tag is not later than (timeout, 0), elapsed.
        keepalive: Wait when no event is left; None: if there are physical actions.
        seed: The run's seed.
        start_time: Time of the first tag.
        physical_events: What happens at physical actions and physical connections:
            elapsed tag, full name (``main.a.out ~> 5`` for a connection), value. There
            is no wall clock: nothing else ever happens at these.
        missed_deadlines: Elapsed tag and full name of reactions that are late, besides
            those whose deadline is zero.
        deep: Tell objects apart in the trace.
        max_tags: More tags than this are an error.
    """

    choice_seed: int = 0
    timeout: int | None = None
    keepalive: bool | None = None
    seed: int = 0
    start_time: int = 0
    physical_events: Iterable[tuple[Tag, str, object]] = ()
    missed_deadlines: Collection[tuple[Tag, str]] = ()
    deep: bool = False
    max_tags: int = 10_000


@dataclass
class Slot:
    """The value of a channel or an action, which is kept when it is absent."""

    present: bool = False
    value: object = None


@dataclass
class Doing:
    """The effects of the running reaction so far."""

    node: ReactionNode
    sets: set[int] = field(default_factory=set)  # channels
    events: list[Event] = field(default_factory=list)
    mode: tuple[int, Entry] | None = None
    copies: dict[int, object] = field(default_factory=dict)  # of mutable inputs


class Run:
    """The state of one run."""

    def __init__(self, program: Program, options: Options) -> None:
        self.program = program
        self.options = options
        self.start = Tag(options.start_time, 0)
        self.now = self.start
        self.stop = Tag(FOREVER, MAX_MICROSTEP)
        if options.timeout is not None:
            self.stop = Tag(options.start_time + options.timeout, 0)
        self.doing: Doing | None = None
        self.deadlines = [reaction.deadline for reaction in program.reactions]

        self.roots = roots(program)
        self._stages = stages(program)
        self._precedence = Precedence(program, self.roots)
        self._choice = Random(options.choice_seed)
        self.queue = EventQueue()
        self.modes = Modes(program, options.start_time)
        self.channels = [Slot() for _ in program.channel_port]
        self.actions = [Slot() for _ in program.actions]
        self.last: dict[int, Tag] = {}  # action -> tag of its latest schedule call
        self._started: set[int] = set()  # startup reactions that have run
        self._waiting: set[int] = set()  # triggered at this tag, not yet run
        self._done: set[int] = set()  # run at this tag
        self._stop_requested = False
        self._physical = self._physical_events()
        self.instances = instantiate(program, Host(self))

    def interpret(self) -> Trace:
        """Run from the start to the final tag."""
        for timer in self.program.timers:
            event = Waiting(Trigger("timer", timer.id), self.start)
            if not self.modes.active(timer.scope):
                self.modes.suspend(event, timer.offset)
            elif timer.offset <= self.stop.time - self.start.time:
                event.tag = Tag(self.start.time + timer.offset, 0)
                self.queue.put(event)

        records = []
        for _ in range(self.options.max_tags):
            final = self.now >= self.stop
            record = self._tag(final=final)
            if record.reactions or final:
                records.append(record)
            if final:
                return Trace(tuple(records))
            if self._stop_requested:
                self.stop = min(self.stop, self.now.delay(0))
            self.modes.commit(self.now, self.stop, self.queue, self.last)
            self.now = self._next_tag()
        msg = f"more than {self.options.max_tags} tags"
        raise RuntimeError(msg)

    def _next_tag(self) -> Tag:
        tags = [event.tag for event in self.queue.events]
        tags += [event.tag for event in self._physical]
        if self._owed():
            tags.append(self.now.delay(0))
        if not tags:
            keepalive = self.options.keepalive
            if keepalive is None:
                keepalive = self.program.has_physical_action
            if not keepalive:  # starvation
                self.stop = min(self.stop, self.now.delay(0))
            assert self.stop.time < FOREVER, "the program would wait forever"
        return min([self.stop, *tags])

    # ---- one tag ---------------------------------------------------------------

    def _tag(self, *, final: bool) -> TagRecord:
        for slot in (*self.channels, *self.actions):
            slot.present = False
        self._waiting = set()
        self._done = set()

        # Everything of the tag is known before any reaction runs.
        for reaction in self._owed():
            self._waiting.add(reaction.id)
            self._started.add(reaction.id)
        self.modes.reset_due = {
            mode for mode in self.modes.reset_due if not self.modes.active(mode)
        }
        if final:
            self._waiting |= {
                reaction.id
                for reaction in self.program.reactions
                if reaction.on_shutdown
                and (reaction.scope == NO_SCOPE or reaction.scope in self.modes.visited)
            }
        for event in self.queue.take(self.now):
            self._fire(event)
        for event in [event for event in self._physical if event.tag == self.now]:
            self._physical.remove(event)
            if self.modes.active(self.modes.scope_of(event.trigger)):
                self._fire(event)

        ran = {}
        while self._waiting:
            reaction = self._choose()
            ran[reaction] = self._react(self.program.reactions[reaction])
        events = self._delayed()

        order = sorted(ran, key=self._precedence.order)
        reactions = tuple(ran[reaction] for reaction in order)
        return TagRecord(self.elapsed(self.now), reactions, events)

    def _owed(self) -> list[ReactionNode]:
        """Return the startup and reset reactions that are due and active."""
        return [
            reaction
            for reaction in self.program.reactions
            if self.modes.active(reaction.scope)
            and (
                (reaction.on_startup and reaction.id not in self._started)
                or (reaction.on_reset and reaction.scope in self.modes.reset_due)
            )
        ]

    def _fire(self, event: Waiting) -> None:
        """Make the trigger of an event present and enable its reactions."""
        trigger = event.trigger
        match trigger.kind:
            case "timer":
                period = self.program.timers[trigger.id].period
                again = self.now.delay(period)
                if period > 0 and again <= self.stop:
                    self.queue.put(Waiting(trigger, again))
                self._trigger(lambda node: trigger.id in node.trigger_timers)
            case "action":
                self.actions[trigger.id] = Slot(present=True, value=event.payload)
                self._trigger(lambda node: trigger.id in node.trigger_actions)
            case "stage":
                for connection in self._stages[trigger.id]:
                    self.put(connection.target, event.payload)
                    self._trigger_readers(connection.target)

    def _trigger_readers(self, channel: int) -> None:
        self._trigger(
            lambda node: any(
                self.roots[other] == channel
                for port in node.trigger_ports
                for other in self.program.ports[port].channels
            )
        )

    def _trigger(self, is_triggered: Callable[[ReactionNode], bool]) -> None:
        for node in self.program.reactions:
            if is_triggered(node) and self.modes.active(node.scope):
                assert node.id not in self._done, "triggered after it ran"
                self._waiting.add(node.id)

    def _choose(self) -> int:
        ready = [
            reaction
            for reaction in sorted(self._waiting)
            if not any(
                reaction in self._precedence.reachable[other] for other in self._waiting
            )
        ]
        return self._choice.choice(ready)

    def _react(self, node: ReactionNode) -> ReactionRecord:
        """Run one reaction."""
        name = self.program.reaction_name(node.id)
        late = self.is_late(node)
        self.doing = doing = Doing(node)
        instance = self.instances[node.reactor]
        match node.kind:
            case "body":
                body = node.handler if late else node.body
                if body is not None:
                    body(instance)
            case "forward":
                assert node.forward is not None
                source, target = (self.roots[channel] for channel in node.forward)
                if self.channels[source].present:
                    self.put(target, self.channels[source].value)
                    doing.sets.add(target)
            case "reset_state":
                restore_reset_state(instance, node.reset_states)
        self.doing = None
        self._waiting.remove(node.id)
        self._done.add(node.id)

        sets = []
        for channel in sorted(doing.sets):
            self._trigger_readers(channel)
            text = value_text(self.channels[channel].value, deep=self.options.deep)
            sets.append((self.program.channel_name(channel), text))
        modes = []
        if doing.mode is not None:
            mode, entry = doing.mode
            self.modes.requested[node.reactor] = doing.mode
            name_of_mode = self.program.element_name(self.program.modes[mode])
            modes.append(f"{name_of_mode} {entry}")
        return ReactionRecord(
            name, late, tuple(sets), tuple(doing.events), tuple(modes)
        )

    def _delayed(self) -> tuple[Event, ...]:
        """Put present inputs of delayed connections on the queue."""
        events = []
        for stage, connections in self._stages.items():
            first = connections[0]
            slot = self.channels[self.roots[first.source]]
            if first.physical or not slot.present or not self.modes.active(first.scope):
                continue
            trigger = Trigger("stage", stage)
            assert first.delay is not None
            tag = self.queue.free(trigger, self.now.delay(first.delay))
            kept = tag <= self.stop and tag.time < FOREVER
            if kept:
                self.queue.put(Waiting(trigger, tag, slot.value))
            name = stage_name(self.program, first)
            events.append(Event(name, self.elapsed(tag) if kept else None))
        return tuple(events)

    def elapsed(self, tag: Tag) -> Tag:
        """Return ``tag`` counted from the start."""
        return Tag(tag.time - self.start.time, tag.microstep)

    def running(self) -> ReactionNode:
        """Return the reaction that runs."""
        assert self.doing is not None, "no reaction is running"
        return self.doing.node

    def put(self, channel: int, value: object) -> None:
        """Make a channel present."""
        assert self.roots[channel] == channel, "something else drives this channel"
        self.channels[channel] = Slot(present=True, value=value)

    def is_late(self, node: ReactionNode) -> bool:
        """Whether the deadline of a reaction has passed; the options know."""
        deadline = self.deadlines[node.id]
        if deadline is None:
            return False
        place = self.elapsed(self.now), self.program.reaction_name(node.id)
        return deadline == 0 or place in self.options.missed_deadlines

    def request_stop(self) -> None:
        """Make the next microstep the final tag, once this one is done."""
        self._stop_requested = True

    def _physical_events(self) -> list[Waiting]:
        """Return the physical events, which are in the options."""
        triggers = {
            self.program.element_name(action): Trigger("action", action.id)
            for action in self.program.actions
            if action.physical
        }
        for stage, connections in self._stages.items():
            if connections[0].physical:
                name = stage_name(self.program, connections[0])
                triggers[name] = Trigger("stage", stage)
        return [
            Waiting(
                triggers[name],
                Tag(self.start.time + tag.time, tag.microstep),
                value,
            )
            for tag, name, value in self.options.physical_events
        ]
