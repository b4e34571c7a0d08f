# SPDX-License-Identifier: Apache-2.0
"""Data types of channels, and whether native bodies fit their reactions.

Connected channels have one data type, with or without delay: it is enough that one of
their ports declares it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from reactorl._decl.dtype import MODE, parse_signature
from reactorl._decl.reaction import is_native
from reactorl.errors import WiringError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reactorl._decl.dtype import DType
    from reactorl._decl.native import NativeBody
    from reactorl._program.program import ActionNode, ModeNode, Program, ReactionNode


def channel_dtypes(program: Program) -> Sequence[DType | None]:
    """Return the data type of each channel; None: any value of Python."""
    if all(port.dtype is None for port in program.ports):
        return [None] * len(program.channel_port)
    group = _groups(program)
    known: dict[int, DType] = {}
    for port in program.ports:
        if port.dtype is not None:
            known.update(dict.fromkeys((group[c] for c in port.channels), port.dtype))
    return [known.get(root) for root in group]


def _groups(program: Program) -> list[int]:
    """Return for each channel the one that stands for all connected ones."""
    parent = list(range(len(program.channel_port)))

    def root(channel: int) -> int:
        while parent[channel] != channel:
            parent[channel] = channel = parent[parent[channel]]
        return channel

    for connection in program.connections:
        parent[root(connection.source)] = root(connection.target)
    for reaction in program.reactions:
        if reaction.forward is not None:
            parent[root(reaction.forward[0])] = root(reaction.forward[1])
    return [root(channel) for channel in parent]


def errors(program: Program) -> Iterator[WiringError]:
    """Yield what is wrong with data types and native bodies."""
    natives = [
        node
        for node in program.reactions
        if is_native(node.body) or is_native(node.handler)
    ]
    if not natives and all(port.dtype is None for port in program.ports):
        return
    yield from _conflicts(program)
    types = channel_dtypes(program)
    for node in natives:
        for body in (node.body, node.handler):
            if is_native(body):
                yield from _native_errors(program, types, node, body)  # type: ignore[arg-type]


def _conflicts(program: Program) -> Iterator[WiringError]:
    group = _groups(program)
    first: dict[int, tuple[DType, int]] = {}
    for port in program.ports:
        if port.dtype is None:
            continue
        for channel in port.channels:
            dtype, other = first.setdefault(group[channel], (port.dtype, channel))
            if dtype != port.dtype:
                msg = (
                    f"{program.channel_name(channel)} has dtype {port.dtype}, and "
                    f"{program.channel_name(other)}, which is connected to it, has "
                    f"dtype {dtype}"
                )
                remedy = "Give both the same dtype, or convert the value in a reaction."
                yield WiringError(msg, port.where, remedy)
                break


# -- native bodies --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NativeElement:
    """An input or effect of a native body.

    Attributes:
        kind: What it is.
        node: The id of the port, action or mode.
        dtype: The type of its values; None for modes.
        entry: How a mode is entered.
    """

    kind: Literal["port", "action", "mode"]
    node: int
    dtype: DType | None
    entry: str = ""

    @property
    def native(self) -> str:
        """Its type as native bodies write it in their signature."""
        return MODE if self.dtype is None else self.dtype.native

    def name(self, program: Program) -> str:
        """Return its full name."""
        if self.kind == "port":
            port = program.ports[self.node]
            return f"{program.reactors[port.reactor].path}.{port.name}"
        table: tuple[ActionNode | ModeNode, ...]
        table = program.actions if self.kind == "action" else program.modes
        return program.element_name(table[self.node])


def native_elements(
    program: Program, types: Sequence[DType | None], node: ReactionNode
) -> tuple[list[NativeElement], list[NativeElement]]:
    """Return the inputs and effects of a native body, in the order of their numbers."""

    def port(identity: int) -> NativeElement:
        found = program.ports[identity]
        dtype = types[found.first] if len(found.channels) else found.dtype
        return NativeElement("port", identity, dtype)

    def action(identity: int) -> NativeElement:
        return NativeElement("action", identity, program.actions[identity].dtype)

    inputs = [
        *map(port, (*node.trigger_ports, *node.source_ports)),
        *map(action, node.trigger_actions),
    ]
    effects = [
        *map(port, node.effect_ports),
        *map(action, node.effect_actions),
        *(
            NativeElement("mode", mode, None, entry)
            for mode, entry in node.effect_modes
        ),
    ]
    return inputs, effects


def _states_differ(node: ReactionNode) -> bool:
    bodies = [b for b in (node.body, node.handler) if is_native(b)]
    states = [getattr(body, "state", None) for body in bodies]
    return len(states) == 2 and states[0] is not states[1]


def _native_errors(
    program: Program,
    types: Sequence[DType | None],
    node: ReactionNode,
    body: NativeBody,
) -> Iterator[WiringError]:
    name = program.reaction_name(node.id)
    inputs, effects = native_elements(program, types, node)
    lacking = [e for e in (*inputs, *effects) if e.dtype is None and e.kind != "mode"]
    for element in lacking:
        msg = f"native reaction {name} uses {element.name(program)}, which has no dtype"
        remedy = (
            'Declare its type, for example dtype="float64[4]", or dtype="none" if '
            "only its presence matters."
        )
        yield WiringError(msg, node.where, remedy)
    if node.effect_watchdogs or any(
        dog.reactor == node.reactor for dog in program.watchdogs
    ):
        msg = f"native reaction {name} is in a reactor with watchdogs"
        remedy = "Handlers of watchdogs run in Python: move them to another reactor."
        yield WiringError(msg, node.where, remedy)
    cls = program.reactors[node.reactor].cls
    state = body.state
    if state is not None and cls.__reactor__.elements.get(state.name) is not state:
        msg = f"native reaction {name} has a state that {cls.__name__} does not declare"
        remedy = "Write memory = native_state(...) in this class, and state=memory."
        yield WiringError(msg, node.where, remedy)
    elif state is not None and not state.native:
        msg = f"native reaction {name} has the state {state.name}, which is not native"
        remedy = f"Write {state.name} = native_state(...)."
        yield WiringError(msg, node.where, remedy)
    if _states_differ(node):
        msg = f"native reaction {name} and its deadline handler have different states"
        remedy = "Give both the same state=."
        yield WiringError(msg, node.where, remedy)
    parsed = parse_signature(body.signature)
    assert parsed is not None  # checked when it was declared
    wanted = [e.native for e in inputs], [e.native for e in effects]
    if not lacking and parsed != wanted:
        inward, outward = (", ".join(part) for part in wanted)
        msg = (
            f"signature of native body {body.source} must be "
            f'"{inward} -> {outward}" for reaction {name}, got "{body.signature}"'
        )
        listed = ", ".join(e.name(program) for e in (*inputs, *effects))
        remedy = (
            f"Its inputs and effects are, in this order: {listed or 'none'}. Change "
            "their dtype, or the signature and the body."
        )
        yield WiringError(msg, node.where, remedy)
