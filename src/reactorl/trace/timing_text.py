# SPDX-License-Identifier: Apache-2.0
"""Structure and measured times as JSON, for trace files."""

from __future__ import annotations

import json
from typing import Any

from reactorl.tag import Tag
from reactorl.trace.timing import (
    FederateTiming,
    Invocation,
    ReactionTiming,
    Structure,
    TagTiming,
    Timing,
    Wait,
    WaitKind,
    WaitTiming,
    WorkerTiming,
)

_FACTS = ("first_worker", "workers", "span", "offset", "offset_error")


def structure_json(structure: Structure) -> str:
    """Return one line."""
    return json.dumps(
        {
            "reactions": structure.reactions,
            "levels": structure.levels,
            "after": structure.after,
        }
    )


def parse_structure(text: str) -> Structure:
    """Return what ``structure_json`` wrote.

    Raises:
        ValueError: The text has another format.
    """
    found = _fields(text, "reactions", "levels", "after")
    names = tuple(str(name) for name in found["reactions"])
    levels = _ints(found["levels"])
    after = tuple(_ints(row) for row in found["after"])
    known = range(len(names))
    if not len(names) == len(levels) == len(after) or any(
        other not in known for row in after for other in row
    ):
        msg = "the reactions do not match their order"
        raise ValueError(msg)
    return Structure(names, levels, after)


def timing_json(timing: Timing) -> str:
    """Return one line, without the structure."""
    fields: dict[str, Any] = {
        "fast": timing.fast,
        "span": timing.span,
        "tags": timing.tags,
        "lag": timing.lag,
        "longest_lag": timing.longest_lag,
        "reactions": [
            (i, *sums) for i, sums in enumerate(timing.reactions) if sums.runs
        ],
        "workers": timing.workers,
        "recent_tags": _tag_rows(timing.recent_tags),
        "recent": [(*ran[:5], int(ran.missed)) for ran in timing.recent],
    }
    if timing.federates:
        fields["federates"] = [
            {
                "name": each.name,
                "facts": [getattr(each, name) for name in _FACTS],
                "recent_tags": _tag_rows(each.recent_tags),
                "waits": each.waits,
                "recent_waits": [
                    (*wait[:2], *wait.tag, *wait[3:]) for wait in each.recent_waits
                ],
            }
            for each in timing.federates
        ]
    return json.dumps(fields, separators=(",", ":"))


def _tag_rows(tags: tuple[TagTiming, ...]) -> list[tuple[int, ...]]:
    return [(*found.tag, found.begin, found.end, found.lag) for found in tags]


def parse_timing(text: str, structure: Structure) -> Timing:
    """Return what ``timing_json`` wrote.

    Raises:
        ValueError: The text has another format.
    """
    found = _fields(
        text,
        *("fast", "span", "tags", "lag", "longest_lag"),
        *("reactions", "workers", "recent_tags", "recent"),
    )
    reactions = [ReactionTiming()] * len(structure.reactions)
    for row in found["reactions"]:
        which, *sums = _ints(row, 5)
        reactions[_index(which, reactions)] = ReactionTiming(*sums)
    workers = tuple(WorkerTiming(*_ints(row, 2)) for row in found["workers"])
    tags = _tags(found["recent_tags"])
    recent = []
    for row in found["recent"]:
        tag, which, worker, begin, end, missed = _ints(row, 6)
        place = _index(tag, tags), _index(which, reactions), _index(worker, workers)
        recent.append(Invocation(*place, begin, end, bool(missed)))
    names = ("span", "tags", "lag", "longest_lag")
    span, count, lag, longest = _ints([found[name] for name in names])
    return Timing(
        structure=structure,
        fast=bool(found["fast"]),
        span=span,
        reactions=tuple(reactions),
        workers=workers,
        tags=count,
        lag=lag,
        longest_lag=longest,
        recent_tags=tuple(tags),
        recent=tuple(recent),
        federates=_federates(found.get("federates", []), workers),
    )


def _federates(
    rows: Any,  # noqa: ANN401
    workers: tuple[WorkerTiming, ...],
) -> tuple[FederateTiming, ...]:
    made = []
    for row in _list(rows):
        facts = dict(zip(_FACTS, _ints(row["facts"], len(_FACTS)), strict=True))
        first, count = facts["first_worker"], facts["workers"]
        if not 0 <= first <= first + count <= len(workers):
            msg = f"workers must be among {len(workers)}, got {count} from {first} on"
            raise ValueError(msg)
        waits = [_ints(wait, 5) for wait in _list(row["waits"])]
        recent = [_ints(wait, 6) for wait in _list(row["recent_waits"])]
        made.append(
            FederateTiming(
                name=str(row["name"]),
                **facts,
                recent_tags=tuple(_tags(row["recent_tags"])),
                waits=tuple(
                    WaitTiming(_index(peer, rows), WaitKind(kind), *sums)
                    for peer, kind, *sums in waits
                ),
                recent_waits=tuple(
                    Wait(_index(peer, rows), WaitKind(kind), Tag(time, step), *span)
                    for peer, kind, time, step, *span in recent
                ),
            )
        )
    return tuple(made)


def _tags(rows: Any) -> list[TagTiming]:  # noqa: ANN401
    tags = []
    for row in _list(rows):
        time, step, begin, end, lag = _ints(row, 5)
        tags.append(TagTiming(Tag(time, step), begin, end, lag))
    return tags


def _list(rows: Any) -> list[Any]:  # noqa: ANN401
    if not isinstance(rows, list):
        msg = f"expected a list, got {rows!r}"
        raise TypeError(msg)
    return rows


def _fields(text: str, *names: str) -> dict[str, Any]:
    found = json.loads(text)
    if not isinstance(found, dict) or any(name not in found for name in names):
        msg = f"fields must be {', '.join(names)}"
        raise ValueError(msg)
    return found


def _ints(row: Any, count: int | None = None) -> tuple[int, ...]:  # noqa: ANN401
    if (
        not isinstance(row, list | tuple)
        or any(type(number) is not int for number in row)
        or (count is not None and len(row) != count)
    ):
        msg = (
            f"expected {'' if count is None else f'{count} '}whole numbers, got {row!r}"
        )
        raise ValueError(msg)
    return tuple(row)


def _index(number: int, table: list[Any] | tuple[Any, ...]) -> int:
    if not 0 <= number < len(table):
        msg = f"index must be below {len(table)}, got {number}"
        raise ValueError(msg)
    return number
