# SPDX-License-Identifier: Apache-2.0
"""Keeping the trace and the times of a run, however it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from reactorl.cli.support.errors import fail

if TYPE_CHECKING:
    from pathlib import Path

    from reactorl import Result


class Tracepoints(Protocol):
    """What a program noted itself."""

    def save(self, path: Path) -> None:
        """Write it."""


class Keeper:
    """Writes what was asked for when a run has ended, well or by an exception.

    Args:
        trace: Where what happened goes; None: nowhere.
        timing: Where measured times go; may be the same file.
    """

    def __init__(self, trace: Path | None, timing: Path | None) -> None:
        self._trace = trace
        self._timing = timing
        self.failed = False
        """Whether something could not be written, which was said."""

    def keep(self, ended: Result, tracepoints: Tracepoints | None = None) -> None:
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
                fail(f"the {kind} {path} cannot be written: {error.strerror}", 1)
                self.failed = True
