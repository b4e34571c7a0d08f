# SPDX-License-Identifier: Apache-2.0
"""Timeouts: interrupt Python code that takes too long, in the thread that runs it.

An exception is raised in that thread at its next bytecode, and again each time a
handler has discarded it, so that even ``while True`` with a bare ``except`` ends. A C
function that does not return cannot be interrupted; a worker process can be killed, see
``placement="process"``. In a thread an error with the stack is logged instead.
"""

from __future__ import annotations

import ctypes
import logging
import sys
import threading
import time
import traceback
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from reactorl._util.pauses import Pauses

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_log: Final = logging.getLogger(__name__)


class HangError(TimeoutError):
    """A call exceeded its timeout."""


class _Interruption(SystemExit):
    """Raised in the guarded code; not an ``Exception``, so that it is rarely caught."""

    def __init__(self) -> None:
        super().__init__("took too long")


class Guard(Protocol):
    """Runs a call, and may interrupt it."""

    def __call__(self, work: Callable[[], T]) -> T:
        """Return the result of the call."""


def unguarded(work: Callable[[], T]) -> T:
    """Run a call without a limit."""
    return work()


def no_guard() -> Guard:
    """Return a guard without a limit."""
    return unguarded


class HangWatch:
    """A thread that checks the deadlines of guards; starts with the first guard.

    Args:
        seconds: Limit for one guarded call.
        logs: Whether to log a call that cannot be interrupted. Not in a worker process,
            which its parent kills.
    """

    def __init__(self, seconds: float, *, logs: bool = True) -> None:
        self.seconds = seconds
        self._logs = logs
        self._guards: list[HangGuard] = []
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None

    def guard(self) -> HangGuard:
        """Return a guard for the calls of one sub-environment."""
        guard = HangGuard(self.seconds, logs=self._logs)
        with self._lock:
            self._guards.append(guard)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._look, name="reactorl-hang-watch", daemon=True
                )
                self._thread.start()
        return guard

    def _look(self) -> None:
        period = min(self.seconds / 4, 1.0)
        pauses = Pauses(period)
        while not self._end.wait(period):
            pause = pauses.look()
            now = time.monotonic()
            with self._lock:
                guards = list(self._guards)
            for guard in guards:
                guard.look(now, pause)

    def close(self) -> None:
        """End the thread."""
        self._end.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None


class HangGuard:
    """Runs calls that raise ``HangError`` after so many seconds."""

    def __init__(self, seconds: float, *, logs: bool) -> None:
        self._seconds = seconds
        self._logs = logs
        self._lock = threading.RLock()
        self._deadline: float | None = None
        self._thread = 0
        self._kind: type[_Interruption] | None = None
        self._fired = self._logged = False
        self.subject: Callable[[], str] = lambda: "some code"
        """Describes what the guard runs, for the log."""

    def look(self, now: float, pause: float = 0.0) -> None:
        """Interrupt the guarded call if its deadline has passed.

        Args:
            now: The time.
            pause: Seconds since the last look in which this process did not run.
        """
        with self._lock:
            deadline = self._deadline  # the guarded thread may set it to None
            if deadline is None:
                return
            if pause:
                self._deadline = deadline = deadline + pause
            if now < deadline:
                return
            if not self._fired:
                self._fired = True
                self._kind = _lasting_interruption(self._thread)
            assert self._kind is not None
            _raise_in(self._thread, self._kind)
            is_stuck = now > deadline + max(self._seconds, 1.0)
            if is_stuck and self._logs and not self._logged:
                self._logged = True
                self._log_hang()

    def _log_hang(self) -> None:
        frame = sys._current_frames().get(self._thread)
        where = "".join(traceback.format_stack(frame)).rstrip()
        _log.error(
            "%s has taken longer than %g s and could not be interrupted: it is blocked "
            "in native code or discards every exception. Everything waits until it "
            "returns. Use placement='process', which kills a hung worker. Stack:\n%s",
            self.subject(),
            self._seconds,
            where,
        )

    def __call__(self, work: Callable[[], T]) -> T:
        """Return the result of a call.

        Raises:
            HangError: It exceeded the timeout.
        """
        failure: BaseException | None = None
        late: list[BaseException] = []
        try:
            # An interruption can arrive at any bytecode until ``_disarm`` is done.
            try:
                self._begin()
                found = work()
            except BaseException as error:
                failure = error
            self._deadline = None
            while True:
                try:
                    self._disarm()
                    break
                except BaseException as error:
                    late.append(error)  # discarded, it would be raised again
                    if isinstance(error, KeyboardInterrupt):
                        failure = error
            if self._fired and not isinstance(failure, KeyboardInterrupt):
                msg = f"took longer than {self._seconds:g} s"
                raise HangError(msg) from failure
            if failure is not None:
                raise failure
            return found
        finally:
            failure = None  # it references this frame
            late.clear()

    def _begin(self) -> None:
        with self._lock:
            self._thread = threading.get_ident()
            self._fired = self._logged = False
            self._deadline = time.monotonic() + self._seconds

    def _disarm(self) -> None:
        """Stop interruptions; called again from the start if one arrives meanwhile.

        One may arrive between taking the lock and noting that it is taken, so the lock
        itself is asked.
        """
        is_mine: Callable[[], bool] = self._lock._is_owned  # type: ignore[attr-defined]
        while not is_mine():
            self._lock.acquire()
        self._deadline = None
        if self._kind is not None:
            if "__del__" in vars(self._kind):
                delattr(self._kind, "__del__")
            _raise_in(self._thread, None)
            self._kind = None
        while is_mine():
            self._lock.release()


def _lasting_interruption(thread: int) -> type[_Interruption]:
    """Return an exception class that is raised in a thread again when discarded.

    ``__del__`` must be a C function: in Python code it would be raised right there.
    """
    kind = ctypes.py_object()
    again = partial(_set_exception, ctypes.c_ulong(thread), kind)
    kind.value = type(
        "Interruption", (_Interruption,), {"__del__": staticmethod(again)}
    )
    return kind.value  # type: ignore[no-any-return]


_set_exception: Final = ctypes.pythonapi.PyThreadState_SetAsyncExc


def _raise_in(thread: int, kind: type[BaseException] | None) -> None:
    """Raise an exception in a thread; None: withdraw a pending one."""
    _set_exception(
        ctypes.c_ulong(thread), None if kind is None else ctypes.py_object(kind)
    )
