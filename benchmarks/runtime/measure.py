# SPDX-License-Identifier: Apache-2.0
"""Measuring in fresh processes, one at a time."""

from __future__ import annotations

import json
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.runtime.job import Failure, Measurement

if TYPE_CHECKING:
    from benchmarks.runtime.job import Job, Settings

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 300
"""Seconds after which a process is given up."""


class ChildError(RuntimeError):
    """A process did not answer; the text says what it said instead."""


def ask(interpreter: str, what: str, **more: object) -> Any:  # noqa: ANN401
    """Return the answer of a fresh process to a request, see ``child``.

    Raises:
        ChildError: It failed, or took too long.
    """
    request = json.dumps({"what": what, **more})
    command = [interpreter, "-m", "benchmarks.runtime.child", request]
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        msg = f"no answer after {PATIENCE} s"
        raise ChildError(msg) from None
    except OSError as error:
        raise ChildError(str(error)) from None
    if done.returncode != 0:
        msg = done.stderr.strip() or f"ended with status {done.returncode}"
        raise ChildError(msg)
    return json.loads(done.stdout.splitlines()[-1])


def measure(
    interpreter: str, job: Job, settings: Settings, repeat: int
) -> Measurement | Failure:
    """Run a job in a fresh process of ``interpreter``."""
    try:
        found = ask(
            interpreter,
            "measure",
            job=asdict(job),
            settings=asdict(settings),
            repeat=repeat,
        )
    except ChildError as error:
        return Failure(job, repeat, str(error))
    return Measurement.from_json(found)
