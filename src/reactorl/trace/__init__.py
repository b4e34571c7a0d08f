# SPDX-License-Identifier: Apache-2.0
"""What happened in a run: records, text, digest, files, and the first difference."""

from reactorl.trace.diff import Difference, diff
from reactorl.trace.file import SavedTrace, load, save
from reactorl.trace.record import Event, ReactionRecord, TagRecord, Trace
from reactorl.trace.text import digest, lines, parse, text
from reactorl.trace.value_text import value_text

__all__ = [
    "Difference",
    "Event",
    "ReactionRecord",
    "SavedTrace",
    "TagRecord",
    "Trace",
    "diff",
    "digest",
    "lines",
    "load",
    "parse",
    "save",
    "text",
    "value_text",
]
