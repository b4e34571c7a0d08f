# SPDX-License-Identifier: Apache-2.0
"""Digest of the results of the first rounds, by which engines are compared."""

from __future__ import annotations

import hashlib
from typing import Any


class Seen:
    """Arrays, numbers and strings of the first rounds, in order.

    Pass it to ``watch.tick`` every round. Values that are added after the compared
    rounds are ignored, so that timed rounds do not pay for them.

    Args:
        watch: Its compared rounds count.
    """

    def __init__(self, watch: Any) -> None:  # noqa: ANN401
        self._watch = watch
        self._last = watch.compared_at
        self._digest = hashlib.blake2b(digest_size=6)

    @property
    def open(self) -> bool:
        """Whether values that are added now still count."""
        return bool(self._watch.count < self._last)

    def add(self, *values: Any) -> None:  # noqa: ANN401
        """Add the results of a round; arrays count with their type and shape."""
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
