# SPDX-License-Identifier: Apache-2.0
"""Signatures: the arguments of a body, and how to get them from an instance."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from reactorl.lf.lower import bodies
from reactorl.lf.lower.compile import statements
from reactorl.lf.parse import syntax

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl._decl.reactor import Reactor
    from reactorl.lf.link.program import Part
    from reactorl.lf.lower.class_info import ClassInfo
    from reactorl.lf.source import Source


def body_of(
    info: ClassInfo,
    part: Part,
    member: syntax.Reaction | syntax.Watchdog,
    code: syntax.Code | None,
    title: str,
) -> Callable[[Any], object]:
    """Return the body of a reaction, a handler or a watchdog."""
    if code is None or info.compiler is None:
        return lambda instance: None
    source = part.owner.file.source
    getters = _getters(info, member, _needs_full_ports(code, source))
    params = ["self", *getters]
    name = title if title.isidentifier() else "reaction"
    function = info.compiler.function(name, params, code, source)
    function.__qualname__ = f"{info.unit.name}.{name}"
    return bodies.Body(function, tuple(getters.values()))


def _getters(
    info: ClassInfo, member: syntax.Reaction | syntax.Watchdog, indexed: frozenset[str]
) -> dict[str, Callable[[Reactor], object]]:
    """Return, for each argument of a body, the function that gets it."""
    refs: list[syntax.Ref | syntax.ModeChange | syntax.Builtin] = [*member.effects]
    if isinstance(member, syntax.Reaction):
        refs = [*(member.triggers or ()), *member.sources, *refs]
    found: dict[str, Callable[[Reactor], object]] = {}
    contained: dict[str, list[str]] = {}
    for ref in refs:
        if isinstance(ref, syntax.ModeChange):
            found[ref.mode.text] = bodies.own(ref.mode.text)
        elif isinstance(ref, syntax.Builtin):
            continue
        elif ref.container is not None:
            ports = contained.setdefault(ref.container.text, [])
            if ref.name.text not in ports:
                ports.append(ref.name.text)
        else:
            name = ref.name.text
            kind = info.kinds.get(name)
            if isinstance(kind, syntax.Port):
                is_multi = kind.width is not None
                shown: type[bodies.FullPort] | None = None
                if kind.is_mutable:
                    shown = bodies.MutablePort
                elif "*" in indexed or (name in indexed and not is_multi):
                    shown = bodies.FullPort
                found[name] = bodies.port(name, shown, is_multi=is_multi)
            elif not isinstance(kind, syntax.Timer):
                found[name] = bodies.own(name)
    for name, ports in contained.items():
        found[name] = bodies.child(name, tuple(ports))
        for port in ports:
            found.setdefault(f"{name}_{port}", bodies.child_port(name, port))
    return found


def _needs_full_ports(code: syntax.Code, source: Source) -> frozenset[str]:
    """Return the names that a body indexes; ``*`` if it uses ``FULL_ABILITIES``."""
    text = code.text
    found = {"*"} if any(word in text for word in bodies.FULL_ABILITIES) else set()
    if "[" in text:
        found |= {
            node.value.id
            for statement in statements(code, source)
            for node in ast.walk(statement)
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
        }
    return frozenset(found)
