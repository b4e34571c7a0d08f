# SPDX-License-Identifier: Apache-2.0
"""One thread at a time: a second user of a vector gets an error, not a crash."""

from __future__ import annotations

import threading
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from reactorl import BusyError

if TYPE_CHECKING:
    from collections.abc import Callable


class ExclusiveUse:
    """A context that one thread at a time may enter; a second one gets an error.

    Raises:
        BusyError: On entering, if a thread is inside, also if it is this one.
    """

    __slots__ = ("_lock", "_user")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._user = 0  # ident of the thread inside

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            own = self._user == threading.get_ident()
            raise BusyError(
                "the vector environment is in use by "
                + ("a call that has not returned" if own else "another thread"),
                None,
                "Wait until that call returns, or give each thread its own vector.",
            )
        self._user = threading.get_ident()

    def __exit__(self, *_: object) -> None:
        self._user = 0
        self._lock.release()


Method = TypeVar("Method", bound="Callable[..., Any]")


def exclusive(method: Method) -> Method:
    """Make a method raise ``BusyError`` while another one of the object runs.

    The object has an ``ExclusiveUse`` as its attribute ``_use``.
    """

    @wraps(method)
    def guarded(self: Any, /, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        with self._use:
            return method(self, *args, **kwargs)

    return cast("Method", guarded)
