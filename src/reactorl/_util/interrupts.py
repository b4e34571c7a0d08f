# SPDX-License-Identifier: Apache-2.0
"""Notices Ctrl-C where CPython loses it."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class _Receive:
    """The handler: remembers the signal, and raises ``KeyboardInterrupt`` as usual."""

    def __init__(self, before: Callable[[int, Any], Any]) -> None:
        self.came = False
        self._before = before

    def __call__(self, number: int, frame: Any) -> None:  # noqa: ANN401
        self.came = True
        self._before(number, frame)


@contextmanager
def remembered_interrupts() -> Iterator[None]:
    """Raise ``KeyboardInterrupt`` at the end if Ctrl-C came and nothing was raised.

    CPython only prints exceptions of finalizers and of callbacks of weak references, in
    which a program that imports, compiles or forgets much often is when Ctrl-C comes.
    Does nothing outside of the main thread, or if the program has a handler of its own.
    """
    before = signal.getsignal(signal.SIGINT)
    ours = before is signal.default_int_handler or isinstance(before, _Receive)
    if not ours or threading.current_thread() is not threading.main_thread():
        yield
        return
    assert callable(before)
    receive = _Receive(before)
    signal.signal(signal.SIGINT, receive)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if receive.came:
        raise KeyboardInterrupt
