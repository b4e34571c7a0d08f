# SPDX-License-Identifier: Apache-2.0
"""The parent's end of one process with environments."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, Final

import gymnasium as gym

from reactorl.rl.envs.errors import EnvError
from reactorl.rl.envs.process.protocol import ASSIGN, CLOSED, IDLE, Orders
from reactorl.rl.envs.process.serialization import packed, packed_by_value, unpacked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reactorl.rl.envs.factory import Maker
    from reactorl.rl.envs.observation_buffer import Array
    from reactorl.rl.envs.process.protocol import Place
    from reactorl.rl.envs.process.shared_memory import SharedMemory
    from reactorl.rl.envs.sub_env import Rules

_PROGRAM: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); "
    "from reactorl.rl.envs.process.child import main; main()"
)
_PATIENCE: Final = 2.0
"""Seconds that a process gets to close its environments before it is killed."""
_HANGS: Final = 2.0
"""How many times its limit a step may take: the process itself breaks it off first."""


class ProcessLostError(Exception):
    """A process ended, or had to be ended; the text says how."""


class Link:
    """A process with some of the environments.

    Args:
        indices: Which ones.
        makers: Make all environments of the vector.
        rules: What holds for all of them.
    """

    def __init__(self, indices: range, makers: Sequence[Maker], rules: Rules) -> None:
        self.indices = indices
        self._rules = rules
        self._orders = _pickled_orders({i: makers[i] for i in indices}, rules)
        self.names = dict.fromkeys(indices, "in a process")
        self._process: subprocess.Popen[bytes] | None = None
        self._cells: Array | None = None
        self._cell = 0
        self._start()

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    *subprocess._args_from_interpreter_flags(),  # type: ignore[attr-defined]
                    "-c",
                    _PROGRAM,
                    str(theirs.fileno()),
                    json.dumps(sys.path),
                ],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                # What a notebook shows as output is not this process's standard output.
            )
        self._door = ours
        self._connection = Connection(os.dup(ours.fileno()))
        self.post(self._orders)

    @property
    def pid(self) -> int:
        """The number of the process."""
        assert self._process is not None
        return self._process.pid

    def restart(self) -> None:
        """Start another process in place of one that is gone."""
        self._abandon()
        self._start()

    def assign(self, place: Place, memory: SharedMemory, cells: Array) -> None:
        """Give it the memory for results."""
        self._cells, self._cell = cells, place.cell
        cells[place.cell] = IDLE  # whoever was at work in a process before is not now
        self.post(ASSIGN + packed(place))
        socket.send_fds(self._door, [b"m"], [memory.fd])

    def post(self, request: bytes) -> None:
        """Send a request; a process that is gone is found out by ``collect``."""
        with suppress(OSError):
            self._connection.send_bytes(request)

    def collect(self) -> Any:  # noqa: ANN401
        """Wait for the reply to a request and return it; None if it is empty.

        Raises:
            ProcessLostError: The process is gone, or hangs and was killed.
        """
        if self._rules.timeout is not None and self._cells is not None:
            self._wait_while_it_moves(_HANGS * self._rules.timeout)
        try:
            reply = self._connection.recv_bytes()
        except (EOFError, OSError) as error:
            raise self._lost() from error
        return unpacked(reply) if reply else None

    def _wait_while_it_moves(self, limit: float) -> None:
        """Wait for a reply as long as one environment after the other is done."""
        assert self._cells is not None
        at, since = int(self._cells[self._cell]), time.monotonic()
        while not self._connection.poll(limit / 8):
            now = time.monotonic()
            current = int(self._cells[self._cell])
            if current != at:
                at, since = current, now
            elif now - since > limit:
                self._kill()
                msg = f"it took longer than {self._rules.timeout:g} s"
                raise ProcessLostError(msg)

    def _lost(self) -> ProcessLostError:
        assert self._process is not None
        try:
            status = self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._kill()
            return ProcessLostError("its process closed the connection")
        if status < 0:
            name = signal.Signals(-status).name
            how = f"was killed by {name}"
            if name == "SIGKILL":
                how += " (by hand, or by the system for want of memory)"
        else:
            how = f"ended with status {status}"
        return ProcessLostError(f"its process {self._process.pid} {how}")

    @property
    def at_work(self) -> int:
        """Which environment is at work, or was when the process was lost."""
        return IDLE if self._cells is None else int(self._cells[self._cell])

    def failures(
        self, error: ProcessLostError, steps: Mapping[int, int], deed: str
    ) -> dict[int, EnvError]:
        """Return what becomes of each environment when the process is gone.

        Args:
            error: How it was lost.
            steps: How many steps each had begun.
            deed: What they were told to do.
        """
        at = self.at_work
        what = f"{error}; {self._held()}"
        return {
            index: EnvError(
                index,
                self.names[index],
                steps[index],
                "",
                what
                if at in (IDLE, index)
                else f"{what}; environment {at} was at work",
                deed="reset" if deed == "reset" else "",
            )
            for index in self.indices
        }

    def _held(self) -> str:
        first, last = self.indices[0], self.indices[-1]
        which = f"{first}" if first == last else f"{first} to {last}"
        return f"it held environment{'s' if first != last else ''} {which}"

    def _kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def _abandon(self) -> None:
        self._connection.close()
        self._door.close()
        if self._process is not None and self._process.poll() is None:
            self._kill()

    def hang_up(self) -> None:
        """Let the process know that nothing more will come."""
        with suppress(OSError):
            self._door.shutdown(socket.SHUT_WR)

    def end(self) -> EnvError | None:
        """Wait for the process to close its environments; kill it if it does not.

        Returns:
            What was wrong with closing.
        """
        if self._process is None:
            return None
        limit = time.monotonic() + _PATIENCE
        failure = self._last_words(limit)
        try:
            self._process.wait(max(limit - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            self._kill()
        self._connection.close()
        self._door.close()
        self._process = None
        return failure

    def _last_words(self, limit: float) -> EnvError | None:
        failure: EnvError | None = None
        with suppress(EOFError, OSError):
            while self._connection.poll(max(limit - time.monotonic(), 0.0)):
                reply = self._connection.recv_bytes()
                if reply[:1] == CLOSED:  # others nobody waits for any more
                    failure = unpacked(reply[1:])
        return failure


def _pickled_orders(makers: dict[int, Maker], rules: Rules) -> bytes:
    """Return which environments it has, and how they are made, separately."""
    return packed((tuple(makers), _by_value(makers, rules)))


def _by_value(makers: dict[int, Maker], rules: Rules) -> bytes:
    with suppress(Exception):
        return packed_by_value(Orders(makers, rules, dict(gym.registry)))
    # Somebody's entry of the registry may be at fault, which nobody may need.
    registry = {}
    for name, spec in gym.registry.items():
        try:
            packed_by_value(spec)
        except Exception:
            continue
        registry[name] = spec
    try:
        return packed_by_value(Orders(makers, rules, registry))
    except Exception as error:
        culprit = next(i for i, maker in makers.items() if not _can_go(maker))
        what = (
            f"the function that makes it cannot be sent to another process: {error}. "
            "Open files, locks and loaded models cannot be; make them inside the "
            "function, or use placement='thread'"
        )
        raise EnvError(culprit, "not made yet", 0, "", what) from error


def _can_go(maker: Maker) -> bool:
    try:
        packed_by_value(maker)
    except Exception:
        return False
    return True
