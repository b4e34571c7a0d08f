# SPDX-License-Identifier: Apache-2.0
"""A child process that answers requests, one line of JSON each; see ``child``."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import threading
from pathlib import Path
from typing import Any, Final

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 300
"""Seconds after which a process that does not answer has failed."""

KEEP_MEMORY: Final = {
    "MALLOC_MMAP_THRESHOLD_": str(2**25),  # the largest value that is allowed
    "MALLOC_TRIM_THRESHOLD_": str(2**40),
    "MALLOC_TOP_PAD_": str(2**26),
}
"""The C library keeps freed memory, in every process alike. Otherwise it depends on the
address of an array whether its memory goes back to the system, and to get it again
takes longer than to copy it."""


class ChildError(RuntimeError):
    """A process did not answer; the text is what it wrote to stderr."""


class Child:
    """A process that runs ``benchmarks.harness.child``.

    Args:
        interpreter: Python that runs it.
        what: The kind of request.
        more: Fields of the request.
    """

    def __init__(self, interpreter: str, what: str, **more: object) -> None:
        request = json.dumps({"what": what, **more})
        command = [interpreter, "-m", "benchmarks.harness.child", request]
        try:
            self._process = subprocess.Popen(
                command,
                cwd=ROOT,
                env={**os.environ, **KEEP_MEMORY},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        except OSError as error:
            raise ChildError(str(error)) from None
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._errors: list[str] = []
        self._readers = [
            threading.Thread(target=read, daemon=True)
            for read in (self._read_answers, self._read_errors)
        ]
        for reader in self._readers:
            reader.start()

    def _read_answers(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        self._errors.extend(self._process.stderr)

    def receive(self) -> Any:  # noqa: ANN401
        """Return the next answer.

        Raises:
            ChildError: The process ended, or takes too long.
        """
        try:
            line = self._lines.get(timeout=TIMEOUT)
        except queue.Empty:
            self.kill()
            msg = f"no answer after {TIMEOUT} s"
            raise ChildError(msg) from None
        if not line:
            status = self._process.wait()
            self._readers[1].join()
            text = "".join(self._errors).strip()
            raise ChildError(text or f"exit status {status}")
        return json.loads(line)

    def send(self, line: str) -> None:
        """Send a line; ``receive`` reports a process that has ended."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()

    def kill(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for reader in self._readers:
            reader.join()
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # unread input
            self._process.stdin.close()


def ask(interpreter: str, what: str, **more: object) -> Any:  # noqa: ANN401
    """Return the answer of a fresh process to a request.

    Raises:
        ChildError: It failed, or takes too long.
    """
    child = Child(interpreter, what, **more)
    try:
        return child.receive()
    finally:
        child.kill()
