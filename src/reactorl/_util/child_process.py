# SPDX-License-Identifier: Apache-2.0
"""Starts this interpreter again, as a child process that runs code of the package.

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
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PROGRAM: Final = (
    # With -c, '' comes first in sys.path: json.py in the current directory, say.
    "import sys; sys.path[:] = filter(None, sys.path); "
    "import json; sys.path[:] = json.loads(sys.argv.pop()); "
    "from {module} import main; sys.exit(main())"
)
_BLOCKED: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def start_child(
    module: str,
    fds: Sequence[int],
    **options: Any,  # noqa: ANN401
) -> subprocess.Popen[bytes]:
    """Start a process that calls ``main()`` of a module, with this ``sys.path``.

    ``main`` must call ``accept_signals``. Its result is the exit status.

    Args:
        module: The module.
        fds: Descriptors that the process inherits; their numbers are its arguments.
        options: Further arguments of ``subprocess.Popen``.

    Raises:
        OSError: The process cannot be started.
    """
    with _blocked_signals():  # a new process inherits the mask of this thread
        child: subprocess.Popen[Any] = subprocess.Popen(
            [
                sys.executable,
                *subprocess._args_from_interpreter_flags(),  # type: ignore[attr-defined]
                "-c",
                _PROGRAM.format(module=module),
                *map(str, fds),
                json.dumps(sys.path),
            ],
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
