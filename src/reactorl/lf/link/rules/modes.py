# SPDX-License-Identifier: Apache-2.0
"""Rules for modes: one initial mode, and only members that can be inactive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl.lf.parse import syntax

if TYPE_CHECKING:
    from reactorl.lf.link.program import Part
    from reactorl.lf.link.rules.context import Context


def check(context: Context) -> None:
    """Check the modes of a class."""
    own = [m for m in context.unit.tree.members if isinstance(m, syntax.Mode)]
    if not own:
        return
    _check_initial(context, own)
    for mode in own:
        if mode.name is None:
            advice = "Name it, so that it can be entered."
            context.error(mode, "this mode has no name", advice)
        for member in mode.members:
            _check_member(context, member)
    _check_state(context, own)


def _check_initial(context: Context, own: list[syntax.Mode]) -> None:
    parts = list(context.unit.parts())
    initial = [
        p for p in parts if isinstance(p.member, syntax.Mode) and p.member.is_initial
    ]
    if not initial and context.scope.is_whole:
        what = f"reactor {context.unit.name} must have an initial mode"
        advice = "Write 'initial mode' for one of its modes."
        context.error(own[0].name or own[0], what, advice)
    for part in initial[1:]:
        if part.owner is not context.unit:
            continue
        mode = part.member
        assert isinstance(mode, syntax.Mode)
        what = f"reactor {context.unit.name} must have only one initial mode"
        advice = "Remove 'initial' from all but one."
        context.error(mode.name or mode, what, advice)


def _check_member(context: Context, member: syntax.Member) -> None:
    match member:
        case syntax.Port():
            what, node = f"a mode cannot have an {member.direction}", member.name
        case syntax.Method():
            what, node = "a mode cannot have a method", member.name
        case syntax.Preamble():
            context.error(
                member, "a mode cannot have a preamble", "Move it out of the mode."
            )
            return
        case syntax.Mode():
            what = "a mode cannot contain another mode"
            advice = "Move the inner modes into a contained reactor."
            context.error(member.name or member, what, advice)
            return
        case _:
            return
    context.error(node, what, "Move it out of the mode.")


def _check_state(context: Context, own: list[syntax.Mode]) -> None:
    """Report state that keeps its value when its mode is reset."""
    entered = _entered_by_reset(list(context.unit.parts()))
    for mode in own:
        if mode.name is None or mode.name.text not in entered:
            continue
        reactions = [m for m in mode.members if isinstance(m, syntax.Reaction)]
        if any(_reacts_to_reset(reaction) for reaction in reactions):
            continue
        for member in mode.members:
            if isinstance(member, syntax.State) and not member.is_reset:
                what = (
                    f"state '{member.name.text}' keeps its value when mode "
                    f"{mode.name.text} is reset"
                )
                advice = (
                    "Write 'reset state', or restore it in a 'reaction(reset)' "
                    "of the mode."
                )
                context.error(member.name, what, advice)


def _entered_by_reset(parts: list[Part]) -> set[str]:
    entered: set[str] = set()
    for part in parts:
        if not isinstance(part.member, syntax.Reaction | syntax.Watchdog):
            continue
        for effect in part.member.effects:
            if isinstance(effect, syntax.ModeChange):
                if effect.transition == "reset":
                    entered.add(effect.mode.text)
            elif effect.container is None:
                entered.add(effect.name.text)
    return entered


def _reacts_to_reset(reaction: syntax.Reaction) -> bool:
    return any(
        isinstance(t, syntax.Builtin) and t.kind == "reset"
        for t in reaction.triggers or ()
    )
