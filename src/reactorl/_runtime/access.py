# SPDX-License-Identifier: Apache-2.0
"""Errors for illegal accesses: which reaction, which element, and the fix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl.errors import AccessError

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl._program.program import Program


def refusals(program: Program) -> Callable[[str, int, int, int, str], AccessError]:
    """Return the function that the core calls to make an error."""

    def refuse(
        kind: str, element: int, holder: int, reaction: int, verb: str
    ) -> AccessError:
        node = program.reactions[reaction]
        if kind == "port":
            port = program.ports[program.channel_port[element]]
            owner, short = port.reactor, port.name
            name = program.channel_name(element)
            readable, is_input = verb == "reads", port.is_input
        else:
            table = program.actions if kind == "action" else program.modes
            item = table[element]
            owner, short = item.reactor, item.name
            name = program.element_name(item)
            readable, is_input = False, False
        fix = _fix(
            program,
            kind,
            short,
            owner,
            holder,
            node.reactor,
            reads=readable,
            is_input=is_input,
        )
        return AccessError(
            program.reaction_name(reaction), name, node.where, verb, *fix
        )

    return refuse


def _fix(
    program: Program,
    kind: str,
    short: str,
    owner: int,
    holder: int,
    toucher: int,
    *,
    reads: bool,
    is_input: bool,
) -> tuple[str, str]:
    """Return what to change, and the changed line."""
    if holder != toucher:
        mine = program.reactors[toucher].path
        return (
            f"it belongs to {program.reactors[holder].path}: reactors share nothing, "
            f"so connect a port of {mine} to it instead"
        ), ""
    own = owner == toucher
    label = short if own else f"{program.reactors[owner].name}.{short}"
    if kind == "port" and not reads and own and is_input:
        return f"`{label}` is an input of its own, which only others set", ""
    if kind == "port" and not reads and not own and not is_input:
        return (
            f"`{label}` is an output of a contained reactor, which only that one sets"
        ), ""
    if kind == "port" and reads and own == is_input:
        return f"add `{label}` to its sources", f"@reaction(..., sources=[{label}])"
    return f"add `{label}` to its effects", f"@reaction(..., effects=[{label}])"
