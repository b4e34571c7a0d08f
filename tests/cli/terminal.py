# SPDX-License-Identifier: Apache-2.0
"""Runs ``reactorl`` as a process, with its output in a pipe or on a terminal."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys

STYLE = re.compile(r"\x1b\[[0-9;]*m")
"""Escape sequence of a style."""


def _environment(**changes: str) -> dict[str, str]:
    unwanted = ("FORCE_COLOR", "NO_COLOR")
    kept = {k: v for k, v in os.environ.items() if k not in unwanted}
    return {**kept, "TERM": "xterm", "COLUMNS": "80", **changes}


def in_pipe(*args: str, **environment: str) -> tuple[int, str]:
    """Return the status and the output, stdout and stderr together."""
    done = subprocess.run(
        [sys.executable, "-m", "reactorl", *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        text=True,
        env=_environment(**environment),
        timeout=200,
    )
    return done.returncode, done.stdout


def on_terminal(*args: str, **environment: str) -> tuple[int, str]:
    """Return the status and everything that was written to a terminal."""
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "reactorl", *args],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=_environment(**environment),
    ) as process:
        os.close(theirs)
        screen = b""
        with contextlib.suppress(OSError):  # how the end is reported on a terminal
            while chunk := os.read(ours, 65536):
                screen += chunk
        os.close(ours)
    return process.returncode, screen.decode().replace("\r\n", "\n")
