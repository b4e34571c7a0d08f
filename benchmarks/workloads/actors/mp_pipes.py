# SPDX-License-Identifier: Apache-2.0
"""Processes and pipes of ``multiprocessing``: messages are pickled and copied.

Small messages use ``send`` and ``recv``. Arrays use ``send_bytes`` and
``recv_bytes_into``, which the documentation recommends for buffers: nothing is pickled.
"""

from __future__ import annotations

import multiprocessing
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.workloads.actors.parts import Copier, Server

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from benchmarks.harness.engine import Engine


def _serve(index: int, floats: int, pipe: Connection) -> None:
    """Answer until the pipe is closed."""
    actor = Copier(index)
    message: Any = np.empty(floats)
    try:
        while True:
            if floats:
                pipe.recv_bytes_into(message)
                pipe.send_bytes(actor.work(message))
            else:
                pipe.send(actor.work(pipe.recv()))
    except (EOFError, OSError):
        return


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Send to all, receive from all, round after round."""
    del engine
    count, floats = params["actors"], params["floats"]
    server = Server(floats, watch)
    context = multiprocessing.get_context("spawn")  # safe with threads
    pipes, processes = [], []
    for index in range(count):
        ours, theirs = context.Pipe()
        process = context.Process(
            target=_serve, args=(index, floats, theirs), daemon=True
        )
        process.start()
        theirs.close()
        pipes.append(ours)
        processes.append(process)
    try:
        message = server.first
        while True:
            for pipe in pipes:
                if floats:
                    pipe.send_bytes(message)
                else:
                    pipe.send(message)
            replies = [_receive(pipe, floats) for pipe in pipes]
            if not server.gather(replies):
                return
            message = replies[0]
    finally:
        for pipe in pipes:
            pipe.close()
        for process in processes:
            process.join()


def _receive(pipe: Connection, floats: int) -> Any:  # noqa: ANN401
    if not floats:
        return pipe.recv()
    reply = np.empty(floats)
    pipe.recv_bytes_into(reply)
    return reply
