# SPDX-License-Identifier: Apache-2.0
"""The Program: a whole reactor program as frozen data, every instance with an id.

Front ends produce a ``Program``; the runtime, the test oracle and diagrams consume it.
An id is an index into the table of its kind. Tables are in elaboration order: parents
before children, textual order within a class, bank members by index. Nothing here
depends on hashing, addresses or the wall clock.

A *channel* is the unit that carries a value: a plain port has one, a multiport of width
n has n. Channels are numbered through all ports (``PortNode.first``).

A *scope* is the id of the innermost mode that contains an element, or ``NO_SCOPE``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from reactorl.position import Position as Position  # noqa: TC001 - re-exported

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reactorl._decl.dtype import DType
    from reactorl._decl.native import NativeBody
    from reactorl._decl.reactor import Reactor
    from reactorl._program.levels import Precedence
    from reactorl.diagnostics import Diagnostic

NO_SCOPE: Final = -1

Policy: TypeAlias = Literal["defer", "drop", "replace", "update"]
Entry: TypeAlias = Literal["reset", "history"]


@dataclass(frozen=True, slots=True)
class ReactorNode:
    """One reactor instance."""

    id: int
    parent: int  # -1 for the main reactor
    name: str  # within the parent, with the index of a bank member: "actor[3]"
    path: str  # full name, "main.actor[3]"; unique
    cls: type[Reactor]
    params: Mapping[str, Any]
    bank_index: int | None
    bank_width: int | None
    scope: int
    where: Position
    at: str | None = None  # the federate that build() proposes; not in the digest


@dataclass(frozen=True, slots=True)
class PortNode:
    """One port of one reactor instance."""

    id: int
    reactor: int
    name: str
    is_input: bool
    width: int | None  # None: a plain port, not a multiport
    first: int  # id of its first channel
    mutable: bool
    where: Position
    dtype: DType | None = None  # as declared; see ``dtypes``

    @property
    def channels(self) -> range:
        """The channel ids of this port."""
        return range(self.first, self.first + (1 if self.width is None else self.width))


@dataclass(frozen=True, slots=True)
class TimerNode:
    """One timer: at ``offset`` after the start, then every ``period`` (0: once)."""

    id: int
    reactor: int
    name: str
    offset: int
    period: int
    scope: int
    where: Position


@dataclass(frozen=True, slots=True)
class ActionNode:
    """One action."""

    id: int
    reactor: int
    name: str
    physical: bool
    min_delay: int
    min_spacing: int | None
    policy: Policy
    scope: int
    where: Position
    dtype: DType | None = None


@dataclass(frozen=True, slots=True)
class ModeNode:
    """One mode of one reactor; ``scope`` is the mode that contains the reactor."""

    id: int
    reactor: int
    name: str
    initial: bool
    scope: int
    where: Position


@dataclass(frozen=True, slots=True)
class WatchdogNode:
    """One watchdog; ``handler`` runs when it expires on the physical clock."""

    id: int
    reactor: int
    name: str
    timeout: int
    handler: Callable[[Any], object]
    effect_actions: tuple[int, ...]
    scope: int
    where: Position


@dataclass(frozen=True, slots=True)
class ReactionNode:
    """One reaction of one reactor instance.

    ``kind`` is ``body`` for what users write. ``forward`` copies ``forward[0]`` (a
    channel) to ``forward[1]`` when present: a connection that holds only in a mode.
    ``reset_state`` restores the reactor's reset state and comes first in its reactor.
    """

    id: int
    reactor: int
    name: str
    index: int  # position in its reactor's order
    kind: Literal["body", "forward", "reset_state"]
    on_startup: bool
    on_shutdown: bool
    on_reset: bool
    trigger_ports: tuple[int, ...]  # port ids: whole multiports, banks expanded
    trigger_actions: tuple[int, ...]
    trigger_timers: tuple[int, ...]
    source_ports: tuple[int, ...]
    effect_ports: tuple[int, ...]
    effect_actions: tuple[int, ...]
    effect_modes: tuple[tuple[int, Entry], ...]
    effect_watchdogs: tuple[int, ...]
    deadline: int | None
    body: Callable[[Any], object] | NativeBody | None
    handler: Callable[[Any], object] | NativeBody | None
    forward: tuple[int, int] | None
    reset_states: tuple[str, ...]  # names restored by a ``reset_state`` reaction
    scope: int
    where: Position
    stops: bool | None = None  # may end the program; None: its code tells


@dataclass(frozen=True, slots=True)
class ConnectionNode:
    """One channel-to-channel connection.

    ``delay`` is None for the same tag. ``stage`` numbers the delay stages (None without
    delay and not physical): targets of one left-hand channel of one statement share a
    stage, because broadcasting happens after the delay. ``serializer`` is not part of
    the digest: only federates that the connection joins use it.
    """

    id: int
    source: int
    target: int
    delay: int | None
    physical: bool
    stage: int | None
    scope: int
    where: Position
    serializer: str | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """A legal program, ready to be planned, interpreted or drawn."""

    reactors: tuple[ReactorNode, ...]
    ports: tuple[PortNode, ...]
    channel_port: tuple[int, ...]  # channel id -> port id
    timers: tuple[TimerNode, ...]
    actions: tuple[ActionNode, ...]
    modes: tuple[ModeNode, ...]
    watchdogs: tuple[WatchdogNode, ...]
    reactions: tuple[ReactionNode, ...]
    connections: tuple[ConnectionNode, ...]
    warnings: tuple[Diagnostic, ...]
    roots: Sequence[int] = field(compare=False, repr=False)
    """Channel -> the channel whose storage it shares (see ``routes``)."""
    order: Precedence = field(compare=False, repr=False)
    """Which reactions come before which (see ``levels``)."""

    @property
    def has_physical_action(self) -> bool:
        """Whether an idle program may still receive events (turns keepalive on)."""
        return any(action.physical for action in self.actions)

    @property
    def digest(self) -> str:
        """The SHA-256 of the program's structure, in hexadecimal; bodies aside."""
        from reactorl._program.text import digest

        return digest(self)

    def channel_name(self, channel: int) -> str:
        """Return the full name of a channel: ``main.actor[3].out`` or ``….out[1]``."""
        port = self.ports[self.channel_port[channel]]
        name = f"{self.reactors[port.reactor].path}.{port.name}"
        return name if port.width is None else f"{name}[{channel - port.first}]"

    def reaction_name(self, reaction: int) -> str:
        """Return the full name of a reaction: ``main.actor[3].act``."""
        node = self.reactions[reaction]
        return f"{self.reactors[node.reactor].path}.{node.name}"

    def element_name(
        self, node: TimerNode | ActionNode | ModeNode | WatchdogNode
    ) -> str:
        """Return the full name of a timer, action, mode or watchdog."""
        return f"{self.reactors[node.reactor].path}.{node.name}"
