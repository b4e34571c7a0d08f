# SPDX-License-Identifier: Apache-2.0
"""A Program as canonical text, one line per node, the same on every machine.

Positions are left out, so moving a file or adding a comment changes nothing; so are
the bodies of reactions, which have no text: they appear by name.
"""

from __future__ import annotations

import hashlib
import types
from enum import Enum
from typing import TYPE_CHECKING

from reactorl._program.program import NO_SCOPE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reactorl._program.program import Program, ReactionNode


def digest(program: Program) -> str:
    """Return the SHA-256 of the canonical text, in hexadecimal."""
    sha = hashlib.sha256()
    for line in lines(program):
        sha.update(line.encode())
        sha.update(b"\n")
    return sha.hexdigest()


def text(program: Program) -> str:
    """Return the canonical text; equal texts mean equal programs, bodies aside."""
    return "".join(f"{line}\n" for line in lines(program))


def lines(program: Program) -> Iterator[str]:
    """Iterate over the lines of the canonical text."""

    def scoped(scope: int) -> str:
        if scope == NO_SCOPE:
            return ""
        return f" in {program.element_name(program.modes[scope])}"

    yield "program 1"
    for r in program.reactors:
        bank = "" if r.bank_width is None else f" of {r.bank_width}"
        params = ", ".join(f"{k}={value_text(v)}" for k, v in r.params.items())
        yield f"reactor {r.path}{bank}: {qualified(r.cls)}({params}){scoped(r.scope)}"
    for p in program.ports:
        kind = "input" if p.is_input else "output"
        kind = f"mutable {kind}" if p.mutable else kind
        width = "" if p.width is None else f"[{p.width}]"
        dtype = "" if p.dtype is None else f" of {p.dtype}"
        yield f"{kind} {program.reactors[p.reactor].path}.{p.name}{width}{dtype}"
    for t in program.timers:
        name = program.element_name(t)
        yield f"timer {name}({t.offset}, {t.period}){scoped(t.scope)}"
    for a in program.actions:
        kind = "physical" if a.physical else "logical"
        detail = f"({a.min_delay}, {a.min_spacing}, {a.policy})"
        dtype = "" if a.dtype is None else f" of {a.dtype}"
        name = program.element_name(a)
        yield f"{kind} action {name}{detail}{dtype}{scoped(a.scope)}"
    for m in program.modes:
        kind = "initial mode" if m.initial else "mode"
        yield f"{kind} {program.element_name(m)}{scoped(m.scope)}"
    for w in program.watchdogs:
        effects = ", ".join(
            program.element_name(program.actions[a]) for a in w.effect_actions
        )
        name = program.element_name(w)
        yield f"watchdog {name}({w.timeout}) -> {effects}{scoped(w.scope)}"
    for reaction in program.reactions:
        yield _reaction(program, reaction) + scoped(reaction.scope)
    for c in program.connections:
        arrow = "~>" if c.physical else "->"
        after = "" if c.delay is None else f" after {c.delay}"
        stage = "" if c.stage is None else f" stage {c.stage}"
        source, target = program.channel_name(c.source), program.channel_name(c.target)
        yield f"connection {source} {arrow} {target}{after}{stage}{scoped(c.scope)}"


def _reaction(program: Program, reaction: ReactionNode) -> str:
    def ports(listed: tuple[int, ...]) -> list[str]:
        nodes = [program.ports[p] for p in listed]
        return [f"{program.reactors[n.reactor].path}.{n.name}" for n in nodes]

    def actions(listed: tuple[int, ...]) -> list[str]:
        return [program.element_name(program.actions[a]) for a in listed]

    flags = (reaction.on_startup, reaction.on_shutdown, reaction.on_reset)
    occasions = zip(flags, ("startup", "shutdown", "reset"), strict=True)
    triggers = [name for flag, name in occasions if flag]
    triggers += ports(reaction.trigger_ports) + actions(reaction.trigger_actions)
    timers = [program.timers[t] for t in reaction.trigger_timers]
    triggers += [program.element_name(timer) for timer in timers]
    effects = ports(reaction.effect_ports) + actions(reaction.effect_actions)
    for mode, entry in reaction.effect_modes:
        effects.append(f"{entry}({program.element_name(program.modes[mode])})")
    dogs = [program.watchdogs[w] for w in reaction.effect_watchdogs]
    effects += [program.element_name(dog) for dog in dogs]
    name = program.reaction_name(reaction.id)
    line = f"{reaction.kind} reaction {name}({', '.join(triggers)})"
    if reaction.source_ports:
        line += f" {', '.join(ports(reaction.source_ports))}"
    if effects:
        line += f" -> {', '.join(effects)}"
    if reaction.deadline is not None:
        line += f" deadline {reaction.deadline}"
    if reaction.body is not None:
        line += f" does {qualified(reaction.body)}"
    if reaction.handler is not None:
        line += f" else {qualified(reaction.handler)}"
    if reaction.forward is not None:
        source, target = reaction.forward
        line += (
            f" from {program.channel_name(source)} to {program.channel_name(target)}"
        )
    if reaction.reset_states:
        line += f" restores {', '.join(reaction.reset_states)}"
    return line


def qualified(thing: object) -> str:
    """Return the import path of a class or function, or of a value's class."""
    if not hasattr(thing, "__qualname__"):
        thing = type(thing)
    return f"{thing.__module__}.{thing.__qualname__}"


def value_text(value: object) -> str:
    """Return a parameter's value as text without addresses or hash order."""
    if isinstance(value, type | types.FunctionType | types.BuiltinFunctionType):
        return qualified(value)
    if isinstance(value, Enum):
        return f"{qualified(type(value))}.{value.name}"
    if isinstance(value, list | tuple):
        inner = ", ".join(value_text(item) for item in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(sorted(value_text(item) for item in value)) + "}"
    if isinstance(value, dict):
        pairs = [f"{value_text(k)}: {value_text(v)}" for k, v in value.items()]
        return "{" + ", ".join(pairs) + "}"
    if type(value).__repr__ is object.__repr__:
        return f"<{qualified(type(value))}>"
    return repr(value)
