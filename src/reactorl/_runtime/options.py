# SPDX-License-Identifier: Apache-2.0
"""Options of a run: everything that is not part of the program itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from reactorl._util.machine import usable_cores
from reactorl.tag import FOREVER, NEVER, Duration, nanoseconds

if TYPE_CHECKING:
    from reactorl._program.program import Program

TraceDetail: TypeAlias = bool | Literal["values"]


@dataclass(frozen=True, slots=True)
class Options:
    """Checked options of a run; times in nanoseconds."""

    workers: int
    fast: bool
    timeout: int | None
    keepalive: bool
    seed: int
    start_time: int | None
    trace: TraceDetail
    check: bool
    freeze: bool
    shuffle: int
    stay_home: bool
    timing: int = 0  # how many invocations of each worker are kept; 0: no times


def make_options(
    program: Program,
    *,
    workers: int | None,
    fast: bool,
    timeout: Duration | None,
    keepalive: bool | None,
    seed: int,
    start_time: int | None,
    trace: TraceDetail,
    check: bool,
    freeze: bool | None,
    shuffle: int,
    stay_home: bool,
    timing: bool | int = False,
) -> Options:
    """Fill in defaults that depend on the program and the machine.

    Raises:
        ValueError: An option is out of range; the message names it.
        TypeError: An option has the wrong type.
    """
    if workers is None:
        workers = default_workers(program)
    if isinstance(workers, bool) or not isinstance(workers, int):
        msg = f"workers must be an int or None, got {workers!r}"
        raise TypeError(msg)
    if not 1 <= workers <= MAX_WORKERS:
        msg = f"workers must be from 1 to {MAX_WORKERS}, got {workers}"
        raise ValueError(msg)
    limit = None if timeout is None else nanoseconds(timeout)
    if limit is not None and limit < 0:
        msg = f"timeout must not be negative, got {timeout!r}"
        raise ValueError(msg)
    if isinstance(seed, bool) or not isinstance(seed, int):
        msg = f"seed must be an int, got {seed!r}"
        raise TypeError(msg)
    if start_time is not None and not NEVER < start_time < FOREVER:
        msg = (
            f"start_time must be from {NEVER + 1} to {FOREVER - 1} ns, got {start_time}"
        )
        raise ValueError(msg)
    if trace not in (False, True, "values"):
        msg = f'trace must be False, True or "values", got {trace!r}'
        raise ValueError(msg)
    if not 0 <= timing <= MAX_TIMED:
        msg = f"timing must be a bool or a number up to {MAX_TIMED}, got {timing!r}"
        raise ValueError(msg)
    return Options(
        # Checking compares values before and after each body: one at a time.
        workers=1 if check else workers,
        fast=fast,
        timeout=limit,
        keepalive=program.has_physical_action if keepalive is None else keepalive,
        seed=seed,
        # A fast run does not need the date; a fixed one makes runs comparable.
        start_time=0 if start_time is None and fast else start_time,
        trace=trace,
        check=check,
        freeze=_freezes(program) if freeze is None else freeze,
        shuffle=shuffle,
        stay_home=stay_home,
        timing=KEPT if timing is True else int(timing),
    )


MAX_WORKERS = 1024
KEPT = 1 << 16
"""How many invocations of each worker ``timing=True`` keeps one by one."""
MAX_TIMED = 1 << 28


def default_workers(program: Program) -> int:
    """Return the default number of workers: one per core, but not more than reactions.

    On a GIL build the scheduler shares work only where it measures a gain, that is
    among reactions that release the GIL; so the same number does no harm there.
    """
    return max(1, min(usable_cores(), len(program.reactions)))


def _freezes(program: Program) -> bool:
    """Return whether all reactors of a program expect that arrays become read-only."""
    return all(cls._freezes for cls in {node.cls for node in program.reactors})
