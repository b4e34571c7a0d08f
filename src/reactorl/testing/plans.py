# SPDX-License-Identifier: Apache-2.0
"""Plans of reactor classes: plain data, from which ``realise`` makes classes.

A strategy draws plans rather than classes, so that a failing example prints whole and
shrinks well. Names are unique within a program, so that any class can extend any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reactorl._program.program import Entry, Policy


@dataclass(frozen=True)
class PortPlan:
    """A port. ``width`` is None for a plain port, -1 for a width that is inferred."""

    name: str
    is_input: bool
    width: int | None = None
    mutable: bool = False
    sends_lists: bool = False


@dataclass(frozen=True)
class TimerPlan:
    """A timer."""

    name: str
    offset: int = 0
    period: int = 0
    mode: str | None = None


@dataclass(frozen=True)
class ActionPlan:
    """An action."""

    name: str
    physical: bool = False
    min_delay: int = 0
    min_spacing: int | None = None
    policy: Policy = "defer"
    mode: str | None = None


@dataclass(frozen=True)
class ChildPlan:
    """A contained reactor, or a bank if it has a width."""

    name: str
    cls: ClassPlan
    width: int | None = None
    mode: str | None = None
    built: bool = False  # added by build() instead of the class body
    param: int | None = None  # given for the first parameter of the class


@dataclass(frozen=True)
class Ref:
    """A port in a connection: an own one, a child's, or a whole bank's."""

    port: str
    child: str | None = None
    interleave: bool = False


@dataclass(frozen=True)
class ConnectionPlan:
    """One connect() statement."""

    sources: tuple[Ref, ...]
    targets: tuple[Ref, ...]
    after: int | None = None
    broadcast: bool = False
    mode: str | None = None


@dataclass(frozen=True)
class ReactionPlan:
    """A reaction. What its body does follows from what it reads and from ``salt``.

    Ports are written as in a signature: ``x``, ``child.x`` or ``bank[2].x``.
    """

    name: str
    salt: int
    occasions: tuple[str, ...] = ()
    trigger_ports: tuple[str, ...] = ()
    trigger_actions: tuple[str, ...] = ()
    trigger_timers: tuple[str, ...] = ()
    source_ports: tuple[str, ...] = ()
    effect_ports: tuple[str, ...] = ()
    effect_actions: tuple[str, ...] = ()
    effect_modes: tuple[tuple[str, Entry], ...] = ()
    deadline: int | None = None
    mode: str | None = None
    budget: int = 6  # how often it acts; without a bound a loop would never end
    may_stop: bool = False
    uses_random: bool = False
    updates_deadline: bool = False


@dataclass(frozen=True)
class ClassPlan:
    """A reactor class."""

    name: str
    bases: tuple[ClassPlan, ...] = ()
    params: tuple[tuple[str, int], ...] = ()  # also to override a base's default
    ports: tuple[PortPlan, ...] = ()
    timers: tuple[TimerPlan, ...] = ()
    actions: tuple[ActionPlan, ...] = ()
    modes: tuple[str, ...] = ()  # the first one is initial
    children: tuple[ChildPlan, ...] = ()
    connections: tuple[ConnectionPlan, ...] = ()
    reactions: tuple[ReactionPlan, ...] = ()

    def lineage(self) -> tuple[ClassPlan, ...]:
        """Return all bases, deepest first, each once, and then the class itself."""
        found: dict[str, ClassPlan] = {}
        for base in self.bases:
            for plan in base.lineage():
                found.setdefault(plan.name, plan)
        return (*found.values(), self)

    def all_ports(self) -> tuple[PortPlan, ...]:
        """Return all ports, inherited ones first."""
        return tuple(port for plan in self.lineage() for port in plan.ports)

    def all_params(self) -> tuple[str, ...]:
        """Return the names of all parameters, inherited ones first."""
        names = {name: None for plan in self.lineage() for name, _ in plan.params}
        return tuple(names)
