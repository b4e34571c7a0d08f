# SPDX-License-Identifier: Apache-2.0
"""Measured times as JSON of Chrome's trace event format, for Perfetto.

One track for tags and one for each worker; in a federation for each federate, which is
shown as a process, with a track for its waits. Times are those on the wall, and logical
tags stand in the arguments. Chrome wants microseconds; three decimals keep nanoseconds.
"""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING, Any, Final, TypeAlias

from reactorl.trace.timing import WaitKind

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from reactorl.trace.timing import FederateTiming, TagTiming, Timing

_FIRST: Final = 1  # the number of the only process, or of the first federate
_TAGS: Final = 0  # the first track; waits or workers follow
_Track: TypeAlias = tuple[int, int]
"""Numbers of the process and of the track in it."""
_WAITS: Final = 1  # in a federation, for the first federate that is waited for


def write_perfetto(file: IO[str], timing: Timing, name: str) -> None:
    """Write what is known in detail: the last tags and their invocations.

    Args:
        file: Where to, event by event; nothing is held.
        timing: Measured times.
        name: Of the process that is shown; federates have their own names.
    """
    file.write('{"displayTimeUnit": "ns", "traceEvents": [\n')
    for number, event in enumerate(events(timing, name)):
        file.write(",\n" if number else "")
        file.write(json.dumps(event))
    file.write("\n]}\n")


def events(timing: Timing, name: str) -> Iterator[dict[str, Any]]:
    """Yield the events: names of tracks, tags, waits, invocations, lag."""
    if timing.federates:
        tracks = yield from _federates(timing)
    else:
        yield _named("process_name", (_FIRST, 0), name)
        yield from _track((_FIRST, _TAGS), "tags")
        tracks = []
        for worker in range(len(timing.workers)):
            tracks.append((_FIRST, worker + 1))
            yield from _track(tracks[-1], f"worker {worker}")
        yield from _tags(timing.recent_tags, _FIRST, fast=timing.fast)
    names, levels = timing.structure.reactions, timing.structure.levels
    for ran in timing.recent:
        args = {
            "tag": str(timing.recent_tags[ran.tag].tag),
            "level": levels[ran.reaction],
        }
        if ran.missed:
            args["missed deadline"] = True
        kind = "missed deadline" if ran.missed else "reaction"
        span = ran.begin, ran.end
        yield _complete(tracks[ran.worker], names[ran.reaction], kind, span, args)


def _federates(timing: Timing) -> Generator[dict[str, Any], None, list[_Track]]:
    """Yield the tags and waits of all federates; return the tracks of all workers."""
    tracks: list[_Track] = []
    for number, each in enumerate(timing.federates):
        process = _FIRST + number
        yield _named("process_name", (process, 0), f"federate {each.name}")
        yield _sorted("process_sort_index", (process, 0), number)
        yield from _track((process, _TAGS), "tags")
        # Waits for several others overlap, so each has a track.
        whom = sorted({wait.federate for wait in each.recent_waits})
        for place, peer in enumerate(whom):
            yield from _track((process, _WAITS + place), _whom(timing, number, peer))
        for worker in range(each.workers):
            tracks.append((process, _WAITS + len(whom) + worker))
            yield from _track(tracks[-1], f"worker {worker}")
        yield from _tags(each.recent_tags, process, fast=timing.fast)
        yield from _waits(each, process, whom)
    return tracks


def _whom(timing: Timing, own: int, peer: int) -> str:
    name = "the coordinator" if peer == own else timing.federates[peer].name
    return f"waits for {name}"


_UNTIL: Final = {
    WaitKind.SLOT: "waits for a port",
    WaitKind.TAG: "waits to begin a tag",
    WaitKind.EVENT: "has no event",
}


def _waits(
    each: FederateTiming, process: int, whom: Sequence[int]
) -> Iterator[dict[str, Any]]:
    for wait in each.recent_waits:
        what = "after" if wait.kind is WaitKind.EVENT else "tag"
        track = process, _WAITS + whom.index(wait.federate)
        args = {what: str(wait.tag)}
        span = wait.begin, wait.end
        yield _complete(track, _UNTIL[wait.kind], "wait", span, args)


def _tags(
    tags: Sequence[TagTiming], process: int, *, fast: bool
) -> Iterator[dict[str, Any]]:
    for found in tags:
        args: dict[str, Any] = {
            "time": found.tag.time,
            "microstep": found.tag.microstep,
        }
        if not fast:
            args["lag"] = found.lag
        span = found.begin, found.end
        yield _complete((process, _TAGS), f"tag {found.tag}", "tag", span, args)
        if not fast:
            yield {
                "ph": "C",
                "name": "lag",
                "pid": process,
                "ts": found.begin / 1000,
                "args": {"µs": found.lag / 1000},
            }


def _track(track: _Track, name: str) -> Iterator[dict[str, Any]]:
    yield _named("thread_name", track, name)
    yield _sorted("thread_sort_index", track, track[1])


def _named(what: str, track: _Track, name: str) -> dict[str, Any]:
    process, thread = track
    args = {"name": name}
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": args}


def _sorted(what: str, track: _Track, place: int) -> dict[str, Any]:
    process, thread = track
    args = {"sort_index": place}
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": args}


def _complete(
    track: _Track, name: str, kind: str, span: tuple[int, int], args: dict[str, Any]
) -> dict[str, Any]:
    begin, end = span
    process, thread = track
    return {
        "ph": "X",
        "name": name,
        "cat": kind,
        "pid": process,
        "tid": thread,
        "ts": begin / 1000,
        "dur": (end - begin) / 1000,
        "args": args,
    }
