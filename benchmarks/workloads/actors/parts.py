# SPDX-License-Identifier: Apache-2.0
"""What the server and the actors do, whatever carries the messages."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness.seen import Seen


class Copier:
    """An actor: copies what it gets, leaves its mark, and returns the copy."""

    def __init__(self, index: int) -> None:
        self._index = index

    def work(self, message: Any) -> Any:  # noqa: ANN401
        """Return the answer to a message: an array, or a number if that is all."""
        if isinstance(message, int):
            return message + self._index
        reply = message.copy()
        reply[self._index] += 1
        return reply


class Server:
    """Begins, and looks at what came back.

    What actor 0 answered is the next message: it is new in every round, and nobody
    spends time on making it.
    """

    def __init__(self, floats: int, watch: Any) -> None:  # noqa: ANN401
        self.first = np.ones(floats) if floats else 1
        self._watch = watch
        self._seen = Seen(watch)

    def gather(self, replies: list[Any]) -> bool:
        """Count a round; return whether another one is to follow."""
        if self._seen.open:
            self._look_at(replies)
        return bool(self._watch.tick(self._seen))

    def _look_at(self, replies: list[Any]) -> None:
        for reply in replies:
            if isinstance(reply, int):
                self._seen.add(reply)
            else:  # all elements are whole numbers: their sum is exact
                self._seen.add(reply[:128], float(reply.sum()))
