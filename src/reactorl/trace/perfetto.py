# SPDX-License-Identifier: Apache-2.0
"""Measured times as JSON of Chrome's trace event format, for Perfetto.

One track for tags and one for each worker; times are those on the wall, and logical
tags stand in the arguments. Chrome wants microseconds; three decimals keep nanoseconds.
"""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reactorl.trace.timing import Timing

_PROCESS: Final = 1
_TAGS: Final = 0  # the first track; workers follow


def write_perfetto(file: IO[str], timing: Timing, name: str) -> None:
    """Write what is known in detail: the last tags and their invocations.

    Args:
        file: Where to, event by event; nothing is held.
        timing: Measured times.
        name: Of the process that is shown.
    """
    file.write('{"displayTimeUnit": "ns", "traceEvents": [\n')
    for number, event in enumerate(events(timing, name)):
        file.write(",\n" if number else "")
        file.write(json.dumps(event))
    file.write("\n]}\n")


def events(timing: Timing, name: str) -> Iterator[dict[str, Any]]:
    """Yield the events: names of tracks, tags, invocations, lag."""
    yield _named("process_name", 0, name)
    yield _named("thread_name", _TAGS, "tags")
    yield _order(_TAGS)
    for worker in range(len(timing.workers)):
        yield _named("thread_name", worker + 1, f"worker {worker}")
        yield _order(worker + 1)
    for found in timing.recent_tags:
        args: dict[str, Any] = {
            "time": found.tag.time,
            "microstep": found.tag.microstep,
        }
        if not timing.fast:
            args["lag"] = found.lag
        span = found.begin, found.end
        yield _complete(_TAGS, f"tag {found.tag}", "tag", span, args)
        if not timing.fast:
            yield {
                "ph": "C",
                "name": "lag",
                "pid": _PROCESS,
                "ts": found.begin / 1000,
                "args": {"µs": found.lag / 1000},
            }
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
        yield _complete(ran.worker + 1, names[ran.reaction], kind, span, args)


def _named(what: str, track: int, name: str) -> dict[str, Any]:
    args = {"name": name}
    return {"ph": "M", "name": what, "pid": _PROCESS, "tid": track, "args": args}


def _order(track: int) -> dict[str, Any]:
    return {
        "ph": "M",
        "name": "thread_sort_index",
        "pid": _PROCESS,
        "tid": track,
        "args": {"sort_index": track},
    }


def _complete(
    track: int, name: str, kind: str, span: tuple[int, int], args: dict[str, Any]
) -> dict[str, Any]:
    begin, end = span
    return {
        "ph": "X",
        "name": name,
        "cat": kind,
        "pid": _PROCESS,
        "tid": track,
        "ts": begin / 1000,
        "dur": (end - begin) / 1000,
        "args": args,
    }
