# SPDX-License-Identifier: Apache-2.0
"""Breaking off Python code that takes too long, in whatever thread it runs.

An exception is raised in that thread at its next bytecode, and again whenever it was
caught and forgotten: then the code that caught it is no longer around to do so, and
even ``while True`` with a bare ``except`` comes to an end. Code that hangs inside a C
function does not see any of it before that function returns; only a process of its own
can be ended there, see ``placement="process"``. If nothing helps, it is told.
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

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_log: Final = logging.getLogger(__name__)


class HangError(TimeoutError):
    """Some code took too long."""


class _Interruption(SystemExit):
    """Raised in that code, which is not to take it for an error of its own."""

    def __init__(self) -> None:
        super().__init__("took too long")


class Guard(Protocol):
    """Does some work, and may break it off."""

    def __call__(self, work: Callable[[], T]) -> T:
        """Return what the work returns."""


def unguarded(work: Callable[[], T]) -> T:
    """Do some work, however long it takes."""
    return work()


def no_guard() -> Guard:
    """Return a guard for work that may take as long as it likes."""
    return unguarded


class HangWatch:
    """A thread that looks after guards; it starts with the first.

    Args:
        seconds: How long guarded work may take.
        logs: Whether it is told if work cannot be broken off. Not where somebody else
            ends the process then.
    """

    def __init__(self, seconds: float, *, logs: bool = True) -> None:
        self.seconds = seconds
        self._logs = logs
        self._guards: list[HangGuard] = []
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None

    def guard(self) -> HangGuard:
        """Return a guard for the work of one place."""
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


class HangGuard:
    """Does work that may take so many seconds, and then fails by ``HangError``."""

    def __init__(self, seconds: float, *, logs: bool) -> None:
        self._seconds = seconds
        self._logs = logs
        self._lock = threading.RLock()
        self._deadline: float | None = None
        self._thread = 0
        self._kind: type[_Interruption] | None = None
        self._fired = self._logged = False
        self.subject: Callable[[], str] = lambda: "some code"
        """Says whose work it is."""

    def look(self, now: float) -> None:
        """Raise in the guarded code if its time is over, each time it is called."""
        with self._lock:
            deadline = self._deadline  # the work sets it to None when it likes
            if deadline is None or now < deadline:
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
            "%s has taken longer than %g s and cannot be broken off: it waits in a C "
            "function, or keeps every exception that it is sent. Until it returns, "
            "nothing goes on. placement='process' ends what hangs so. It is here:\n%s",
            self.subject(),
            self._seconds,
            where,
        )

    def __call__(self, work: Callable[[], T]) -> T:
        """Return what the work returns.

        Raises:
            HangError: It took too long.
        """
        failure: BaseException | None = None
        late: list[BaseException] = []
        try:
            # Until it is called off, an interruption can come at any call.
            try:
                self._begin()
                found = work()
            except BaseException as error:
                failure = error
            self._deadline = None
            while True:
                try:
                    self._call_off()
                    break
                except BaseException as error:
                    late.append(error)  # forgotten, it would come again
                    if isinstance(error, KeyboardInterrupt):
                        failure = error
            if self._fired and not isinstance(failure, KeyboardInterrupt):
                msg = f"took longer than {self._seconds:g} s"
                raise HangError(msg) from failure
            if failure is not None:
                raise failure
            return found
        finally:
            failure = None  # it knows this frame
            late.clear()

    def _begin(self) -> None:
        with self._lock:
            self._thread = threading.get_ident()
            self._fired = self._logged = False
            self._deadline = time.monotonic() + self._seconds

    def _call_off(self) -> None:
        """Let nothing arrive any more; done again from the start if something does.

        An interruption may come when the lock has been taken and before anybody knows:
        so it is asked, not remembered.
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
    """Return an exception that is raised in a thread again when it is forgotten.

    That must happen in C: in a function of Python's it would be raised right there.
    """
    kind = ctypes.py_object()
    again = partial(_set_exception, ctypes.c_ulong(thread), kind)
    kind.value = type(
        "Interruption", (_Interruption,), {"__del__": staticmethod(again)}
    )
    return kind.value  # type: ignore[no-any-return]


_set_exception: Final = ctypes.pythonapi.PyThreadState_SetAsyncExc


def _raise_in(thread: int, kind: type[BaseException] | None) -> None:
    """Raise an exception in a thread; None: withdraw the one that is on its way."""
    _set_exception(
        ctypes.c_ulong(thread), None if kind is None else ctypes.py_object(kind)
    )
