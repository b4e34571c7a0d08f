# SPDX-License-Identifier: Apache-2.0
"""The layout of a class, which all its instances share; computed once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from reactorl._decl.action import ActionDeclaration
from reactorl._decl.mode import Mode
from reactorl._decl.port import PortDeclaration
from reactorl._decl.timer import Timer
from reactorl._decl.watchdog import Watchdog
from reactorl._program import rules
from reactorl._program.errors import PROGRAM_ERRORS

if TYPE_CHECKING:
    from reactorl._decl.declaration import Declaration
    from reactorl._decl.reaction import Mention, Reaction
    from reactorl._decl.reactor import Reactor
    from reactorl._program.errors import ErrorCollector
    from reactorl._program.program import Entry


class Signature(NamedTuple):
    """A reaction's signature with own elements as positions within their kind.

    Ports stay in textual order: an int is an own port, a Mention one of a child.
    """

    trigger_ports: tuple[int | Mention, ...]
    trigger_actions: tuple[int, ...]
    trigger_timers: tuple[int, ...]
    source_ports: tuple[int | Mention, ...]
    effect_ports: tuple[int | Mention, ...]
    effect_actions: tuple[int, ...]
    effect_modes: tuple[tuple[int, Entry], ...]
    effect_watchdogs: tuple[int, ...]


class Layout:
    """Positions of a class's elements and its reactions' signatures.

    An element in a role it cannot have, or an undeclared one, is an error and left out
    of the signature.
    """

    __slots__ = (
        "_errors",
        "cls",
        "decl",
        "name",
        "port_index",
        "reset_states",
        "signatures",
        "watchdog_actions",
    )

    def __init__(self, cls: type[Reactor], errors: ErrorCollector) -> None:
        self.cls = cls
        self._errors = errors
        self.decl = decl = cls.__reactor__
        self.name = cls.__name__
        self.port_index = {port.name: i for i, port in enumerate(decl.ports)}
        self.signatures = [self._signature(reaction) for reaction in decl.reactions]
        self.watchdog_actions = [self._actions_of(dog) for dog in decl.watchdogs]
        self.reset_states = self._reset_states()

    def _own(self, mention: Mention, where: Reaction) -> Declaration:
        found = self.decl.elements.get(mention.name)
        if found is None:
            raise rules.unknown(mention.name, self.decl, where.where)
        return found

    def _signature(self, reaction: Reaction) -> Signature:
        decl = self.decl
        ports: dict[str, list[int | Mention]] = {}
        trigger_actions: list[int] = []
        trigger_timers: list[int] = []
        effect_actions: list[int] = []
        effect_modes: list[tuple[int, Entry]] = []
        effect_watchdogs: list[int] = []
        for role, mentions in (
            ("trigger", reaction.triggers),
            ("source", reaction.sources),
            ("effect", reaction.effects),
        ):
            listed = ports[role] = []
            for mention in mentions:
                if mention.child is not None:
                    listed.append(mention)
                    continue
                try:
                    element = self._own(mention, reaction)
                    rules.check_own_role(element, role, reaction)
                except PROGRAM_ERRORS as error:
                    self._errors.add(error)
                    continue
                if isinstance(element, PortDeclaration):
                    listed.append(self.port_index[element.name])
                elif isinstance(element, Timer):
                    trigger_timers.append(decl.timers.index(element))
                elif isinstance(element, ActionDeclaration):
                    index = decl.actions.index(element)
                    (trigger_actions if role == "trigger" else effect_actions).append(
                        index
                    )
                elif isinstance(element, Mode):
                    entry = mention.entry or "reset"
                    effect_modes.append((decl.modes.index(element), entry))
                elif isinstance(element, Watchdog):
                    effect_watchdogs.append(decl.watchdogs.index(element))
        return Signature(
            tuple(ports["trigger"]),
            tuple(trigger_actions),
            tuple(trigger_timers),
            tuple(ports["source"]),
            tuple(ports["effect"]),
            tuple(effect_actions),
            tuple(effect_modes),
            tuple(effect_watchdogs),
        )

    def _actions_of(self, watchdog: Watchdog) -> tuple[int, ...]:
        found = []
        for effect in watchdog.effects:
            name = effect if isinstance(effect, str) else effect.name
            element = self.decl.elements.get(name)
            try:
                if element is None:
                    raise rules.unknown(name, self.decl, watchdog.where)
                rules.check_watchdog_effect(element, effect, watchdog)
            except PROGRAM_ERRORS as error:
                self._errors.add(error)
                continue
            found.append(self.decl.actions.index(element))
        return tuple(found)

    def _reset_states(self) -> tuple[tuple[Mode | None, tuple[str, ...]], ...]:
        groups: dict[Mode | None, list[str]] = {}
        for state in self.decl.states:
            if state.reset:
                groups.setdefault(state.mode, []).append(state.name)
        return tuple((mode, tuple(names)) for mode, names in groups.items())
