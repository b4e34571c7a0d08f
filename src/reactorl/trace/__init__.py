# SPDX-License-Identifier: Apache-2.0
"""What happened in a run: records, text, digest, files, and the first difference."""

from reactorl.trace.diff import Difference, diff
from reactorl.trace.file import SavedTrace, load, save
from reactorl.trace.record import Event, ReactionRecord, TagRecord, Trace
from reactorl.trace.text import digest, lines, parse, text
from reactorl.trace.timing import (
    Invocation,
    ReactionTiming,
    Structure,
    TagTiming,
    Timing,
    WorkerTiming,
)
from reactorl.trace.value_text import value_text

__all__ = [
    "Difference",
    "Event",
    "Invocation",
    "ReactionRecord",
    "ReactionTiming",
    "SavedTrace",
    "Structure",
    "TagRecord",
    "TagTiming",
    "Timing",
    "Trace",
    "WorkerTiming",
    "diff",
    "digest",
    "lines",
    "load",
    "parse",
    "save",
    "text",
    "value_text",
]
