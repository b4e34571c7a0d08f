# SPDX-License-Identifier: Apache-2.0
"""What is timed, once per turn: starting a program, or reading one."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from benchmarks.lf.generated import program

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
COMMANDS = {
    "import lark": ("-c", "import lark"),
    "reactorl run": ("-m", "reactorl", "run", str(HERE / "hello.lf")),
}


class Task(Protocol):
    """Something that takes time, again and again."""

    def __call__(self) -> object:
        """Do it once; returns what came out."""

    def close(self) -> None:
        """Clean up."""


class Start:
    """A fresh interpreter that runs a command to its end.

    Byte code is kept from the first time on, as that of an installed package is.
    """

    def __init__(self, engine: str) -> None:
        self._command = [sys.executable, *COMMANDS[engine]]
        self._cache = tempfile.TemporaryDirectory()
        kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        self._environment = {**kept, "PYTHONPYCACHEPREFIX": self._cache.name}

    def __call__(self) -> object:
        done = subprocess.run(
            self._command, env=self._environment, check=True, capture_output=True
        )
        return done.stdout.decode()

    def close(self) -> None:
        self._cache.cleanup()


class Read:
    """Parsing, checking, lowering and elaborating a generated program."""

    def __init__(self, lines: int) -> None:
        self._directory = tempfile.TemporaryDirectory()
        self._path = Path(self._directory.name) / f"generated_{lines}.lf"
        self._path.write_text(program(lines), encoding="utf-8")

    def __call__(self) -> object:
        from reactorl.lf.diagnostics import Report
        from reactorl.lf.link.resolve import resolve
        from reactorl.lf.loader import LoadedProgram

        report = Report()
        linked = resolve(self._path, report)
        assert linked is not None
        assert linked.main is not None
        loaded = LoadedProgram.of(linked, [linked.main])
        made = loaded.program(report)
        assert made is not None, report.in_order()[0].render()
        assert not report.diagnostics
        sys.modules.pop(loaded.namespace["__name__"])
        return len(made.reactions)

    def close(self) -> None:
        self._directory.cleanup()


def make(workload: str, case: str, engine: str) -> Task:
    """Return the task of a job."""
    makers: dict[str, Callable[[], Task]] = {
        "start": lambda: Start(engine),
        "read": lambda: Read(int(case)),
    }
    return makers[workload]()
