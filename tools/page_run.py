# SPDX-License-Identifier: Apache-2.0
"""Executes the blocks of a page in order, as a reader would: files, Python, shell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from page_blocks import commands

if TYPE_CHECKING:
    from types import TracebackType

    from page_blocks import Block, Picture

# Executes code blocks one after the other in its main module, like a notebook.
SESSION = """
import contextlib, io, json, linecache, sys, traceback

for request in sys.stdin:
    name, code = json.loads(request)
    printed, failed = io.StringIO(), None
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(code, name, "exec"), sys.modules["__main__"].__dict__)
        except BaseException:
            failed = traceback.format_exc()
    print(json.dumps([printed.getvalue(), failed]), flush=True)
"""


TOOLS = str(Path(__file__).resolve().parent)


@dataclass(frozen=True)
class Done:
    """Result of a command."""

    output: str
    """Standard output and standard error, as a terminal shows them."""
    status: int


class PageRun:
    """A directory with a Python session and a shell, for one page."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory / "work"
        self.directory.mkdir()
        programs = directory / "bin"
        programs.mkdir()
        for name, arguments in (("python", ""), ("reactorl", "-m reactorl ")):
            program = programs / name
            program.write_text(
                f'#!/bin/sh\nexec "{sys.executable}" -W error {arguments}"$@"\n'
            )
            program.chmod(0o755)
        dropped = ("FORCE_COLOR", "NO_COLOR")
        kept = {k: v for k, v in os.environ.items() if k not in dropped}
        self.environment = {
            **kept,
            "PATH": f"{programs}{os.pathsep}{kept['PATH']}",
            "PYTHONPATH": os.pathsep.join([TOOLS, kept.get("PYTHONPATH", "")]),
            "COLUMNS": "80",
            "OMP_NUM_THREADS": "1",  # more threads would compete for the test's cores
            "PYTHONIOENCODING": "utf-8",
        }
        self._session: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._session is not None:
            self._session.__exit__(kind, error, trace)

    def python(self, block: Block, page: str) -> str:
        """Execute a block in the page's session; return its output.

        Raises:
            RuntimeError: The block raised; the message is the traceback.
        """
        return self._execute("\n" * (block.line - 1) + block.text, page)

    def picture(self, picture: Picture, page: str) -> str:
        """Return the DOT text of a picture, evaluated in the page's session.

        Raises:
            RuntimeError: The expression raised; the message is the traceback.
        """
        lines = "\n" * (picture.line - 1)
        call = f"print(docs_pictures.dot_of({picture.expression}), end='')"
        return self._execute(f"{lines}import docs_pictures; {call}", page)

    def _execute(self, code: str, page: str) -> str:
        if self._session is None:
            self._session = subprocess.Popen(
                [sys.executable, "-W", "error", "-c", SESSION],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=self.directory,
                env=self.environment,
                text=True,
                encoding="utf-8",
            )
        session = self._session
        assert session.stdin is not None
        assert session.stdout is not None
        session.stdin.write(json.dumps([page, code]) + "\n")
        session.stdin.flush()
        answer = session.stdout.readline()
        if not answer:
            msg = f"Python session of {page} exited with status {session.wait()}"
            raise RuntimeError(msg)
        printed, failed = json.loads(answer)
        if failed is not None:
            raise RuntimeError(failed)
        return str(printed)

    def shell(self, block: Block) -> list[tuple[str, str | None, Done]]:
        """Run a block's commands; return each with the output shown and its result.

        ``reactorl train`` commands get the flags of the block's ``in tests`` mark.
        """
        done = []
        status = 0
        for command, shown in commands(block):
            line = command
            if "in tests" in block.marks and "reactorl train" in line:
                line = f"{line.partition('  #')[0]} {block.marks['in tests']}"
            ended = subprocess.run(
                ["bash", "-c", f"(exit {status})\n{line}"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                check=False,
                cwd=self.directory,
                env=self.environment,
                text=True,
                encoding="utf-8",
                timeout=240,
            )
            status = ended.returncode
            done.append((line, shown, Done(ended.stdout, status)))
        return done
