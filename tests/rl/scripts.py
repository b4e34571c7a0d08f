# SPDX-License-Identifier: Apache-2.0
"""Programs of users, run as such, and what is left of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path


def command_line(*arguments: str) -> list[str]:
    return [sys.executable, *arguments]


def environment() -> dict[str, str]:
    """Return variables by which a program finds what this one finds."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def run_script(
    text: str, path: Path | None = None, *, stdin: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run a program from a file, from standard input, or from the command line."""
    text = textwrap.dedent(text)
    if path is not None:
        path.write_text(text)
        arguments = [str(path)]
    else:
        arguments = ["-"] if stdin else ["-c", text]
    return subprocess.run(
        command_line(*arguments),
        input=text if stdin else None,
        stdin=None if stdin else subprocess.DEVNULL,
        text=True,
        capture_output=True,
        env=environment(),
        timeout=200,
        check=False,
    )


def start_script(text: str, path: Path) -> subprocess.Popen[str]:
    """Start a program whose standard output can be read, and which hears Ctrl-C."""
    path.write_text(textwrap.dedent(text))
    return subprocess.Popen(
        command_line(str(path)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        # Who is started in the background by a shell does not hear it otherwise.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def is_there(pid: int) -> bool:
    """Return whether a process is there, and more than a memory of one."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def gone(pids: list[int], within: float = 60.0) -> bool:
    """Wait for processes to end; return whether all of them did."""
    end = time.monotonic() + within
    while any(map(is_there, pids)) and time.monotonic() < end:
        time.sleep(0.02)
    return not any(map(is_there, pids))


def kill(pid: int) -> None:
    """Kill a process of ours, and wait until it is dead."""
    os.kill(pid, signal.SIGKILL)
    assert gone([pid])
