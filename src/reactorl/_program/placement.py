# SPDX-License-Identifier: Apache-2.0
"""Placement: which federate runs which reactor, as users write it and for a Program.

A placement is given to a run, like the number of workers. It is not part of the
Program: a seed gives the same trace for every placement.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reactorl.errors import DeclarationError, ProgramError, UnknownNameError
from reactorl.position import here

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reactorl._program.errors import ErrorCollector
    from reactorl._program.program import Program, ReactorNode
    from reactorl.position import Position

HEAD: Final = "head"
"""Default name of the federate that has the main reactor."""

_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_PART: Final = re.compile(r"([^\[\].]+)(?:\[(?:(\d+)|(\d*):(\d*))\])?")


class Federation:
    """Which reactors run in which process of a federation.

    A reactor runs where it is placed, else where ``build()`` has proposed with ``at``,
    else where the reactor that contains it runs, and the main reactor where ``rest``
    says.

    Example:
        >>> Federation({"main.rollout[0:4]": "a", "main.rollout[4:8]": "b"})

    Args:
        placement: Full names of reactors and the names of their federates. Members of
            a bank are chosen by an index or a slice; the name of a bank stands for all
            of its members. A number: so many federates, each with a part of the
            reactors that the main reactor contains, whatever ``at`` says; ``head`` is
            the first. None: only ``at`` says something.
        rest: The federate of everything that is not placed.
        replicas: Full names of reactors of which every federate that reads them runs a
            copy instead of waiting for values from another one. Their bodies must
            depend on nothing but their inputs, parameters, state and random stream,
            and have no effects outside of the program.

    Raises:
        DeclarationError: The arguments are not such names or numbers.
    """

    __slots__ = ("placement", "replicas", "rest", "where")

    def __init__(
        self,
        placement: Mapping[str, str] | int | None = None,
        *,
        rest: str = HEAD,
        replicas: Sequence[str] = (),
    ) -> None:
        self.where = here()
        placement = {} if placement is None else placement
        if isinstance(placement, Mapping):
            self.placement: dict[str, str] | int = dict(placement)
            federates: list[object] = [*placement.values(), rest]
        elif type(placement) is int:
            self.placement = placement
            federates = [rest]
        else:
            msg = f"placement must be a mapping or an int, got {placement!r}"
            raise DeclarationError(msg, self.where)
        for name in federates:
            check_federate_name(name, self.where)
        if isinstance(replicas, str):
            msg = f"replicas must be a list, got {replicas!r}"
            raise DeclarationError(msg, self.where, f"Write [{replicas!r}].")
        self.rest = rest
        self.replicas = tuple(replicas)

    def with_placement(
        self, placement: Mapping[str, str] | int, *, replicas: Sequence[str] = ()
    ) -> Federation:
        """Return a federation of the same kind with another placement."""
        return Federation(placement, rest=self.rest, replicas=replicas)

    def sized(self, most: int, *, here: int = 0) -> Federation:
        """Return a federation whose size is known: this one.

        Args:
            most: The largest number of federates that is of use.
            here: How many of them run in this process.
        """
        return self


def check_federate_name(name: object, where: Position) -> None:
    """Check the name of a federate.

    Raises:
        DeclarationError: It is not a word.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        msg = f"the name of a federate must be a word, got {name!r}"
        remedy = "Use letters, digits and '_', with '-' or '.' between them."
        raise DeclarationError(msg, where, remedy)


@dataclass(frozen=True, slots=True)
class Placed:
    """A placement for one Program.

    Attributes:
        names: The federates that have reactors, in the order of their first ones.
        where: Reactor -> federate.
        replicas: Reactors that are replicated, without those that they contain.
    """

    names: tuple[str, ...]
    where: tuple[int, ...]
    replicas: tuple[int, ...]


def place(program: Program, federation: Federation, errors: ErrorCollector) -> Placed:
    """Return the placement of a program's reactors; what is wrong becomes errors."""
    if isinstance(federation.placement, int):
        named = _automatic(program, federation, federation.placement, errors)
    else:
        named = _by_name(program, federation, federation.placement, errors)
    chosen: list[str] = []
    for node in program.reactors:
        inherited = federation.rest if node.parent < 0 else chosen[node.parent]
        chosen.append(named.get(node.id, inherited))
    names = tuple(dict.fromkeys(chosen))
    replicas: dict[int, None] = {}
    for pattern in federation.replicas:
        found = _find(program, pattern, federation.where, errors)
        replicas |= dict.fromkeys(node.id for node in found)
    return Placed(names, tuple(map(names.index, chosen)), tuple(sorted(replicas)))


# -- by name ------------------------------------------------------------------------


def _by_name(
    program: Program,
    federation: Federation,
    placement: Mapping[str, str],
    errors: ErrorCollector,
) -> dict[int, str]:
    named: dict[int, str] = {}
    by: dict[int, str] = {}  # reactor -> the pattern that placed it
    for pattern, federate in placement.items():
        for node in _find(program, pattern, federation.where, errors):
            if named.setdefault(node.id, federate) != federate:
                msg = (
                    f"{node.path} is placed twice: on {named[node.id]!r} by "
                    f"{by[node.id]!r}, and on {federate!r} by {pattern!r}"
                )
                errors.add(
                    ProgramError(msg, federation.where, "Remove one of the two.")
                )
            by.setdefault(node.id, pattern)
    for node in program.reactors:
        if node.at is not None:
            named.setdefault(node.id, node.at)
    return named


def _find(
    program: Program, pattern: str, where: Position, errors: ErrorCollector
) -> list[ReactorNode]:
    """Return the reactors that a name stands for; none and an error if it is wrong."""
    wanted = _parse(pattern)
    if wanted is None:
        msg = f"{pattern!r} is not the full name of a reactor or of a part of a bank"
        remedy = "Write for example 'main.actor', 'main.actor[3]', 'main.actor[0:4]'."
        errors.add(ProgramError(msg, where, remedy))
        return []
    found = [node for node in program.reactors if _matches(node.path, wanted)]
    if not found:
        known = tuple(node.path for node in program.reactors)
        errors.add(UnknownNameError(pattern, "the program", known, where))
    width = found[0].bank_width if found else None
    last = wanted[-1][1]
    if last is not None and width is not None and width < last.stop < _OPEN:
        msg = f"{pattern!r} names members of a bank that has {width}"
        errors.add(ProgramError(msg, where, "Count from 0."))
    return found


_OPEN: Final = 1 << 62  # the end of a slice that is not given


def _parse(pattern: str) -> list[tuple[str, range | None]] | None:
    """Return names with the indices that are wanted; None for all."""
    parts = []
    for part in pattern.split("."):
        match = _PART.fullmatch(part)
        if match is None:
            return None
        name, index, first, last = match.groups()
        chosen: range | None = None
        if index is not None:
            chosen = range(int(index), int(index) + 1)
        elif first is not None:
            chosen = range(int(first or 0), int(last or _OPEN))
        parts.append((name, chosen))
    return parts


def _matches(path: str, wanted: list[tuple[str, range | None]]) -> bool:
    parts = path.split(".")
    if len(parts) != len(wanted):
        return False
    for part, (name, chosen) in zip(parts, wanted, strict=True):
        own, _, index = part.rstrip("]").partition("[")
        if own != name:
            return False
        if chosen is not None and (not index or int(index) not in chosen):
            return False
    return True


# -- automatically ------------------------------------------------------------------


def _automatic(
    program: Program, federation: Federation, count: int, errors: ErrorCollector
) -> dict[int, str]:
    """Split what the main reactor contains into blocks with equally many reactions."""
    units = _units(program)
    if not 1 <= count <= len(units) + 1:
        msg = (
            f"the number of federates must be from 1 to {len(units) + 1}, one more "
            f"than {program.reactors[0].path} contains reactors, got {count}"
        )
        errors.add(ProgramError(msg, federation.where))
        return {}
    weights = _weights(program)
    blocks = _blocks([weights[node.id] for node in units], count)
    return {
        node.id: federation.rest if block == 0 else f"{federation.rest}-{block}"
        for node, block in zip(units, blocks, strict=True)
    }


def parts_of(program: Program) -> int:
    """Return how many reactors can be distributed over federates."""
    return len(_units(program))


def _units(program: Program) -> list[ReactorNode]:
    return [node for node in program.reactors if node.parent == 0 and node.scope < 0]


def _weights(program: Program) -> list[int]:
    """Return for each reactor how many reactions it has, with all it contains."""
    weights = [0] * len(program.reactors)
    for reaction in program.reactions:
        weights[reaction.reactor] += 1
    for node in reversed(program.reactors):  # children come after their parents
        if node.parent >= 0:
            weights[node.parent] += weights[node.id]
    return weights


def _blocks(weights: list[int], count: int) -> Iterator[int]:
    """Yield the block of each unit; every block but the first has at least one."""
    total = sum(weights) or 1
    before = 0
    block = 0
    for index, weight in enumerate(weights):
        left = len(weights) - index  # units, this one included
        fair = (before + weight // 2) * count // total
        block = min(max(block, fair), block + 1, count - 1)
        block = max(block, count - left)
        yield block
        before += weight
