# SPDX-License-Identifier: Apache-2.0
"""What the coordinator asks federates beside the run: their clocks, and their progress.

Nothing here has an influence on a run, and nothing is asked unless times are measured
or something watches.

Processes of one machine have the same steady clock. The offset of another machine's
clock is estimated when the run starts: from the exchange with the shortest round trip,
half of which is how wrong the estimate can be.
"""

from __future__ import annotations

import platform
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reactorl._federation.codec import decode, encode
from reactorl._federation.frames import Probe, Reading
from reactorl._federation.merged_timing import ClockOffset

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reactorl._federation.link import Link
    from reactorl._runtime.watch import Sample

_EXCHANGES: Final = 16
_PATIENCE: Final = 2_000_000_000
"""Nanoseconds after which a federate is asked again."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of one federate.

    Attributes:
        sample: Counters of its run.
        process_time: Processor time of its process, in seconds.
    """

    sample: Sample
    process_time: float


def steady_clock() -> str:
    """Return what identifies the steady clock of this process.

    Processes with the same text have the same clock: a machine since it was started,
    and its namespace of clocks.
    """
    found = []
    with suppress(OSError):
        found.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        found += Path("/proc/self/timens_offsets").read_text().split()
    return " ".join(found) or platform.node()  # on macOS


class Probes:
    """The coordinator's side. Any thread may use it.

    Args:
        links: The links to the federates.
        clocks: Whether offsets of clocks are wanted.
    """

    def __init__(self, links: Sequence[Link], *, clocks: bool) -> None:
        self._links = links
        self._wants_clocks = clocks
        self._lock = threading.Lock()
        self._asked: dict[tuple[int, int], int] = {}
        self._numbers = [0] * len(links)
        self._clocks: list[ClockOffset | None] = [None] * len(links)
        self._progress: dict[int, Progress] = {}
        self._answered = 0.0

    def begin(self, federate: int, facts: Mapping[str, object]) -> None:
        """Measure the clock of a federate that is ready, if it has another one."""
        with self._lock:  # an earlier life does not answer any more
            for key in [key for key in self._asked if key[0] == federate]:
                del self._asked[key]
        here = steady_clock()
        if here and facts.get("clock") == here:
            self._clocks[federate] = ClockOffset()
        elif self._wants_clocks:
            self._ask(federate)

    def take(self, federate: int, reading: Reading) -> None:
        """Take an answer."""
        now = time.monotonic_ns()
        with self._lock:
            sent = self._asked.pop((federate, reading.number), None)
        if sent is None:
            return
        error = (now - sent + 1) // 2
        known = self._clocks[federate]
        if known is None or error < known.error:
            middle = sent + (now - sent) // 2
            self._clocks[federate] = ClockOffset(middle - reading.clock, error)
        progress = decode(*reading.payload)
        if isinstance(progress, Progress):
            self._progress[federate] = progress
            self._answered = time.monotonic()
        elif reading.number < _EXCHANGES:
            self._ask(federate)

    def ask_progress(self) -> None:
        """Ask all federates for their progress; answers arrive later."""
        for federate in range(len(self._links)):
            self._ask(federate, progress=True)

    @property
    def progress(self) -> tuple[float, dict[int, Progress]]:
        """When the latest answer came, and the latest ones by federate."""
        return self._answered, dict(self._progress)

    @property
    def clocks(self) -> list[ClockOffset]:
        """The offsets of all clocks, as well as they are known."""
        return [clock or ClockOffset() for clock in self._clocks]

    def _ask(self, federate: int, *, progress: bool = False) -> None:
        link = self._links[federate]
        if not link.is_connected:
            return
        now = time.monotonic_ns()
        with self._lock:
            waiting = [key for key in self._asked if key[0] == federate]
            if progress and any(now - self._asked[key] < _PATIENCE for key in waiting):
                return  # it has not answered yet
            for key in waiting:  # of a life that has ended
                del self._asked[key]
            self._numbers[federate] += 1
            number = self._numbers[federate]
            self._asked[federate, number] = now
        link.put(Probe(number, int(progress)))
        link.flush()


def answer(probe: Probe, progress: Progress | None) -> Reading:
    """Return the answer of a federate."""
    payload = encode(progress if probe.progress else None)
    return Reading(probe.number, time.monotonic_ns(), payload)
