# SPDX-License-Identifier: Apache-2.0
"""Standard streams that are closed, broken, or limited to ASCII."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO


def prepare_streams() -> None:
    """Make stdin, stdout and stderr usable, whatever the process was started with.

    A stream that is closed (``>&-``) is replaced by the null device. Otherwise the next
    file that is opened would get its number, and receive what is printed.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            stream = open(number, "w" if number else "r", encoding="utf-8")  # noqa: PTH123, SIM115
            setattr(sys, name, stream)


def repair_streams() -> None:
    """Make stdout and stderr usable if the user's program has closed or removed them.

    What was meant for a stream that cannot be used any more goes to the null device.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None or getattr(stream, "closed", False):
            first = getattr(sys, f"__{name}__")
            if first is None or first.closed:
                first = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
            setattr(sys, name, first)


def escape_unencodable() -> None:
    """Print characters that are not in the encoding of stdout as escapes."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def stdout_is_broken() -> bool:
    """Return whether stdout is a pipe that nothing reads any more."""
    import select

    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
        broken = select.POLLERR | select.POLLHUP
        return any(event & broken for _, event in poll.poll(0))
    except (OSError, ValueError, AttributeError):  # not every macOS has poll
        return False


def discard_stdout() -> None:
    """Let all further output go to the null device, without a complaint at the end."""
    discard(sys.stdout)


def discard(stream: TextIO) -> None:
    """Let everything that a stream still gets, or has buffered, go to the null device.

    Otherwise CPython tries to write it at its exit, and ends with status 120.
    """
    try:
        number = stream.fileno()
    except (OSError, ValueError):
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, number)
    os.close(null)
