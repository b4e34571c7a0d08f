# SPDX-License-Identifier: Apache-2.0
"""Starts an interpreter, as a child process that runs code of the package.

A terminal sends Ctrl-C to all processes of its group, and ``timeout``, systemd and
Slurm do the same with SIGTERM. Such a signal is for the parent. Until a child has said
what it does with them, which is after its first imports, they are blocked.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_PROGRAM: Final = (
    # With -c, '' comes first in sys.path: json.py in the current directory, say.
    "import sys; sys.path[:] = filter(None, sys.path); "
    "import json; before, path, after = json.loads(sys.argv.pop()); "
    "sys.path[:] = before + (sys.path if path is None else path) + after; "
    "from {module} import main; sys.exit(main())"
)
_BLOCKED: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The Python that a child process runs in.

    Attributes:
        executable: Its file.
        flags: Its options.
        path: Its ``sys.path``; None: as it is.
        before: Directories that come before these.
        after: Directories that come after these.
        env: Environment variables; None: those of this process.
    """

    executable: str
    flags: tuple[str, ...]
    path: tuple[str, ...] | None
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    env: Mapping[str, str] | None = None

    @classmethod
    def of_this_process(cls) -> Interpreter:
        """Return one that is like this process."""
        return cls(sys.executable, own_flags(), tuple(sys.path))


def own_flags() -> tuple[str, ...]:
    """Return the options with which this interpreter was started."""
    flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    return tuple(flags)


def start_child(
    module: str,
    fds: Sequence[int],
    interpreter: Interpreter | None = None,
    **options: Any,  # noqa: ANN401
) -> subprocess.Popen[bytes]:
    """Start a process that calls ``main()`` of a module.

    ``main`` must call ``accept_signals``. Its result is the exit status.

    Args:
        module: The module.
        fds: Descriptors that the process inherits; their numbers are its arguments.
        interpreter: What it runs in; None: an interpreter like this one.
        options: Further arguments of ``subprocess.Popen``.

    Raises:
        OSError: The process cannot be started.
    """
    python = interpreter or Interpreter.of_this_process()
    with _blocked_signals():  # a new process inherits the mask of this thread
        child: subprocess.Popen[Any] = subprocess.Popen(
            [
                python.executable,
                *python.flags,
                "-c",
                _PROGRAM.format(module=module),
                *map(str, fds),
                json.dumps([python.before, python.path, python.after]),
            ],
            env=python.env,
            pass_fds=fds,
            **options,
        )
    return child


@contextmanager
def _blocked_signals() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _BLOCKED)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def accept_signals() -> None:
    """Let signals reach this child; those that came before arrive now."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _BLOCKED)
