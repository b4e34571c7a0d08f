# SPDX-License-Identifier: Apache-2.0
"""Rules for signatures: triggers, sources and effects of reactions and watchdogs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl.lf.diagnostics import nearest
from reactorl.lf.link.rules.references import (
    BUILTINS,
    Meaning,
    children_ports,
    follow,
    key_of,
    show,
    with_article,
)
from reactorl.lf.parse import syntax

if TYPE_CHECKING:
    from reactorl.lf.link.program import Part
    from reactorl.lf.link.rules.context import Context
    from reactorl.lf.link.rules.references import Key
    from reactorl.lf.link.scope import SymbolKind


def check(context: Context) -> None:
    """Check the signatures of a class."""
    for part in context.unit.own_parts():
        if isinstance(part.member, syntax.Reaction):
            _check_form(context, part.member)
            _check_signature(context, part, part.member)
        elif isinstance(part.member, syntax.Watchdog):
            _check_effects(context, part, part.member.effects)


def _check_form(context: Context, reaction: syntax.Reaction) -> None:
    if reaction.keyword == "mutation":
        what = "the Python target has no mutations"
        context.error(reaction.name or reaction, what, "Write 'reaction'.")
    if reaction.triggers is None:
        what = "a reaction without a list of triggers is an old form"
        context.warning(reaction, what, "Write 'reaction(...)' with its triggers.")
    if reaction.code is None:
        what = "this reaction has no body"
        context.error(reaction, what, "Write one: '{= ... =}'.")
    if reaction.deadline is not None and reaction.deadline.code is None:
        what = "this deadline has no handler"
        advice = "Write the code that runs instead of the body: '{= ... =}'."
        context.error(reaction.deadline, what, advice)
    tardy = reaction.tardy
    if tardy is not None and tardy.keyword != "tardy":
        what = f"'{tardy.keyword}' is an old form"
        advice = (
            "Write 'tardy {= ... =}' for the handler, and '@absent_after' at the "
            "connection for the time."
        )
        context.warning(tardy, what, advice)


def _check_signature(context: Context, part: Part, reaction: syntax.Reaction) -> None:
    triggers: set[Key] = set()
    for trigger in reaction.triggers or ():
        if isinstance(trigger, syntax.Builtin):
            _check_once(context, trigger, ("", trigger.kind), triggers, "trigger")
        else:
            _check_once(context, trigger, key_of(trigger), triggers, "trigger")
            _check_read(context, trigger, "trigger")
    sources: set[Key] = set()
    for source in reaction.sources:
        if key_of(source) in triggers and key_of(source) not in sources:
            what = f"'{show(source)}' is both a trigger and a source"
            advice = "Remove it from the sources; triggers can be read."
            context.error(source, what, advice)
            sources.add(key_of(source))
            continue
        _check_once(context, source, key_of(source), sources, "source")
        _check_read(context, source, "source")
    _check_effects(context, part, reaction.effects)


def _check_once(
    context: Context, node: syntax.Node, key: Key, seen: set[Key], role: str
) -> None:
    if key in seen:
        shown = ".".join(filter(None, key))
        context.error(
            node, f"{role} '{shown}' is given twice", "Remove one of the two."
        )
    seen.add(key)


def _report_interleaved(context: Context, ref: syntax.Ref) -> None:
    if ref.interleaved:
        what = "'interleaved' is only allowed in connections"
        context.error(ref, what, f"Write '{show(ref)}'.")


def _check_read(context: Context, ref: syntax.Ref, role: str) -> None:
    """Check a trigger or source."""
    _report_interleaved(context, ref)
    own: tuple[SymbolKind, ...] = ("input", "action")
    if role == "trigger":
        own = (*own, "timer", "watchdog")

    def legal() -> list[str]:
        names = context.scope.names(*own) + children_ports(context, "output")
        return [*names, *BUILTINS] if role == "trigger" else names

    meaning = follow(context, ref, legal, role)
    if meaning is None:
        return
    kind, shown = meaning.symbol.kind, show(ref)
    if meaning.container is not None:
        if kind == "input":
            what = f"'{shown}' is an input of a contained reactor, not a {role}"
            context.error(ref, what, _other_way(context, ref, "output"))
    elif kind == "output":
        what = f"'{shown}' is an output of this reactor, not a {role}"
        advice = "A reaction that has it as an effect can also read it."
        context.error(ref, what, advice)
    elif kind == "mode":
        what = f"'{shown}' is a mode, not a {role}"
        context.error(ref, what, "Move the reaction into the mode.")
    elif kind not in own:
        what = f"{kind} '{shown}' has no value, so it can only be a trigger"
        context.error(ref, what, "Move it between the parentheses.")


def _check_effects(
    context: Context, part: Part, effects: tuple[syntax.Effect, ...]
) -> None:
    kinds: tuple[SymbolKind, ...] = ("output", "action", "watchdog")
    if part.mode is not None:
        kinds = (*kinds, "mode")

    def legal() -> list[str]:
        return context.scope.names(*kinds) + children_ports(context, "input")

    seen: set[Key] = set()
    for effect in effects:
        if isinstance(effect, syntax.ModeChange):
            _check_once(context, effect, ("", effect.mode.text), seen, "effect")
            _check_mode_change(context, part, effect)
            continue
        _check_once(context, effect, key_of(effect), seen, "effect")
        _report_interleaved(context, effect)
        meaning = follow(context, effect, legal, "effect")
        if meaning is not None:
            _check_effect(context, part, effect, meaning)


def _check_effect(
    context: Context, part: Part, ref: syntax.Ref, meaning: Meaning
) -> None:
    kind, shown = meaning.symbol.kind, show(ref)
    if meaning.container is not None:
        if kind == "output":
            what = f"'{shown}' is an output of a contained reactor, not an effect"
            context.error(ref, what, _other_way(context, ref, "input"))
    elif kind == "input":
        what = f"'{shown}' is an input of this reactor, not an effect"
        context.error(ref, what, "Only the containing reactor can set it.")
    elif kind == "timer":
        context.error(ref, f"timer '{shown}' can only be a trigger", "Use an action.")
    elif kind == "mode":
        _check_in_mode(context, part, ref)


def _check_mode_change(context: Context, part: Part, change: syntax.ModeChange) -> None:
    name = change.mode.text
    symbol = context.scope.declared.get(name)
    if symbol is not None and symbol.kind == "mode":
        _check_in_mode(context, part, change)
    elif symbol is not None:
        what = f"'{name}' is {with_article(symbol.kind)}, not a mode"
        context.error(change.mode, what, f"Write only '{name}'.")
    elif context.scope.is_whole:
        advice = nearest(name, context.scope.names("mode"))
        context.error(change.mode, f"unknown mode '{name}'", advice)


def _check_in_mode(context: Context, part: Part, node: syntax.Node) -> None:
    if part.mode is None:
        what = "only a reaction inside a mode can change the mode"
        advice = "Move it into the mode that it leaves."
        context.error(node, what, advice)


def _other_way(context: Context, ref: syntax.Ref, direction: SymbolKind) -> str:
    assert ref.container is not None
    scope = context.child(ref.container.text)
    ports = scope.names(direction) if scope else []
    if not ports:
        return f"The contained reactor has no {direction}."
    shown = ", ".join(f"{ref.container.text}.{port}" for port in ports)
    return f"Its {direction}s are: {shown}."
