# SPDX-License-Identifier: Apache-2.0
"""The objects that bodies use: ports, actions, modes, and the context.

Each call asks the run what the running reaction may touch.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from reactorl.errors import AccessError
from reactorl.tag import Duration, Tag, nanoseconds
from reactorl.trace import Event
from tests.oracle.events import schedule

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from reactorl._program.program import (
        ActionNode,
        ModeNode,
        PortNode,
        ReactorNode,
        WatchdogNode,
    )
    from tests.oracle.interpreter import Doing, Run, Slot


def _check(
    run: Run, access: str, element: str, what: int, allowed: Collection[int]
) -> Doing:
    """Return the running reaction, if it may access ``what``."""
    doing = run.doing
    assert doing is not None, "no reaction is running"
    if what not in allowed:
        name = run.program.reaction_name(doing.node.id)
        raise AccessError(name, element, doing.node.where, access, "declare it")
    return doing


class PortView:
    """One channel of a port."""

    def __init__(self, run: Run, port: PortNode, channel: int) -> None:
        self._run = run
        self._port = port
        self._channel = channel
        # What a reader set: the arrival before that, the tag, the value.
        self._replaced: tuple[Slot, Tag, object] | None = None

    def _reading(self) -> Doing:
        node = self._run.running()
        allowed = (*node.trigger_ports, *node.source_ports, *node.effect_ports)
        name = self._run.program.channel_name(self._channel)
        return _check(self._run, "reads", name, self._port.id, allowed)

    @property
    def is_present(self) -> bool:
        self._reading()
        if self._replaced is not None and self._replaced[1] == self._run.now:
            return True
        return self._slot().present

    def _slot(self) -> Slot:
        """Return what arrived last; every arrival is another object."""
        return self._run.channels[self._run.roots[self._channel]]

    @property
    def value(self) -> object:
        doing = self._reading()
        value = self._slot().value
        if self._replaced is not None and self._replaced[0] is self._slot():
            value = self._replaced[2]
        if not self._port.mutable or self._port.id in doing.node.effect_ports:
            return value
        # One private copy per reaction and tag.
        if self._channel not in doing.copies:
            doing.copies[self._channel] = copy.deepcopy(value)
        return doing.copies[self._channel]

    def set(self, value: object) -> None:
        name = self._run.program.channel_name(self._channel)
        node = self._run.running()
        is_own = self._port.reactor == node.reactor
        if is_own and self._port.is_input and self._may_be_replaced():
            doing = self._reading()
            self._replaced = (self._slot(), self._run.now, value)
            doing.copies.pop(self._channel, None)
            return
        allowed = node.effect_ports
        doing = _check(self._run, "sets", name, self._port.id, allowed)
        self._run.put(self._channel, value)
        doing.sets.add(self._channel)

    def _may_be_replaced(self) -> bool:
        return self._run.program.reactors[self._port.reactor].cls._sets_inputs


class MultiPortView:
    """All channels of a multiport."""

    def __init__(self, channels: list[PortView]) -> None:
        self._channels = channels

    @property
    def width(self) -> int:
        return len(self._channels)

    @property
    def is_present(self) -> bool:
        return any(channel.is_present for channel in self._channels)

    def __len__(self) -> int:
        return len(self._channels)

    def __getitem__(self, index: int) -> PortView:
        return self._channels[index]

    def __iter__(self) -> Iterator[PortView]:
        return iter(self._channels)

    def values(self) -> list[object]:
        return [channel.value for channel in self._channels if channel.is_present]

    def present(self) -> Iterator[tuple[int, PortView]]:
        for index, channel in enumerate(self._channels):
            if channel.is_present:
                yield index, channel


class ActionView:
    """An action."""

    def __init__(self, run: Run, action: ActionNode) -> None:
        self._run = run
        self._action = action
        self._name = run.program.element_name(action)

    def _touching(self, access: str) -> Doing:
        # An action that triggers a reaction may also be scheduled by it.
        node = self._run.running()
        allowed = (*node.trigger_actions, *node.effect_actions)
        return _check(self._run, access, self._name, self._action.id, allowed)

    @property
    def is_present(self) -> bool:
        self._touching("reads")
        return self._run.actions[self._action.id].present

    @property
    def value(self) -> object:
        self._touching("reads")
        return self._run.actions[self._action.id].value

    def schedule(self, delay: Duration = 0, value: object = None) -> None:
        doing = self._touching("schedules")
        run, action = self._run, self._action
        if action.physical:
            return  # stamped by a clock that is not there; see ``physical_events``
        tag = None
        if run.modes.active(action.scope):
            tag = schedule(
                run.queue,
                action,
                last=run.last.get(action.id),
                now=run.now,
                stop=run.stop,
                delay=nanoseconds(delay),
                payload=value,
            )
        if tag is not None:
            run.last[action.id] = tag
        event = Event(self._name, None if tag is None else run.elapsed(tag))
        doing.events.append(event)


class ModeView:
    """A mode."""

    def __init__(self, run: Run, mode: ModeNode) -> None:
        self._run = run
        self._mode = mode

    def set(self) -> None:
        entries = dict(self._run.running().effect_modes)
        name = self._run.program.element_name(self._mode)
        doing = _check(self._run, "sets", name, self._mode.id, entries)
        doing.mode = (self._mode.id, entries[self._mode.id])


class WatchdogView:
    """A watchdog; in virtual time it never expires."""

    def __init__(self, run: Run, watchdog: WatchdogNode) -> None:
        self._run = run
        self._watchdog = watchdog

    def _check(self, access: str) -> None:
        name = self._run.program.element_name(self._watchdog)
        allowed = self._run.running().effect_watchdogs
        _check(self._run, access, name, self._watchdog.id, allowed)

    def start(self, extra: Duration = 0) -> None:
        del extra
        self._check("starts")

    def stop(self) -> None:
        self._check("stops")


class ContextView:
    """What a running reactor can query. The wall clock is never ahead of the tag."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.run_seed = run.options.seed

    def tag(self) -> Tag:
        return self._run.now

    def start_time(self) -> int:
        return self._run.start.time

    def physical_time(self) -> int:
        return self._run.now.time

    def request_stop(self) -> None:
        self._run.request_stop()

    def check_deadline(self, invoke_handler: bool) -> bool:  # noqa: FBT001
        node = self._run.running()
        late = self._run.is_late(node)
        if late and invoke_handler and node.handler is not None:
            node.handler(self._run.instances[node.reactor])
        return late

    def update_deadline(self, deadline: int) -> None:
        self._run.deadlines[self._run.running().id] = deadline


class Host:
    """Supplies views to the instances of a run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._context = ContextView(run)

    def context(self, node: ReactorNode) -> ContextView:
        del node
        return self._context

    def port(self, holder: int, port: PortNode) -> PortView | MultiPortView:
        del holder  # the access rights depend on the running reaction
        views = [PortView(self._run, port, channel) for channel in port.channels]
        return views[0] if port.width is None else MultiPortView(views)

    def action(self, action: ActionNode) -> ActionView:
        return ActionView(self._run, action)

    def mode(self, mode: ModeNode) -> ModeView:
        return ModeView(self._run, mode)

    def watchdog(self, watchdog: WatchdogNode) -> WatchdogView:
        return WatchdogView(self._run, watchdog)
