# SPDX-License-Identifier: Apache-2.0
"""Rules for whole classes: parameters, main and federated reactors, old forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl.lf.parse import syntax

if TYPE_CHECKING:
    from reactorl.lf.link.rules.context import Context


def check(context: Context) -> None:
    """Check parameters and the rules of main and federated reactors."""
    reactor = context.unit.tree
    if reactor.is_realtime:
        what = "'realtime' has no effect"
        context.warning(reactor.name or reactor, what, "Remove it.")
    for param in reactor.params:
        if param.default is None:
            what = f"parameter '{param.name.text}' has no default"
            advice = f"Write for example '{param.name.text} = 0'."
            context.error(param.name, what, advice)
    if reactor.kind:
        _check_main(context)
    if reactor.kind == "federated":
        _check_federated(context)


def _check_main(context: Context) -> None:
    kind = context.unit.tree.kind
    for part in context.unit.parts():
        if not isinstance(part.member, syntax.Port):
            continue
        if part.owner is context.unit:
            what = f"a {kind} reactor must not have ports"
            advice = f"Remove '{part.member.name.text}', or move it to another reactor."
            context.error(part.member.name, what, advice)
            continue
        base = next(
            (b for b in context.unit.tree.bases if _gives(context, b, part.owner.name)),
            context.unit.tree.bases[0],
        )
        what = (
            f"a {kind} reactor must not have ports, but base {part.owner.name} "
            f"has '{part.member.name.text}'"
        )
        context.error(base, what, "Contain it instead of extending it.")
        return


def _gives(context: Context, base: syntax.Name, owner: str) -> bool:
    found = context.unit.file.names.get(base.text)
    return found is not None and any(unit.name == owner for unit in found.lineage)


def _check_federated(context: Context) -> None:
    for part in context.unit.own_parts():
        member = part.member
        if isinstance(member, syntax.Mode):
            what = "a federated reactor cannot have modes"
            advice = "Move them into a contained reactor."
            context.error(member.name or member, what, advice)
        if isinstance(member, syntax.Reaction):
            _check_reach(context, member)


def _check_reach(context: Context, reaction: syntax.Reaction) -> None:
    """Check that a top-level reaction refers to one federate, where it runs."""
    first: syntax.Name | None = None
    refs = (*(reaction.triggers or ()), *reaction.sources, *reaction.effects)
    for ref in refs:
        if not isinstance(ref, syntax.Ref) or ref.container is None:
            continue
        if first is None:
            first = ref.container
        elif ref.container.text != first.text:
            what = (
                f"a reaction of a federated reactor must refer to one federate, got "
                f"'{first.text}' and '{ref.container.text}'"
            )
            context.error(ref, what, "Split it, or connect the two federates.")
            return
