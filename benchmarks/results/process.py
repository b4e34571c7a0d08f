# SPDX-License-Identifier: Apache-2.0
"""The process of a run, watched from outside: its lines, its time, its memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.harness.process import ROOT

GRACE = 600.0
"""Seconds beyond those of the task: evaluations and start-up do not count there."""
SAMPLE = 0.25
"""Seconds between two readings of memory."""
LAST_LINES = 8


def train(python: str, request: dict[str, Any]) -> dict[str, Any]:
    """Run a request in a process; return evaluations, failure and memory.

    Args:
        python: The interpreter.
        request: See ``Cell.request``; the time of the start is added.
    """
    request = {**request, "began": time.monotonic()}
    command = [python, "-m", "benchmarks.results.child", json.dumps(request)]
    with (
        tempfile.TemporaryFile("w+") as errors,
        tempfile.TemporaryDirectory() as cache,
    ):
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "XDG_CACHE_HOME": cache},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        memory = _Memory(process.pid)
        limit = request["task"]["seconds"] + GRACE
        timer = threading.Timer(min(limit, threading.TIMEOUT_MAX), process.kill)
        timer.daemon = True
        timer.start()
        evaluations: list[dict[str, float]] = []
        more: dict[str, Any] = {}
        assert process.stdout is not None
        try:
            for line in process.stdout:
                message = json.loads(line)
                if "more" in message:
                    more = message["more"]
                else:
                    evaluations.append(message)
            status = process.wait()
        except KeyboardInterrupt:
            # The process got the signal as well: a run of hours writes a checkpoint.
            with suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
                process.wait(60)
            process.kill()
            process.wait()
            raise
        finally:
            process.stdout.close()
            timer.cancel()
            memory.stop()
        failure = ""
        if status != 0:
            errors.seek(0)
            last = errors.read().strip().splitlines()[-LAST_LINES:]
            kind = f"signal {signal.Signals(-status).name}" if status < 0 else ""
            failure = "\n".join([*last, kind or f"exit status {status}"])
    return {
        "evaluations": evaluations,
        "failure": failure,
        "peak_memory": memory.peak,
        "more": more,
    }


class _Memory(threading.Thread):
    """Samples the resident memory of a process and all its descendants."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.peak = 0
        self._pid = pid
        self._end = threading.Event()
        self.start()

    def run(self) -> None:
        while not self._end.wait(SAMPLE):
            self.peak = max(self.peak, _resident(self._pid))

    def stop(self) -> None:
        self._end.set()
        self.join()


def _resident(root: int) -> int:
    """Return the bytes of a process and its descendants; shared pages count twice."""
    parents: dict[int, int] = {}
    pages: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError, ValueError, IndexError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)] = int(fields[1])
                pages[int(entry.name)] = int(fields[21])
    total = 0
    for pid, count in pages.items():
        at = pid
        while at not in (root, 0, 1):
            at = parents.get(at, 0)
        total += count if at == root else 0
    return total * os.sysconf("SC_PAGE_SIZE")
