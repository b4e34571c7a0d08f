# SPDX-License-Identifier: Apache-2.0
"""Target properties: their values, and warnings for those without effect."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from reactorl.lf.diagnostics import nearest
from reactorl.lf.link.imports import beside
from reactorl.lf.link.property_kinds import (
    KINDS,
    OLD,
    OTHERS,
    RENAMED,
    Kind,
    whole,
    word,
)
from reactorl.lf.parse import syntax
from reactorl.lf.parse.time_units import nanoseconds_of

if TYPE_CHECKING:
    from pathlib import Path

    from reactorl.lf.diagnostics import Report
    from reactorl.lf.link.program import ClassUnit, FileUnit


_ENCRYPTED: Final = ("TLS", "SST")


@dataclass(frozen=True, slots=True)
class Properties:
    """Target properties that affect a run; None if not given.

    Attributes:
        timeout: Nanoseconds.
        workers: The number; 1 for ``single-threaded``; None also for ``workers: 0``.
        logging: ``error``, ``warn``, ``info``, ``log`` or ``debug``.
        tracing: The trace file's name without its suffix, or None.
        files: Existing files and directories that bodies import.
        coordination: ``centralized`` or ``decentralized``.
        encrypted: Whether ``comm-type`` asks for encrypted links of federates.
    """

    timeout: int | None = None
    fast: bool | None = None
    keepalive: bool | None = None
    workers: int | None = None
    logging: str | None = None
    tracing: str | None = None
    files: tuple[Path, ...] = ()
    coordination: str | None = None
    encrypted: bool = False


def read_properties(
    files: list[FileUnit], main: ClassUnit | None, report: Report
) -> Properties:
    """Return the target properties, with attributes of the main reactor applied.

    The properties of the root file count; of imported files only ``files`` is used.
    Attributes of the main reactor override target properties.
    """
    found = Properties()
    wanted: list[Path] = []
    for n, file in enumerate(files):
        table = _checked(file, report)
        if "files" in table:
            wanted += _existing(file, table["files"], report)
        if n == 0:
            found = _interpret(table, file.source.path.stem)
            _report_contradictions(file, table, main, report)
    if main is not None:
        found = _with_attributes(found, main)
    return replace(found, files=tuple(dict.fromkeys(wanted)))


def _checked(file: FileUnit, report: Report) -> dict[str, syntax.Item]:
    """Return the properties of a file that are known and have a valid value."""
    target = file.tree.target
    if target is None or target.properties is None or target.name.text != "Python":
        return {}
    return _checked_table(file, target.properties, KINDS, "", report)


def _checked_table(
    file: FileUnit,
    table: syntax.Dict,
    kinds: dict[str, Kind],
    parent: str,
    report: Report,
) -> dict[str, syntax.Item]:
    found: dict[str, syntax.Item] = {}
    for entry in table.entries:
        key = entry.key.strip('"')
        if not parent and key in RENAMED:
            what = f"target property '{key}' was renamed to '{RENAMED[key]}'"
            report.warning(
                file.source, entry.key_span, what, f"Write '{RENAMED[key]}'."
            )
            key = RENAMED[key]
        kind = kinds.get(key)
        if kind is None:
            _warn_unknown(file, entry, key, kinds, parent, report)
        elif key in found:
            what = f"'{key}' is given twice"
            report.error(file.source, entry.key_span, what, "Remove one of the two.")
        elif not kind.accepts(entry.value):
            what = f"'{key}' must be {kind.words}"
            report.error(file.source, entry.value.span, what)
        else:
            found[key] = entry.value
            if kind.keys is not None and isinstance(entry.value, syntax.Dict):
                _checked_table(file, entry.value, kind.keys, key, report)
            if key == "protobufs":
                what = "target property 'protobufs' has no effect"
                advice = "Run protoc and import the generated module."
                report.warning(file.source, entry.span, what, advice)
    return found


def _warn_unknown(
    file: FileUnit,
    entry: syntax.Entry,
    key: str,
    kinds: dict[str, Kind],
    parent: str,
    report: Report,
) -> None:
    if not parent and key in OLD:
        what = f"target property '{key}' is obsolete and has no effect"
        advice = f"Write '{OLD[key]}'."
    elif not parent and key in OTHERS:
        what = f"target property '{key}' belongs to another target and has no effect"
        advice = "Remove it."
    elif not parent:
        what = f"unknown target property '{key}'; it has no effect"
        advice = nearest(key, kinds)
    else:
        what = f"unknown key '{key}' of '{parent}'; it has no effect"
        advice = nearest(key, kinds)
    report.warning(file.source, entry.key_span, what, advice)


def _interpret(table: dict[str, syntax.Item], stem: str) -> Properties:
    workers = whole(table["workers"]) if "workers" in table else None
    if _truth(table.get("single-threaded")):
        workers = 1
    coordination = word(table["coordination"]) if "coordination" in table else None
    return Properties(
        timeout=_time(table.get("timeout")),
        fast=_truth(table.get("fast")),
        keepalive=_truth(table.get("keepalive")),
        workers=workers or None,
        logging=_level(table.get("logging")),
        tracing=_trace_name(table.get("tracing"), stem),
        coordination=coordination.casefold() if coordination else None,
        encrypted="comm-type" in table and word(table["comm-type"]) in _ENCRYPTED,
    )


def _truth(item: syntax.Item | None) -> bool | None:
    return item.value if isinstance(item, syntax.Bool) else None


def _time(item: syntax.Item | None) -> int | None:
    if isinstance(item, syntax.Time):
        return nanoseconds_of(item)
    return 0 if isinstance(item, syntax.Number) else None


def _level(item: syntax.Item | None) -> str | None:
    text = word(item) if item is not None else None
    return text.casefold() if text is not None else None


def _trace_name(item: syntax.Item | None, stem: str) -> str | None:
    if isinstance(item, syntax.Dict):
        for entry in item.entries:
            if entry.key.strip('"') == "trace-file-name":
                return word(entry.value) or stem
        return stem
    return stem if _truth(item) else None


def _existing(file: FileUnit, item: syntax.Item, report: Report) -> list[Path]:
    items = item.items if isinstance(item, syntax.ItemList) else (item,)
    found: list[Path] = []
    for each in items:
        text = word(each) or ""
        path = beside(file.source.path, text)
        if os.path.exists(path):  # noqa: PTH110 (False for an invalid path)
            found.append(path.resolve())
        else:
            what = f"no such file or directory: '{text}'"
            advice = "Paths in 'files' are relative to the .lf file."
            report.error(file.source, each.span, what, advice)
    return found


def _report_contradictions(
    file: FileUnit,
    table: dict[str, syntax.Item],
    main: ClassUnit | None,
    report: Report,
) -> None:
    if not _truth(table.get("single-threaded")):
        return
    at = table["single-threaded"].span
    if "workers" in table:
        what = "'single-threaded' and 'workers' exclude each other"
        report.error(file.source, at, what, "Remove one of the two.")
    tracing = table.get("tracing")
    if isinstance(tracing, syntax.Dict) or _truth(tracing):
        what = "'single-threaded' and 'tracing' exclude each other"
        advice = "Write 'workers: 1' instead of 'single-threaded: true'."
        report.error(file.source, at, what, advice)
    if main is not None and main.tree.kind == "federated":
        what = "a federated reactor cannot be 'single-threaded'"
        report.error(file.source, at, what, "Write 'workers: 1' instead.")


def _with_attributes(found: Properties, main: ClassUnit) -> Properties:
    """Return the properties with ``@timeout``, ``@fast`` etc. of main applied.

    Values of the wrong kind are ignored; the rule for attributes reports them.
    """
    for attribute in main.tree.attributes:
        args = attribute.args or ()
        value = args[0].value if args else None
        name = attribute.name.text
        if value is None or isinstance(value, syntax.Bool):
            truth = value is None or value.value
            if name == "fast":
                found = replace(found, fast=truth)
            elif name == "keepalive":
                found = replace(found, keepalive=truth)
        elif name == "timeout" and isinstance(value, syntax.Time | syntax.Number):
            found = replace(found, timeout=_time(value))
        elif name == "logging" and isinstance(value, syntax.String):
            found = replace(found, logging=_level(value))
        elif name == "logging" and isinstance(value, syntax.ParamRef):
            found = replace(found, logging=value.name.casefold())
    return found
