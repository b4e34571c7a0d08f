# SPDX-License-Identifier: Apache-2.0
"""Progress of a run, read from other threads."""

from __future__ import annotations

import threading
import time
from array import array
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl import _core
    from reactorl._program.program import Program
    from reactorl._runtime.options import Options


@dataclass(frozen=True, slots=True)
class FederateSample:
    """The progress of one federate.

    Attributes:
        name: The federate.
        elapsed: Logical time of the latest tag that it has done, in nanoseconds since
            the start.
        tags: How many tags it has done.
        process_time: Processor time of its process, in seconds.
    """

    name: str
    elapsed: int
    tags: int
    process_time: float


@dataclass(frozen=True, slots=True)
class Sample:
    """The progress of a run at one moment. Differs from run to run, as clocks do.

    Attributes:
        at: When it was taken, in seconds of ``time.monotonic``.
        elapsed: Logical time of the latest tag that was done, in nanoseconds since the
            start.
        tags: How many tags were done.
        events: How many events fired.
        shared_tags: At how many tags several workers took part.
        cpu: Processor time of each worker's thread, in seconds; None where the system
            does not measure it.
        costs: Three numbers for each reaction, in the order of ``program.reactions``:
            how often it ran, how often that was timed, and how many nanoseconds it took
            then, waiting for an interpreter lock included.
        federates: The federates of the run; empty if it is one process. Logical time is
            then that of the last of them, and ``cpu`` has the workers of all.
    """

    at: float
    elapsed: int
    tags: int
    events: int
    shared_tags: int
    cpu: tuple[float | None, ...]
    costs: Sequence[int]
    federates: tuple[FederateSample, ...] = ()


class Watch:
    """Reports the progress of a run to any thread, also after its end.

    Sampling reads counters that the run keeps anyway and does not affect the run.

    Attributes:
        program: What runs.
        options: How it runs.
    """

    def __init__(
        self, program: Program, options: Options, session: _core.Session
    ) -> None:
        self.program = program
        self.options = options
        self._session: _core.Session | None = session
        self._lock = threading.Lock()
        self._caller = _own_clock()
        self._last: Sample | None = None

    @property
    def ended(self) -> bool:
        """Whether the run is over."""
        return self._session is None

    def sample(self) -> Sample:
        """Return the current progress; after the end, the final one."""
        with self._lock:
            if self._session is not None:
                self._last = self._take(self._session)
            assert self._last is not None
            return self._last

    def _take(self, session: _core.Session) -> Sample:
        tags, events, shared = session.counts()
        clocks = [self._caller, *session.cpu_clocks()[1:]]
        return Sample(
            at=time.monotonic(),
            elapsed=session.reached(),
            tags=tags,
            events=events,
            shared_tags=shared,
            cpu=tuple(_spent(clock) for clock in clocks),
            costs=array("q", session.costs()),
        )

    def _end(self) -> None:
        """Take the last sample; from here on the session may be closed."""
        self.sample()
        with self._lock:
            self._session = None


def _own_clock() -> int:
    """Return the clock of this thread's processor time, or 0."""
    find = getattr(time, "pthread_getcpuclockid", None)
    return 0 if find is None else int(find(threading.get_ident()))


def _spent(clock: int) -> float | None:
    if clock:
        with suppress(OSError):  # the thread has ended
            return time.clock_gettime(clock)
    return None
