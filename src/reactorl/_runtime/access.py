# SPDX-License-Identifier: Apache-2.0
"""Errors for illegal accesses: which reaction, which element, and the fix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl.errors import AccessError, DTypeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl._decl.dtype import DType
    from reactorl._program.program import Program
    from reactorl._runtime.plan import Planned
    from reactorl.position import Position


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


def mismatches(
    program: Program, planned: Planned
) -> Callable[[str, int, object], DTypeError]:
    """Return the function that the core calls with a value of another type."""

    def of_channel(channel: int) -> tuple[str, Position, DType | None]:
        port = program.ports[program.channel_port[channel]]
        dtype = planned.slot_dtype[planned.channel_slot[channel]]
        return program.channel_name(channel), port.where, dtype

    def mismatch(kind: str, element: int, value: object) -> DTypeError:
        if kind == "trigger" and element >= planned.first_stage:
            stage = planned.stages[element - planned.first_stage]
            name, where, dtype = of_channel(stage.source)
        elif kind in ("trigger", "action"):
            first = planned.first_action if kind == "trigger" else 0
            action = program.actions[element - first]
            name, where = program.element_name(action), action.where
            dtype = action.dtype
        else:
            channel = planned.slot_channel[element] if kind == "slot" else element
            name, where, dtype = of_channel(channel)
        assert dtype is not None  # only these have a type to mismatch
        text, is_input = _type_text(value), kind == "slot"
        return DTypeError(name, str(dtype), dtype.described, text, where, is_input)

    return mismatch


def _type_text(value: object) -> str:
    """Return the type of a value and, if that is short, the value."""
    kind = type(value).__name__
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None and dtype is not None:
        return f"{kind} of {dtype} with shape {shape}"
    if isinstance(value, bytes):
        return f"bytes of length {len(value)}"
    if isinstance(value, bool | int | float | type(None)):
        return f"{kind} {value}" if value is not None else "None"
    return kind


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
