# SPDX-License-Identifier: Apache-2.0
"""A fingerprint of what an engine computed, by which engines are compared."""

from __future__ import annotations

import hashlib
from typing import Any


class Seen:
    """Arrays, numbers and texts of the first rounds, in order.

    Give it to ``watch.tick`` every round; what is added after the compared rounds is
    ignored, so that timed rounds do not pay for it:

        seen = Seen(watch)
        while True:
            ...
            seen.add(observations, rewards)
            if not watch.tick(seen):
                break

    Args:
        watch: Whose compared rounds count.
    """

    def __init__(self, watch: Any) -> None:  # noqa: ANN401
        self._watch = watch
        self._last = watch.compared_at
        self._digest = hashlib.blake2b(digest_size=6)

    @property
    def open(self) -> bool:
        """Whether what is added now still counts."""
        return bool(self._watch.count < self._last)

    def add(self, *values: Any) -> None:  # noqa: ANN401
        """Add what a round gave; arrays with their type and shape."""
        if not self.open:
            return
        for value in values:
            if hasattr(value, "dtype"):
                self._digest.update(f"{value.dtype}{value.shape}".encode())
                self._digest.update(value.tobytes())
            else:
                self._digest.update(repr(value).encode())

    def __repr__(self) -> str:
        return self._digest.hexdigest()
