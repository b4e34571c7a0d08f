# SPDX-License-Identifier: Apache-2.0
"""The parent's side of one worker process: start, send, receive, kill."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, Final

import gymnasium as gym

from reactorl._util.child_process import start_child
from reactorl._util.pauses import Pauses
from reactorl._util.serialization import (
    deserialize,
    serialize,
    serialize_by_value,
)
from reactorl.rl.envs.errors import EnvError, ForkedProcessError
from reactorl.rl.envs.process.protocol import ASSIGN, CLOSED, IDLE, WorkerConfig

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reactorl.rl.envs.factory import Maker
    from reactorl.rl.envs.observation_buffer import Array
    from reactorl.rl.envs.process.protocol import Layout
    from reactorl.rl.envs.process.shared_memory import SharedMemory
    from reactorl.rl.envs.rules import Rules

_MODULE: Final = "reactorl.rl.envs.process.child"
_CLOSE_SECONDS: Final = 2.0
"""Time for a worker process to close its environments before it is killed."""
_TIMEOUT_FACTOR: Final = 2.0
"""Multiple of ``timeout`` after which the process is killed: it interrupts Python code
itself before that."""


class ProcessLostError(Exception):
    """A worker process ended or was killed; the text says how."""


class WorkerProcess:
    """A process with some of the sub-environments.

    It belongs to the process that started it: a forked child neither uses nor ends it.

    Args:
        makers: Make the environments, by index.
        rules: Settings of all sub-environments.
    """

    def __init__(self, makers: Mapping[int, Maker], rules: Rules) -> None:
        self.indices = tuple(makers)
        self.names = dict.fromkeys(self.indices, "in a process")
        """Names of the environments, for errors."""
        self._timeout = rules.timeout
        self._config = serialize((self.indices, _config(dict(makers), rules)))
        self._owner = os.getpid()
        self._process: subprocess.Popen[bytes] | None = None
        self._current: Array | None = None
        self._number = 0
        self._start()

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            # stdout is inherited: a notebook's output is not our sys.stdout.
            self._process = start_child(
                _MODULE, [theirs.fileno()], stdin=subprocess.DEVNULL
            )
        self._socket = ours
        self._connection = Connection(os.dup(ours.fileno()))
        self.post(self._config)

    @property
    def pid(self) -> int:
        """The process id."""
        assert self._process is not None
        return self._process.pid

    def restart(self) -> None:
        """Start another process in place of a lost one."""
        self._connection.close()
        self._socket.close()
        if self._process is not None and self._process.poll() is None:
            self._kill()
        self._start()

    def assign(self, layout: Layout, memory: SharedMemory, current: Array) -> None:
        """Send the shared memory; ``collect`` waits until it is mapped.

        Args:
            layout: Its layout.
            memory: The memory.
            current: The array in which the process shows what it runs.
        """
        self._current, self._number = current, layout.worker
        current[layout.worker] = IDLE  # also after the loss of a process
        self.post(ASSIGN + serialize(layout))
        socket.send_fds(self._socket, [b"m"], [memory.fd])

    def post(self, request: bytes) -> None:
        """Send a request; ``collect`` notices if the process has ended.

        Raises:
            ForkedProcessError: This is a forked child of the owner.
        """
        if os.getpid() != self._owner:
            raise ForkedProcessError
        with suppress(OSError):
            self._connection.send_bytes(request)

    def collect(self) -> Any:  # noqa: ANN401
        """Wait for the reply to a request and return it; None if it is empty.

        Raises:
            ProcessLostError: The process ended, or exceeded the timeout and was killed.
            ClosedEnvironmentError: Another thread has called ``end``.
        """
        try:
            if self._timeout is not None and self._current is not None:
                self._wait_for_progress(_TIMEOUT_FACTOR * self._timeout)
            reply = self._connection.recv_bytes()
        except (EOFError, OSError) as error:
            if self._process is None:
                # The end of the program closes environments that a daemon thread steps.
                msg = "the environments were closed while a thread waited for them"
                raise gym.error.ClosedEnvironmentError(msg) from None
            raise self._lost() from error
        return deserialize(reply) if reply else None

    def _wait_for_progress(self, limit: float) -> None:
        """Wait for a reply while no sub-environment takes longer than the limit.

        The start of a process does not count, however long it takes on a busy machine,
        nor does the time in which this process is stopped (Ctrl-Z).
        """
        at, since = self.current, time.monotonic()
        pauses = Pauses(limit / 8)
        while not self._connection.poll(limit / 8):
            since += pauses.look()
            now = time.monotonic()
            if self.current != at or at == IDLE:
                at, since = self.current, now
            elif now - since > limit:
                self._kill()
                msg = f"it took longer than {self._timeout:g} s"
                raise ProcessLostError(msg)

    def _lost(self) -> ProcessLostError:
        assert self._process is not None
        try:
            status = self._process.wait(_CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self._kill()
            return ProcessLostError("its process closed the connection")
        if status < 0:
            name = signal.Signals(-status).name
            how = f"was killed by {name}"
            if name == "SIGKILL":
                how += " (by a user, or by the system because memory ran out)"
        else:
            how = f"ended with status {status}"
        return ProcessLostError(f"its process {self._process.pid} {how}")

    @property
    def current(self) -> int:
        """The sub-environment that runs, or ran when the process was lost."""
        return IDLE if self._current is None else int(self._current[self._number])

    def failures(
        self, error: ProcessLostError, steps: Mapping[int, int], operation: str
    ) -> dict[int, EnvError]:
        """Return the failure of each sub-environment after the loss of the process.

        Args:
            error: How it was lost.
            steps: Number of steps that each had begun.
            operation: What they were doing.
        """
        current = self.current
        first, last = self.indices[0], self.indices[-1]
        held = f"environment {first}" if first == last else f"{first} to {last}"
        held = held if first == last else f"environments {held}"
        what = f"{error}; it held {held}"
        return {
            index: EnvError(
                index,
                self.names[index],
                steps[index],
                "",
                what
                if current in (IDLE, index)
                else f"{what}; environment {current} was running",
                operation="reset" if operation == "reset" else "",
            )
            for index in self.indices
        }

    def _kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def hang_up(self) -> None:
        """Tell the process that no more requests will come."""
        if os.getpid() == self._owner:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_WR)

    def end(self) -> EnvError | None:
        """Wait until the process has closed its environments; kill it if it does not.

        Returns:
            The first failure of a close.
        """
        process, self._process = self._process, None
        if process is None:
            return None
        failure: EnvError | None = None
        if os.getpid() == self._owner:
            limit = time.monotonic() + _CLOSE_SECONDS
            failure = self._close_failure(limit)
            try:
                process.wait(max(limit - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        else:
            process.returncode = 0  # the owner waits for it
        self._connection.close()
        self._socket.close()
        return failure

    def _close_failure(self, limit: float) -> EnvError | None:
        failure: EnvError | None = None
        with suppress(EOFError, OSError):
            while self._connection.poll(max(limit - time.monotonic(), 0.0)):
                reply = self._connection.recv_bytes()
                if reply[:1] == CLOSED:  # replies to earlier requests are discarded
                    failure = deserialize(reply[1:])
        return failure


def _config(makers: dict[int, Maker], rules: Rules) -> bytes:
    with suppress(Exception):
        return serialize_by_value(WorkerConfig(makers, rules, dict(gym.registry)))
    # An entry of the registry may be the cause, and it may not be needed.
    registry = {}
    for name, spec in gym.registry.items():
        try:
            serialize_by_value(spec)
        except Exception:
            continue
        registry[name] = spec
    try:
        return serialize_by_value(WorkerConfig(makers, rules, registry))
    except Exception as error:
        index = next(i for i in makers if not _is_serializable(makers[i]))
        what = (
            f"its env_fn cannot be sent to another process: {error}. Create open "
            "files, locks and loaded models inside the function, or use "
            "placement='thread'"
        )
        raise EnvError(index, "not made yet", 0, "", what) from error


def _is_serializable(value: object) -> bool:
    try:
        serialize_by_value(value)
    except Exception:
        return False
    return True


def end_all(workers: Sequence[WorkerProcess]) -> None:
    """End processes, concurrently.

    Raises:
        EnvError: An environment raised while it was closed; all are ended nevertheless.
    """
    for worker in workers:
        worker.hang_up()
    failures = [worker.end() for worker in workers]
    for failure in failures:
        if failure is not None:
            raise failure
