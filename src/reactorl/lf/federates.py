# SPDX-License-Identifier: Apache-2.0
"""The federates of a federated reactor: which one runs what, and how they are linked.

Each reactor that the federated reactor contains is a federate, with the name that LF
gives it: ``a``, and ``m__0`` for a member of a bank. Reactions, timers and state of the
federated reactor itself belong together, because reactions of one reactor share state.
They run in the federate that the first of these reactions refers to.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from reactorl._program.cut import analyze_cut
from reactorl._program.placement import HEAD, Federation
from reactorl.lf.parse import syntax
from reactorl.lf.places import SourcePosition, position
from reactorl.position import at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reactorl._program.cut import Cut
    from reactorl._program.program import Program, ReactorNode
    from reactorl.lf.diagnostics import Report
    from reactorl.lf.link.program import ClassUnit, LinkedProgram


@dataclass(frozen=True)
class Federates:
    """What a ``.lf`` file says about its federates.

    Attributes:
        federation: The placement.
        cut: How the program is cut.
        hosts: Federate -> what follows ``at``, for launchers.
        transient: Federates that may leave and join.
    """

    federation: Federation
    cut: Cut
    hosts: Mapping[str, str] = field(default_factory=dict)
    transient: frozenset[str] = frozenset()


def is_federated(linked: LinkedProgram) -> bool:
    """Return whether the main reactor of a file is federated."""
    return linked.main is not None and linked.main.tree.kind == "federated"


def federates_of(
    linked: LinkedProgram, program: Program, report: Report
) -> Federates | None:
    """Return the federates of a federated program.

    Whatever cannot be cut is reported, all at once; then the result is None.
    """
    main = linked.main
    assert main is not None
    top = [node for node in program.reactors if node.parent == 0]
    names = {node.path: federate_name(node) for node in top}
    instances = {
        part.member.name.text: part
        for part in main.parts()
        if isinstance(part.member, syntax.Instance)
    }
    with at(position(main.file.source, main.tree.span)):
        federation = Federation(names, rest=_home(main, top))
    found = analyze_cut(program, federation)
    for error in found.errors:
        diagnostic = error.diagnostic
        if not isinstance(diagnostic.where, SourcePosition):
            diagnostic = replace(diagnostic, where=federation.where)
        report.add(diagnostic)
    if found.cut is None or report.failed:
        return None
    hosts: dict[str, str] = {}
    transient: set[str] = set()
    for node in top:
        member = instances[_declared(node)].member
        assert isinstance(member, syntax.Instance)
        host = member.host or main.tree.host
        if host is not None:
            hosts[names[node.path]] = host.text
        if any(each.name.text == "transient" for each in member.attributes):
            transient.add(names[node.path])
    return Federates(federation, found.cut, hosts, frozenset(transient))


def federate_name(node: ReactorNode) -> str:
    """Return the federate of a reactor that the federated reactor contains."""
    name = _declared(node)
    return name if node.bank_index is None else f"{name}__{node.bank_index}"


def _declared(node: ReactorNode) -> str:
    return node.name if node.bank_index is None else node.name.rpartition("[")[0]


def _home(main: ClassUnit, top: list[ReactorNode]) -> str:
    """Return the federate that runs the reactions of the federated reactor itself."""
    first = {_declared(node): federate_name(node) for node in reversed(top)}
    for container in _referred(main):
        if container in first:
            return first[container]
    return federate_name(top[0]) if top else HEAD


def _referred(main: ClassUnit) -> Iterator[str]:
    for part in main.parts():
        member = part.member
        if not isinstance(member, syntax.Reaction):
            continue
        for ref in (*(member.triggers or ()), *member.sources, *member.effects):
            if isinstance(ref, syntax.Ref) and ref.container is not None:
                yield ref.container.text
