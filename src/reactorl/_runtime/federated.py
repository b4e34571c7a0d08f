# SPDX-License-Identifier: Apache-2.0
"""What a run has to know if it is one of several federates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from reactorl import _core
from reactorl.errors import ReactorlError

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl._program.cut import Cut, Link, Part
    from reactorl._program.program import Program
    from reactorl._runtime.plan import Planned


CoreMessage: TypeAlias = (
    "tuple[int, bool, int, int, int, int, int, int, int, object, "
    "tuple[int, int, int, int] | None]"
)
"""Kind, final, peer, tag (time, step), index, tag, key, value, and the two tags of the
promise that rides on it; see ``gate.hpp``."""

CoreReport: TypeAlias = (
    "tuple[int, int, int, int, int, int, int, int, bool, int, "
    "tuple[int, ...], tuple[int, ...]]"
)
"""Next, bound, done and horizon (tags), inside, taken, sent, received."""


class ElsewhereError(Exception):
    """The run ended because another federate failed, which has the error."""


class Port(Protocol):
    """How the core of a federate speaks to others. Called on worker threads."""

    def say(self, messages: list[CoreMessage]) -> None:
        """Send messages, in this order."""

    def wait(self, report: CoreReport) -> None:
        """Note that the core can do nothing until something arrives."""

    def request_stop(self) -> None:
        """Ask for the end of the program from outside of its reactions."""


@dataclass(frozen=True, slots=True)
class Federated:
    """The part of a program that a run has, and its way to the others.

    Attributes:
        part: The part.
        port: The way.
        physical: Called before a reaction gets the first input from the clock.
    """

    part: Part
    port: Port
    physical: Callable[[], object] | None = None


def make_gate_plan(
    program: Program, cut: Cut, planned: Planned, me: int
) -> _core.GatePlan:
    """Return what the core of federate ``me`` has to know of the others."""
    # Who drives a program can set its inputs at a tag that was not announced.
    inputs = any(port.reactor == 0 and port.is_input for port in program.ports)
    driven = cut.where[0] if inputs else None
    plan = _core.GatePlan(
        flat=cut.flat, physical=cut.physical[me], stops=cut.stops[me], me=me
    )
    links = {(link.source, link.target): link for link in cut.links}
    for peer in range(len(cut.names)):
        incoming, outgoing = links.get((peer, me)), links.get((me, peer))
        in_slots, in_writers = _crossings(incoming, planned)
        out_slots, out_writers = _crossings(outgoing, planned)
        lookahead = None if incoming is None else incoming.lookahead
        plan.add_peer(
            in_slots=in_slots,
            in_writers=in_writers,
            out_slots=out_slots,
            out_writers=out_writers,
            in_delay=-1 if lookahead is None else lookahead,
            sends=outgoing is not None
            and (outgoing.direct or outgoing.lookahead is not None),
            answers=peer != driven and _answers(cut, peer, me),
        )
    for stage, owners in enumerate(cut.stage_owners):
        if me not in owners:
            continue
        here = me in cut.stage_at[stage]
        peers = [f for f in cut.stage_at[stage] if f not in owners]
        if cut.stage_home[stage] != me:
            peers = []
        if peers or not here:
            plan.add_route(planned.first_stage + stage, peers, here)
    return plan


def _answers(cut: Cut, peer: int, me: int) -> bool:
    """Return whether a federate acts only at its own events and when ``me`` sends.

    What is sent with a delay may still be on its way when it says that it is done.
    """
    incoming = [link for link in cut.links if link.target == peer]
    return not cut.physical[peer] and all(
        link.source == me and not link.stages and not link.physical for link in incoming
    )


def _crossings(link: Link | None, planned: Planned) -> tuple[list[int], list[int]]:
    if link is None:
        return [], []
    slots = [planned.channel_slot[slot.channel] for slot in link.slots]
    return slots, [slot.writers[-1] for slot in link.slots]


def unexpected_stop(program: Program, reaction: int) -> ReactorlError:
    """Return the error for a stop that other federates did not wait for."""
    msg = (
        f"reaction {program.reaction_name(reaction)} ends the program, which is not "
        "visible in its code"
    )
    node = program.reactions[reaction]
    remedy = "Other federates must know in advance: "
    if hasattr(program.reactors[node.reactor].cls, "__body_self__"):  # LF code
        remedy += "call request_stop() by this name."
    else:
        remedy += "write @reaction(..., stops=True)."
    return ReactorlError(msg, node.where, remedy)
