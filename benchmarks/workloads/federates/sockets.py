# SPDX-License-Identifier: Apache-2.0
"""Raw Unix sockets: blocking calls, memory of a known size, nothing is pickled."""

from __future__ import annotations

import multiprocessing
import socket
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.harness.seen import Seen
from benchmarks.workloads.federates import EXCHANGES, SMALL
from benchmarks.workloads.federates.parts import answer, message

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine

_NUMBER = struct.Struct("<d")
_BUFFER_BYTES = 4 << 20


def _serve(size: int, end: socket.socket) -> None:
    """Answer until the socket is closed."""
    array = np.empty(size // 8)
    while True:
        if size == SMALL:
            data = end.recv(size, socket.MSG_WAITALL)
            if len(data) < size:
                return
            end.sendall(answer(data))
        else:
            array = np.empty(size // 8)  # values may be kept: each has its own memory
            if end.recv_into(memoryview(array).cast("B"), 0, socket.MSG_WAITALL) < size:
                return
            end.sendall(_NUMBER.pack(answer(array)))


def _exchange(size: int, ends: list[socket.socket], memory: Any) -> list[Any]:  # noqa: ANN401
    """Send to all, and receive from all."""
    for end in ends:
        end.sendall(memory)
    if size == SMALL:
        return [end.recv(size, socket.MSG_WAITALL) for end in ends]
    answers = [end.recv(_NUMBER.size, socket.MSG_WAITALL) for end in ends]
    return [_NUMBER.unpack(each)[0] for each in answers]


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Exchange values, round after round."""
    del engine
    size = params["size"]
    context = multiprocessing.get_context("spawn")  # safe with threads
    ends, processes = [], []
    for _ in range(params["receivers"]):
        ours, theirs = socket.socketpair()
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            for end in (ours, theirs):
                end.setsockopt(socket.SOL_SOCKET, option, _BUFFER_BYTES)
        process = context.Process(target=_serve, args=(size, theirs), daemon=True)
        process.start()
        theirs.close()
        ends.append(ours)
        processes.append(process)
    value = message(size)
    memory = value if size == SMALL else memoryview(value).cast("B")
    seen = Seen(watch)
    try:
        found = _exchange(size, ends, memory)
        while watch.tick(seen):
            for _ in range(EXCHANGES):
                found = _exchange(size, ends, memory)
            seen.add(found)
    finally:
        for end in ends:
            end.close()
        for process in processes:
            process.join()
