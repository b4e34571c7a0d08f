# SPDX-License-Identifier: Apache-2.0
"""Processes of ``multiprocessing``, each with a pipe, that answer requests.

https://docs.python.org/3/library/multiprocessing.html: ``spawn`` is safe with threads,
and everything is sent before the first answer is received.
"""

from __future__ import annotations

import multiprocessing
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from multiprocessing.connection import Connection


class Answering(Protocol):
    """The object in a process."""

    def answer(self, question: Any, /) -> Any:  # noqa: ANN401
        """Return the answer."""

    def close(self) -> None:
        """Release resources."""


def _serve(
    make: Callable[[Any, int], Answering],
    params: Any,  # noqa: ANN401
    index: int,
    pipe: Connection,
) -> None:
    """Answer until the pipe is closed."""
    lives = make(params, index)
    answer, send, receive = lives.answer, pipe.send, pipe.recv
    send("ready")
    try:
        while True:
            send(answer(receive()))
    except (EOFError, OSError):
        lives.close()


class Processes:
    """Processes that end at the exit of the context.

    Args:
        make: Makes the object of a process, from ``params`` and its index.
        params: For all of them.
        count: Number of processes.
    """

    def __init__(
        self,
        make: Callable[[Any, int], Answering],
        params: Any,  # noqa: ANN401
        count: int,
    ) -> None:
        context = multiprocessing.get_context("spawn")
        self._processes = []
        self._pipes: list[Any] = []
        for index in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(
                target=_serve, args=(make, params, index, theirs), daemon=True
            )
            process.start()
            theirs.close()
            self._processes.append(process)
            self._pipes.append(ours)

    def __enter__(self) -> Self:
        for pipe in self._pipes:
            pipe.recv()
        return self

    def ask_each(self, questions: Iterable[Any]) -> list[Any]:
        """Send each its own question; return the answers, in order."""
        for pipe, question in zip(self._pipes, questions, strict=True):
            pipe.send(question)
        return [pipe.recv() for pipe in self._pipes]

    def ask_all(self, question: Any) -> list[Any]:  # noqa: ANN401
        """Send all the same question; return the answers, in order.

        It is pickled once.
        """
        data = ForkingPickler.dumps(question)
        for pipe in self._pipes:
            pipe.send_bytes(data)
        return [pipe.recv() for pipe in self._pipes]

    def __exit__(self, *_: object) -> None:
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join()
