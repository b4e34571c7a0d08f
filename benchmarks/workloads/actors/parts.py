# SPDX-License-Identifier: Apache-2.0
"""The server and the actors, independent of the engine."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness.seen import Seen


class Copier:
    """An actor: copies the message, changes an element, and returns the copy."""

    def __init__(self, index: int) -> None:
        self._index = index

    def work(self, message: Any) -> Any:  # noqa: ANN401
        """Return the reply to a message: an array, or a number."""
        if isinstance(message, int):
            return message + self._index
        reply = message.copy()
        reply[self._index] += 1
        return reply


class Server:
    """Has the first message, and gathers replies.

    The reply of actor 0 is the next message: it is new in every round, and making it
    takes no time.
    """

    def __init__(self, floats: int, watch: Any) -> None:  # noqa: ANN401
        self.first = np.ones(floats) if floats else 1
        self._watch = watch
        self._seen = Seen(watch)

    def gather(self, replies: list[Any]) -> bool:
        """Count a round; return whether another one is to follow."""
        if self._seen.open:
            self._compare(replies)
        return bool(self._watch.tick(self._seen))

    def _compare(self, replies: list[Any]) -> None:
        for reply in replies:
            if isinstance(reply, int):
                self._seen.add(reply)
            else:  # all elements are whole numbers: their sum is exact
                self._seen.add(reply[:128], float(reply.sum()))
