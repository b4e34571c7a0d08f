# SPDX-License-Identifier: Apache-2.0
"""Ends this process when its parent has ended, however that happened.

Linux does so by itself (``PR_SET_PDEATHSIG``), even if this process is stopped or busy
in native code. Elsewhere, and if that is refused, a thread reads a pipe whose other end
only the parent has: when it ends, so does the pipe.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from contextlib import suppress

_PR_SET_PDEATHSIG = 1


def end_with_parent(lifeline: int, parent: int) -> None:
    """Kill this process as soon as its parent has ended.

    Args:
        lifeline: The reading end of a pipe that nothing more is written to.
        parent: The parent's process id.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            # The signal comes when the *thread* ends that has started this process.
            ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it has ended before
            os.kill(os.getpid(), signal.SIGKILL)
    threading.Thread(
        target=_wait, args=[lifeline], name="parent's end", daemon=True
    ).start()


def _wait(lifeline: int) -> None:
    with suppress(OSError):
        while os.read(lifeline, 4096):
            pass
    os.kill(os.getpid(), signal.SIGKILL)
