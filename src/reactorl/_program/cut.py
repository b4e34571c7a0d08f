# SPDX-License-Identifier: Apache-2.0
"""The cut: a Program and a placement, as what federates have to know of each other.

Every federate elaborates the whole Program and computes the same cut, so ids mean the
same everywhere. A *unit* is what travels: the storage that a channel shares with all it
reaches without delay, or the common target of a delay stage. It is named by one of its
channels.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reactorl._program.cutting import Cutting
from reactorl._program.elaborate import first_error
from reactorl._program.errors import ErrorCollector
from reactorl._program.placement import place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reactorl._program.placement import Federation
    from reactorl._program.program import Program
    from reactorl.errors import DeclarationError, ProgramError


@dataclass(frozen=True, slots=True)
class Crossing:
    """A unit that is set in one federate and read at the same tag in another.

    Attributes:
        channel: A channel of the unit.
        writers: The reactions that may set it, in the order in which they run.
        readers: The receiver's reactions that read it; none if only a stage does.
    """

    channel: int
    writers: tuple[int, ...]
    readers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """What goes from one federate to another.

    Attributes:
        source: The federate that sends.
        target: The federate that receives.
        slots: What crosses at the same tag, in the order of the last writers: by level,
            then id. Values are sent in this order, so their sequence on the link is a
            function of the program.
        stages: Delay stages whose events the receiver needs.
        delays: The delays of ``stages``.
        physical: Physical connections, which the receiver stamps.
        stops: Whether the sender may end the program: its stop arrives one microstep
            later.
        serializers: ("slot", channel) or ("stage", stage) -> the module that serializes
            its values; pickle serializes others.
    """

    source: int
    target: int
    slots: tuple[Crossing, ...]
    stages: tuple[int, ...]
    delays: tuple[int, ...]
    physical: tuple[int, ...]
    stops: bool
    serializers: Mapping[tuple[str, int], str] = field(default_factory=dict)

    @property
    def direct(self) -> bool:
        """Whether anything crosses at the same tag."""
        return bool(self.slots)

    @property
    def lookahead(self) -> int | None:
        """The least delay of what arrives later than it is sent; None: nothing does."""
        return min((*self.delays, *((0,) if self.stops else ())), default=None)


@dataclass(frozen=True, slots=True)
class Cut:
    """A Program in parts.

    Attributes:
        program: The digest of the Program.
        names: The federates.
        where: Reactor -> its federate, which also traces it.
        copies: Reactor -> all federates that run it, in order; more than one for
            replicas.
        stage_home: Stage -> the federate that traces its events.
        stage_owners: Stage -> the federates that find the tags of its events.
        stage_at: Stage -> the federates in which its events arrive, in order.
        links: From whom to whom something goes, by source and target.
        flat: Whether all activity before the final tag is at microstep 0.
        physical: Federate -> whether its events may come from the physical world.
        stops: Federate -> whether one of its reactions may end the program.
    """

    program: str
    names: tuple[str, ...]
    where: tuple[int, ...]
    copies: tuple[tuple[int, ...], ...]
    stage_home: tuple[int, ...]
    stage_owners: tuple[tuple[int, ...], ...]
    stage_at: tuple[tuple[int, ...], ...]
    links: tuple[Link, ...]
    flat: bool
    physical: tuple[bool, ...]
    stops: tuple[bool, ...]

    def runs(self, reactor: int, federate: int) -> bool:
        """Return whether a federate runs a reactor, or a copy of it."""
        return federate in self.copies[reactor]

    @property
    def digest(self) -> str:
        """The SHA-256 of the cut, in hexadecimal; federates compare it."""
        sha = hashlib.sha256()
        for line in self._lines():
            sha.update(line.encode())
            sha.update(b"\n")
        return sha.hexdigest()

    def _lines(self) -> Iterator[str]:
        yield "cut 1"
        yield f"program {self.program}"
        yield f"federates {' '.join(self.names)}"
        yield f"copies {self.copies}"
        yield f"where {self.where}"
        yield f"stages {self.stage_home} {self.stage_owners} {self.stage_at}"
        yield f"flat {self.flat} physical {self.physical} stops {self.stops}"
        for link in self.links:
            yield f"link {link.source} {link.target} {link.delays} {link.stops}"
            yield f"  stages {link.stages} physical {link.physical}"
            if link.serializers:
                yield f"  serializers {sorted(link.serializers.items())}"
            for slot in link.slots:
                yield f"  slot {slot.channel} {slot.writers} {slot.readers}"


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a Program that one federate runs."""

    cut: Cut
    federate: int

    def runs(self, reactor: int) -> bool:
        """Return whether the federate runs a reactor, or a copy of it."""
        return self.cut.runs(reactor, self.federate)

    def traces(self, reactor: int) -> bool:
        """Return whether what a reactor does appears in this federate's trace."""
        return self.cut.where[reactor] == self.federate

    @property
    def may_stop(self) -> bool:
        """Whether one of its reactions may end the program."""
        return self.cut.stops[self.federate]


@dataclass(frozen=True, slots=True)
class CutAnalysis:
    """A cut with all errors; there is no cut if there is an error."""

    cut: Cut | None
    errors: tuple[DeclarationError | ProgramError, ...]


def cut_program(program: Program, federation: Federation) -> Cut:
    """Return the cut of a program.

    Raises:
        ProgramError: A name does not exist, or the program cannot be cut there. Of
            several errors the first is raised; its notes list the others.
    """
    found = analyze_cut(program, federation)
    if found.cut is None:
        raise first_error(found.errors)
    return found.cut


def analyze_cut(program: Program, federation: Federation) -> CutAnalysis:
    """Return the cut of a program, or all reasons why there is none."""
    errors = ErrorCollector()
    placed = place(program, federation, errors)
    if errors:
        return CutAnalysis(None, tuple(errors))
    cutting = Cutting(program, placed)
    cutting.check(errors)
    if errors:
        return CutAnalysis(None, tuple(errors))
    return CutAnalysis(_cut(program, cutting), ())


def _cut(program: Program, cutting: Cutting) -> Cut:
    placed = cutting.placed
    return Cut(
        program=program.digest,
        names=placed.names,
        where=placed.where,
        copies=tuple(tuple(sorted(at)) for at in cutting.copies),
        stage_home=tuple(stage.home for stage in cutting.stages),
        stage_owners=tuple(tuple(sorted(stage.owners)) for stage in cutting.stages),
        stage_at=tuple(tuple(sorted(stage.arrives)) for stage in cutting.stages),
        links=tuple(_links(program, cutting)),
        flat=cutting.is_flat(),
        physical=cutting.physical(),
        stops=cutting.stops(),
    )


def _links(program: Program, cutting: Cutting) -> Iterator[Link]:
    count = len(cutting.placed.names)
    stops = cutting.stops()
    rank = program.order.rank
    # Found once, not for each pair: with a thousand federates there are a million.
    crossings, stages = cutting.crossings(), cutting.crossing_stages()
    for source in range(count):
        for target in range(count):
            if source == target:
                continue
            slots = [
                Crossing(channel, writers, readers)
                for channel, writers, readers in crossings.get((source, target), ())
            ]
            slots.sort(key=lambda s: (rank[s.writers[-1]], s.writers[-1], s.channel))
            sent = stages.get((source, target), [])
            late = [s for s in sent if not s.physical]
            physical = tuple(s.number for s in sent if s.physical)
            if slots or sent or stops[source]:
                yield Link(
                    source=source,
                    target=target,
                    slots=tuple(slots),
                    stages=tuple(s.number for s in late),
                    delays=tuple(s.delay for s in late),
                    physical=physical,
                    stops=stops[source],
                    serializers=cutting.serializers(source, target),
                )
