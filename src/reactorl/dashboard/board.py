# SPDX-License-Identifier: Apache-2.0
"""The shared state of the page: written by one thread, read by many."""

from __future__ import annotations

import json
import threading
from typing import Any


class Board:
    """Named parts of a state, as JSON; each reader gets the parts that changed."""

    def __init__(self) -> None:
        self._parts: dict[str, tuple[int, str]] = {}
        self._version = 0
        self._over = False
        self._changed = threading.Condition()
        self._readers = 0

    @property
    def readers(self) -> int:
        """The number of readers."""
        return self._readers

    def show(self, *, over: bool = False, **parts: Any) -> None:  # noqa: ANN401
        """Replace parts of the state.

        Args:
            over: Whether this is the final state.
            **parts: Values that JSON can represent, without NaN and infinity.
        """
        texts = {
            name: json.dumps(part, allow_nan=False) for name, part in parts.items()
        }
        with self._changed:
            self._version += 1
            for name, text in texts.items():
                if self._parts.get(name, (0, ""))[1] != text:
                    self._parts[name] = (self._version, text)
            self._over = self._over or over
            self._changed.notify_all()

    def enter(self) -> None:
        """Add a reader."""
        with self._changed:
            self._readers += 1

    def leave(self) -> None:
        """Remove a reader."""
        with self._changed:
            self._readers -= 1

    def news(self, seen: int, patience: float) -> tuple[int, str, bool]:
        """Wait for changes.

        Returns the version, the changed parts as JSON, and whether it is final.

        Args:
            seen: The version that was returned before; 0 at first.
            patience: How many seconds to wait for a change; after that the object is
                empty.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._version > seen or self._over, patience)
            found = [
                f"{json.dumps(name)}:{text}"
                for name, (version, text) in self._parts.items()
                if version > seen
            ]
            return self._version, f"{{{','.join(found)}}}", self._over
