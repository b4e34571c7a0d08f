# SPDX-License-Identifier: Apache-2.0
"""User trace points: events that bodies record beside the runtime's own trace."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, TypeAlias

from reactorl._util.files import write_atomic

if TYPE_CHECKING:
    from pathlib import Path

    from reactorl._decl.reactor import Reactor


Notes: TypeAlias = "list[tuple[int, int, int, int, str, str, int | None]]"


class Tracepoints:
    """The trace points of one run, ordered by tag and reactor for any schedule."""

    def __init__(self) -> None:
        self.enabled = False
        self._lock = threading.Lock()
        self._descriptions: dict[tuple[int, int], str] = {}
        self._counts: dict[int, int] = {}
        self._notes: Notes = []

    def register(self, reactor: Reactor, description: str) -> int:
        """Return a handle, numbered from 1 in each reactor; 0 if not tracing."""
        if not self.enabled:
            return 0
        identity = reactor._node.id
        with self._lock:
            handle = self._counts.get(identity, 0) + 1
            self._counts[identity] = handle
            self._descriptions[identity, handle] = str(description)
        return handle

    def note(self, reactor: Reactor, handle: int, value: int | None) -> None:
        """Record a trace point at the current tag.

        Raises:
            ValueError: The reactor has not registered that handle.
        """
        if not self.enabled:
            return
        node, context = reactor._node, reactor._context
        text = self._descriptions.get((node.id, handle))
        if text is None:
            msg = f"trace event {handle} is not registered by {node.path}"
            raise ValueError(msg)
        tag = context.tag()
        elapsed = tag.time - context.start_time()
        with self._lock:
            # A reactor's reactions never overlap, so its records keep their order.
            n = len(self._notes)
            self._notes.append(
                (elapsed, tag.microstep, node.id, n, node.path, text, value)
            )

    def taken(self) -> Notes:
        """Return the trace points, for ``add`` in another process."""
        with self._lock:
            return list(self._notes)

    def add(self, notes: Notes) -> None:
        """Add the trace points of a federate; each reactor is in one only."""
        with self._lock:
            self._notes += notes

    def lines(self) -> list[str]:
        """Return the trace points as JSON lines, identical for any workers."""
        return [
            json.dumps(
                {
                    "time": time,
                    "microstep": microstep,
                    "reactor": path,
                    "event": text,
                    **({} if value is None else {"value": value}),
                }
            )
            for time, microstep, _, _, path, text, value in sorted(
                self._notes, key=lambda note: note[:4]
            )
        ]

    def save(self, path: Path) -> None:
        """Write the trace points to a file; without trace points, no file."""
        if self._notes:
            write_atomic(path, "".join(f"{line}\n" for line in self.lines()).encode())
