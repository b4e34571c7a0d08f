# SPDX-License-Identifier: Apache-2.0
"""Trace points of users: what bodies note beside what the runtime traces itself."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from reactorl._decl.reactor import Reactor


class Tracepoints:
    """The points of one run, in the order of tags and reactors, whoever came first."""

    def __init__(self) -> None:
        self.enabled = False
        self._lock = threading.Lock()
        self._descriptions: dict[tuple[int, int], str] = {}
        self._counts: dict[int, int] = {}
        self._notes: list[tuple[int, int, int, int, str, str, int | None]] = []

    def register(self, reactor: Reactor, description: str) -> int:
        """Return a handle, which counts from 1 in each reactor; 0 if not tracing."""
        if not self.enabled:
            return 0
        identity = reactor._node.id
        with self._lock:
            handle = self._counts.get(identity, 0) + 1
            self._counts[identity] = handle
            self._descriptions[identity, handle] = str(description)
        return handle

    def note(self, reactor: Reactor, handle: int, value: int | None) -> None:
        """Note a point at the current tag.

        Raises:
            ValueError: The reactor has not registered that handle.
        """
        if not self.enabled:
            return
        node, context = reactor._node, reactor._context
        text = self._descriptions.get((node.id, handle))
        if text is None:
            msg = f"{node.path} has not registered trace event {handle}"
            raise ValueError(msg)
        tag = context.tag()
        elapsed = tag.time - context.start_time()
        with self._lock:
            # A reactor's reactions never overlap, so its own notes keep their order.
            n = len(self._notes)
            self._notes.append(
                (elapsed, tag.microstep, node.id, n, node.path, text, value)
            )

    def lines(self) -> list[str]:
        """Return the points as lines of JSON, the same for any number of workers."""
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
        """Write the points beside a trace; nothing if there are none."""
        if self._notes:
            path.write_text("".join(f"{line}\n" for line in self.lines()), "utf-8")
