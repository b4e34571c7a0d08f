# SPDX-License-Identifier: Apache-2.0
"""Writes the trace and the times of a run when it ends, normally or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from reactorl.cli.support.errors import fail

if TYPE_CHECKING:
    from pathlib import Path

    from reactorl import Result


class Tracepoints(Protocol):
    """Trace points that the bodies of a program recorded."""

    def save(self, path: Path) -> None:
        """Write them."""


class TraceWriter:
    """Writes the requested files when a run has ended, normally or by an exception.

    Args:
        trace: File for the events; None: do not write them.
        timing: File for execution times; may be the same file.
    """

    def __init__(self, trace: Path | None, timing: Path | None) -> None:
        self._trace = trace
        self._timing = timing
        self.failed = False
        """Whether a file could not be written; the error was printed."""

    def write(self, ended: Result, tracepoints: Tracepoints | None = None) -> None:
        """Write the files."""
        if self._trace is None and self._timing is None:
            return
        from reactorl.diagram import scene

        picture = scene(ended.program).to_json()
        files = dict.fromkeys(f for f in (self._trace, self._timing) if f is not None)
        for path in files:
            traced, timed = path == self._trace, path == self._timing
            try:
                ended.save_trace(path, scene=picture, trace=traced, timing=timed)
                if traced and tracepoints is not None:
                    tracepoints.save(path.with_name(f"{path.name}.events.jsonl"))
            except OSError as error:
                kind = "trace" if traced else "timing"
                reason = (error.strerror or str(error)).lower()
                fail(f"writing the {kind} {path} failed: {reason}", 1)
                self.failed = True
