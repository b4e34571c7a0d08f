# SPDX-License-Identifier: Apache-2.0
"""Progress of a run in several processes, read from the one that has started it."""

from __future__ import annotations

import threading
import time
from array import array
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING

from reactorl._federation.probes import Progress
from reactorl._runtime.watch import FederateSample, Sample, Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reactorl._federation.parts import PartialResult
    from reactorl._federation.probes import Probes
    from reactorl._program.cut import Cut
    from reactorl._program.program import Program
    from reactorl._runtime.options import Options


class FederationWatch(Watch):
    """Reports the progress of all federates to any thread, also after their end.

    A sample asks all of them and returns what they have answered before, so it does not
    wait, and is as old as the one before. The run is not affected.

    Args:
        program: What runs.
        cut: How it is cut.
        options: How it runs.
        probes: Asks the federates.
    """

    def __init__(
        self, program: Program, cut: Cut, options: Options, probes: Probes
    ) -> None:
        self.program = program
        self.options = options
        self._cut = cut
        self._probes = probes
        self._guard = threading.Lock()
        self._over = False
        self._latest = self._put_together({}, time.monotonic())

    @property
    def ended(self) -> bool:
        """Whether the run is over."""
        return self._over

    def sample(self) -> Sample:
        """Return the latest progress that all federates have said."""
        with self._guard:
            if not self._over:
                at, found = self._probes.progress
                if at > self._latest.at:
                    self._latest = self._put_together(found, at)
                self._probes.ask_progress()
            return self._latest

    def end(self, parts: Sequence[PartialResult] = ()) -> None:
        """Ask nothing any more: the run is over.

        Args:
            parts: The results of all federates, if it has not failed.
        """
        self.sample()
        with self._guard:
            if parts and not self._over:
                _, found = self._probes.progress
                at = time.monotonic()
                last = {
                    index: _last(part, found.get(index), at)
                    for index, part in enumerate(parts)
                }
                self._latest = self._put_together(last, at)
            self._over = True

    def _put_together(self, found: dict[int, Progress], at: float) -> Sample:
        names = self._cut.names
        samples = {index: each.sample for index, each in found.items()}
        costs = array("q", bytes(8 * 3 * len(self.program.reactions)))
        for node in self.program.reactions:
            sample = samples.get(self._cut.where[node.reactor])
            if sample is not None:
                row = slice(3 * node.id, 3 * node.id + 3)
                costs[row] = array("q", sample.costs[row])
        cpu: list[float | None] = []
        federates = []
        for index, name in enumerate(names):
            each = found.get(index)
            of_workers = () if each is None else each.sample.cpu
            missing = self.options.workers - len(of_workers)
            cpu += [*of_workers, *[None] * missing]
            federates.append(
                FederateSample(
                    name,
                    elapsed=0 if each is None else each.sample.elapsed,
                    tags=0 if each is None else each.sample.tags,
                    process_time=0.0 if each is None else each.process_time,
                )
            )
        return Sample(
            at=at,
            elapsed=min(each.elapsed for each in federates),
            tags=max(each.tags for each in federates),
            events=sum(each.events for each in samples.values()),
            shared_tags=max((s.shared_tags for s in samples.values()), default=0),
            cpu=tuple(cpu),
            costs=costs,
            federates=tuple(federates),
        )


def _last(part: PartialResult, before: Progress | None, at: float) -> Progress:
    """Return the last progress of a federate, from its result."""
    tags, events, shared = part.counts
    sample = Sample(
        at=at,
        elapsed=part.final_tag.time,
        tags=tags,
        events=events,
        shared_tags=shared,
        cpu=() if before is None else before.sample.cpu,
        costs=array("q", chain.from_iterable(part.costs)),
    )
    return Progress(sample, 0.0 if before is None else before.process_time)


@contextmanager
def watched(
    program: Program,
    cut: Cut,
    options: Options,
    probes: Probes,
    at_start: Callable[[Watch], object] | None,
) -> Iterator[Callable[[Sequence[PartialResult]], object]]:
    """Let the caller of a run watch it, if that is wanted, as long as it lasts.

    Yields:
        To be called with the results.
    """
    if at_start is None:
        yield lambda _parts: None
        return
    watch = FederationWatch(program, cut, options, probes)
    at_start(watch)
    try:
        yield watch.end
    finally:
        watch.end()
