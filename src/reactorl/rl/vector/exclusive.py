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
    """A lock that is never waited for: the second user gets an error.

    Entering the context raises ``BusyError`` if a call is inside, also one of this
    thread. ``acquire(blocking=False)`` and ``release`` do the same for a hot path.
    """

    __slots__ = ("acquire", "release")

    def __init__(self) -> None:
        lock = threading.Lock()
        self.acquire = lock.acquire
        self.release = lock.release

    def __enter__(self) -> None:
        if not self.acquire(blocking=False):
            raise self.busy()

    def __exit__(self, *_: object) -> None:
        self.release()

    def busy(self) -> BusyError:
        """Return the error of a second user."""
        return BusyError(
            "the vector environment is in use by another thread, or by a call of this "
            "one that has not returned",
            None,
            "Wait until that call returns, or give each thread its own vector.",
        )


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
