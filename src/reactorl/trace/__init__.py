# SPDX-License-Identifier: Apache-2.0
"""Traces of runs: records, text, digest, files, timing, and the first difference."""

from reactorl.trace.counts import Counts, count
from reactorl.trace.critical import Chain, CriticalPath, critical_path
from reactorl.trace.diff import Difference, diff
from reactorl.trace.file import SavedTrace, load, save
from reactorl.trace.perfetto import write_perfetto
from reactorl.trace.record import Event, ReactionRecord, TagRecord, Trace
from reactorl.trace.text import digest, lines, parse, text
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
from reactorl.trace.value_text import value_text

__all__ = [
    "Chain",
    "Counts",
    "CriticalPath",
    "Difference",
    "Event",
    "FederateTiming",
    "Invocation",
    "ReactionRecord",
    "ReactionTiming",
    "SavedTrace",
    "Structure",
    "TagRecord",
    "TagTiming",
    "Timing",
    "Trace",
    "Wait",
    "WaitKind",
    "WaitTiming",
    "WorkerTiming",
    "count",
    "critical_path",
    "diff",
    "digest",
    "lines",
    "load",
    "parse",
    "save",
    "text",
    "value_text",
    "write_perfetto",
]
