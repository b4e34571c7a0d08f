# SPDX-License-Identifier: Apache-2.0
"""The error for a session that is used while it is in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl.errors import BusyError

if TYPE_CHECKING:
    from reactorl import _core


def busy(error: _core.SessionBusyError) -> BusyError:
    """Return what to raise when a session is used while it is in use."""
    (inside,) = error.args
    if inside:
        return BusyError(
            "the session is running the reaction that uses it",
            None,
            "Schedule an action to run again, request_stop() to end the program.",
        )
    return BusyError(
        "the session is in use by another thread",
        None,
        "Wait until that thread is done, or give each thread its own session.",
    )
