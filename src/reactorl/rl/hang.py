# SPDX-License-Identifier: Apache-2.0
"""Breaking off Python code that takes too long, in whatever thread it runs.

An exception is raised in that thread at its next bytecode. Code that hangs inside a C
function does not see it before that function returns; only a process of its own can be
ended there, see ``placement="process"``.
"""

from __future__ import annotations

import ctypes
import threading
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType


class HangError(TimeoutError):
    """Some code took too long."""


class _Interruption(SystemExit):
    """Raised in that code, which is not to take it for an error of its own."""

    def __init__(self) -> None:
        super().__init__("took too long")


class HangWatch:
    """A thread that looks after guards; it starts with the first."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._guards: list[Guard] = []
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None

    def guard(self) -> Guard:
        """Return a context for code of one place that may take ``seconds``."""
        guard = Guard(self.seconds)
        with self._lock:
            self._guards.append(guard)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._look, name="reactorl-hang-watch", daemon=True
                )
                self._thread.start()
        return guard

    def _look(self) -> None:
        while not self._end.wait(min(self.seconds / 4, 1.0)):
            now = time.monotonic()
            with self._lock:
                guards = list(self._guards)
            for guard in guards:
                guard.look(now)

    def close(self) -> None:
        """End the thread."""
        self._end.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None


class Guard:
    """A context that is left by ``HangError`` if it takes too long."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._deadline: float | None = None
        self._thread = 0
        self._fired = False

    def look(self, now: float) -> None:
        """Raise in the guarded code if its time is over."""
        with self._lock:
            if self._deadline is None or now < self._deadline or self._fired:
                return
            self._fired = True
            _raise_in(self._thread, _Interruption)

    def __enter__(self) -> Self:
        with self._lock:
            self._thread = threading.get_ident()
            self._fired = False
            self._deadline = time.monotonic() + self._seconds
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            with self._lock:
                self._deadline = None
            if self._fired and kind is not _Interruption:
                # It is on its way, and must not arrive anywhere else.
                end = time.monotonic() + 1.0
                while time.monotonic() < end:
                    time.sleep(0)
        except _Interruption:
            pass
        # It is not set any more: the watch has seen the deadline go, or has fired.
        if self._fired:
            msg = f"took longer than {self._seconds:g} s"
            raise HangError(msg) from error


def _raise_in(thread: int, kind: type[BaseException]) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread), ctypes.py_object(kind)
    )
