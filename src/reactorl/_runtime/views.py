# SPDX-License-Identifier: Apache-2.0
"""What bodies hold: views of ports, actions and modes, each with its access list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reactorl import _core

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reactorl._decl.reactor import Context
    from reactorl._program.program import (
        ActionNode,
        ModeNode,
        PortNode,
        Program,
        ReactorNode,
        WatchdogNode,
    )
    from reactorl._runtime.plan import Planned
    from reactorl._runtime.watchdogs import Watchdogs

_NO_REACTIONS: tuple[list[int], list[int]] = ([], [])


class MultiPort(tuple[Any, ...]):
    """The channels of a multiport; indexing and iterating give ports."""

    __slots__ = ()

    @property
    def width(self) -> int:
        """How many channels there are."""
        return len(self)

    @property
    def is_present(self) -> bool:
        """Whether any channel is present at the current tag."""
        return any(port.is_present for port in self)

    def values(self) -> list[Any]:
        """Return the values of the present channels, in order."""
        return _core.values(self)

    def present(self) -> Iterator[tuple[int, Any]]:
        """Iterate over (index, port) of the channels that are present at this tag."""
        return ((i, port) for i, port in enumerate(self) if port.is_present)


class Views:
    """Makes the views of one run; see ``_runtime.instances.ViewFactory``."""

    def __init__(
        self,
        program: Program,
        planned: Planned,
        session: _core.Session,
        context: Context,
        watchdogs: Watchdogs,
    ) -> None:
        self._program = program
        self._planned = planned
        self._session = session
        self._context = context
        self._watchdogs = watchdogs
        self._ports: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
        self._actions: dict[int, tuple[list[int], list[int]]] = {}
        self._modes: dict[int, tuple[list[int], list[int]]] = {}
        for reaction in program.reactions:
            holder, index = reaction.reactor, reaction.index
            for port in (*reaction.trigger_ports, *reaction.source_ports):
                _note(self._ports, (holder, port), index, reads=True)
            for port in reaction.effect_ports:
                _note(self._ports, (holder, port), index, reads=True, writes=True)
            for action in reaction.trigger_actions:
                # As in LF, what an action triggers may schedule it again.
                _note(self._actions, action, index, reads=True, writes=True)
            for action in reaction.effect_actions:
                _note(self._actions, action, index, reads=True, writes=True)
            for mode, entry in reaction.effect_modes:
                by_reset = entry == "reset"
                _note(self._modes, mode, index, reads=by_reset, writes=not by_reset)

    def port(self, holder: int, node: PortNode) -> object:
        """Return what reactor ``holder`` sees of a port, its own or a child's."""
        readers, writers = self._ports.get((holder, node.id), _NO_REACTIONS)
        slots: Sequence[int] = self._planned.channel_slot
        is_own = holder == node.reactor
        sets_inputs = self._program.reactors[holder].cls._sets_inputs
        channels = tuple(
            self._session.port(
                holder=holder,
                element=channel,
                slot=slots[channel],
                copies=node.mutable and is_own,
                replaceable=node.is_input and is_own and sets_inputs,
                readers=readers,
                writers=writers,
            )
            for channel in node.channels
        )
        return channels[0] if node.width is None else MultiPort(channels)

    def action(self, node: ActionNode) -> object:
        """Return the view of an action."""
        readers, writers = self._actions.get(node.id, _NO_REACTIONS)
        return self._session.action(
            holder=node.reactor,
            element=node.id,
            slot=self._planned.action_slot[node.id],
            trigger=self._planned.first_action + node.id,
            physical=node.physical,
            readers=readers,
            writers=writers,
        )

    def mode(self, node: ModeNode) -> object:
        """Return the view of a mode."""
        resetting, resuming = self._modes.get(node.id, _NO_REACTIONS)
        return self._session.mode(
            holder=node.reactor,
            element=node.id,
            resetting=resetting,
            resuming=resuming,
        )

    def watchdog(self, node: WatchdogNode) -> object:
        """Return the view of a watchdog."""
        return self._watchdogs.view(node)

    def context(self, node: ReactorNode) -> Context:
        """Return what a reactor asks for the time; one serves all."""
        return self._context


def _note(
    table: dict[Any, tuple[list[int], list[int]]],
    key: object,
    index: int,
    *,
    reads: bool,
    writes: bool = False,
) -> None:
    readers, writers = table.setdefault(key, ([], []))
    if reads:
        readers.append(index)
    if writes:
        writers.append(index)
