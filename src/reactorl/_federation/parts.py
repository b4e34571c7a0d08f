# SPDX-License-Identifier: Apache-2.0
"""The results of all federates, put together: the result of one process."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from reactorl._federation.merge import FederateTrace, merged_recording, merged_trace
from reactorl._federation.merged_timing import ClockOffset, merged_timing
from reactorl._program.cut import Part
from reactorl._runtime.plan import make_plan
from reactorl._runtime.result import ReactionTime, Result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reactorl._program.cut import Cut
    from reactorl._program.program import Program
    from reactorl._runtime.live import Live
    from reactorl._runtime.options import Options
    from reactorl._runtime.recording import Recording
    from reactorl._runtime.timing import Numbers
    from reactorl.tag import Tag
    from reactorl.trace import Timing, Trace


@dataclass(frozen=True, slots=True)
class PartialResult:
    """What one federate sends when its run has ended.

    Attributes:
        whole: Whether it reached the final tag.
        workers: Threads that ran its reactions.
        final_tag: Its last tag, elapsed.
        start_time: Time of the first tag; the same for all.
        counts: Tags, events, and tags that several workers shared.
        costs: For each reaction, how often it ran, how often that was timed, and the
            nanoseconds it took then.
        seconds: Wall-clock seconds from its first tag to its last.
        trace: What its core recorded, and the values; None if it was not traced.
        recording: Its physical inputs, if they were recorded.
        timing: What its core measured; None if times were not measured.
        extra: What the source of the program adds.
    """

    whole: bool
    workers: int
    final_tag: Tag
    start_time: int
    counts: tuple[int, int, int]
    costs: tuple[tuple[int, int, int], ...]
    seconds: float
    trace: tuple[bytes, list[object]] | None
    recording: Recording | None
    timing: Numbers | None = None
    extra: object = None


def partial_result(live: Live, *, whole: bool) -> PartialResult:
    """Return the result of a federate. Call before its run is closed."""
    session = live.session
    traced = live.options.trace is not False
    return PartialResult(
        whole=whole,
        workers=live.options.workers,
        final_tag=live.now(),
        start_time=session.start_time(),
        counts=session.counts(),
        costs=tuple(session.cost(node.id) for node in live.program.reactions),
        seconds=live.seconds,
        trace=(session.trace_bytes(), list(session.trace_values())) if traced else None,
        recording=live.recording,
        timing=session.timing() if live.options.timing else None,
    )


def whole_trace(
    program: Program, cut: Cut, parts: Sequence[PartialResult]
) -> Trace | None:
    """Return the trace of a run; None if it was not traced."""
    traces: list[FederateTrace] = []
    for index, part in enumerate(parts):
        if part.trace is None:
            return None
        planned = make_plan(program, part.workers, Part(cut, index))
        traces.append(FederateTrace(planned, *part.trace))
    finished = all(part.whole for part in parts)
    return merged_trace(program, cut, traces, finished=finished)


def whole_result(
    program: Program,
    cut: Cut,
    options: Options,
    parts: Sequence[PartialResult],
    clocks: Sequence[ClockOffset] | None = None,
) -> Result:
    """Return the result of a run.

    Counts of reactions are those of one process. Tags are counted in the trace; without
    one, the largest number of any federate counts. Events that arrive in several
    federates count in each.

    Args:
        program: The program.
        cut: How it was cut.
        options: Options of the run.
        parts: The results, in the order of the federates.
        clocks: Their clocks, for measured times; default: all are that of one machine.
    """
    costs = [
        parts[cut.where[node.reactor]].costs[node.id] for node in program.reactions
    ]

    def times() -> list[ReactionTime]:
        return [
            ReactionTime(program.reaction_name(i), runs, total / timed / 1e9)
            for i, (runs, timed, total) in enumerate(costs)
            if timed
        ]

    trace = whole_trace(program, cut, parts)
    most_tags = max(part.counts[0] for part in parts)
    recordings = [part.recording for part in parts if part.recording is not None]
    return Result(
        program=program,
        options=options,
        final_tag=max(part.final_tag for part in parts),
        start_time=parts[0].start_time,
        tags=most_tags if trace is None else len(trace.tags),
        events=sum(part.counts[1] for part in parts),
        reactions=sum(runs for runs, _, _ in costs),
        seconds=max(part.seconds for part in parts),
        shared_tags=max(part.counts[2] for part in parts),
        recording=merged_recording(recordings) if recordings else None,
        _times=times,
        _trace=None if trace is None else lambda: trace,
        _timing=_timing(program, cut, options, parts, clocks),
    )


def _timing(
    program: Program,
    cut: Cut,
    options: Options,
    parts: Sequence[PartialResult],
    clocks: Sequence[ClockOffset] | None,
) -> Callable[[], Timing] | None:
    numbers = [part.timing for part in parts if part.timing is not None]
    if len(numbers) < len(parts):
        return None
    offsets = clocks or [ClockOffset()] * len(parts)
    return partial(merged_timing, program, cut, numbers, offsets, fast=options.fast)
