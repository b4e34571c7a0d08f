# SPDX-License-Identifier: Apache-2.0
"""Rule for writers: a port has one connection, or reactions of one reactor, not both.

Writers in different modes are never active together, so they may share a port.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reactorl.lf.link.rules.references import key_of
from reactorl.lf.parse import syntax

if TYPE_CHECKING:
    from reactorl.lf.link.program import Part
    from reactorl.lf.link.rules.context import Context
    from reactorl.lf.link.rules.references import Key


@dataclass(frozen=True)
class _Writer:
    part: Part
    ref: syntax.Ref

    @property
    def connection(self) -> syntax.Connection | None:
        member = self.part.member
        return member if isinstance(member, syntax.Connection) else None


def check(context: Context) -> None:
    """Report ports with conflicting writers."""
    by_port: dict[Key, list[_Writer]] = {}
    for writer in _writers(context):
        by_port.setdefault(key_of(writer.ref), []).append(writer)
    for port, writers in by_port.items():
        if len(writers) > 1 and any(w.connection for w in writers):
            _check_port(context, port, writers)


def _writers(context: Context) -> list[_Writer]:
    """Return all writers of ports, in textual order."""
    found: list[_Writer] = []
    for part in context.unit.parts():
        refs: tuple[syntax.Node, ...] = ()
        if isinstance(part.member, syntax.Connection):
            seen: dict[Key, syntax.Ref] = {}
            for right in part.member.right:
                seen.setdefault(key_of(right), right)
            refs = tuple(seen.values())
        elif isinstance(part.member, syntax.Reaction):
            refs = part.member.effects
        found += [
            _Writer(part, ref)
            for ref in refs
            if isinstance(ref, syntax.Ref) and _is_port(context, ref)
        ]
    return found


def _is_port(context: Context, ref: syntax.Ref) -> bool:
    return ref.container is not None or context.scope.port(ref.name.text) is not None


def _check_port(context: Context, port: Key, writers: list[_Writer]) -> None:
    """Report the first writer that conflicts with an earlier one."""
    earlier: list[_Writer] = []
    shown = ".".join(filter(None, port))
    for writer in writers:
        met = next((e for e in earlier if _meet(writer, e)), None)
        if met is not None:
            if writer.part.owner is context.unit:
                _report(context, shown, writer, met)
            return
        # One reaction per mode suffices: reactions may share a port.
        if not any(writer.part.mode is e.part.mode for e in earlier):
            earlier.append(writer)
    for writer in writers:
        connection = writer.connection
        if connection is None or writer.part.owner is not context.unit:
            continue
        trouble = _not_simple(connection)
        if trouble:
            what = f"'{shown}' has writers in several modes, but this one {trouble}"
            advice = "Such a connection must join one port to one, without delay."
            context.error(writer.ref, what, advice)


def _meet(one: _Writer, other: _Writer) -> bool:
    apart = (
        one.part.mode is not None
        and other.part.mode is not None
        and one.part.mode is not other.part.mode
    )
    return not apart and (one.connection is not None or other.connection is not None)


def _report(context: Context, shown: str, writer: _Writer, met: _Writer) -> None:
    line = ""
    if met.part.owner.file is writer.part.owner.file:
        number, _ = context.source.line_and_column(met.ref.span.start)
        line = f" (line {number})"
    if writer.connection and met.connection:
        what = f"'{shown}' is already the destination of another connection{line}"
        advice = "Combine the sources in one connection."
    else:
        other = "connection" if met.connection else "reaction"
        what = f"'{shown}' is set by a reaction and by a connection"
        what += f"; the {other} is on line {number}" if line else ""
        advice = "Remove one of the two, or move them into different modes."
    context.error(writer.ref, what, advice)


def _not_simple(connection: syntax.Connection) -> str:
    if connection.after is not None:
        return "has a delay"
    if connection.is_physical:
        return "is physical"
    if connection.broadcast:
        return "is a broadcast"
    if len(connection.left) > 1 or len(connection.right) > 1:
        return "joins several ports"
    return ""
