# SPDX-License-Identifier: Apache-2.0
"""One process of a federate on this machine: start, output, exit status."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import Counter, deque
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Final

from reactorl._util.child_process import start_child

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl._federation.launch.job import Job
    from reactorl._federation.secret import RunSecret
    from reactorl._util.child_process import Interpreter

_MODULE: Final = "reactorl._federation.launch.child"
_LINE_BYTES: Final = 1 << 16
_LAST_WORDS: Final = 12
_REST_SECONDS: Final = 1.0


class FederateProcess:
    """The process of a federate.

    A thread starts it and waits for its end: Linux kills a process when the thread that
    has started it ends, if that was asked for (see ``parent.py``).

    Args:
        name: The federate.
        job: What it has to do.
        secret: The run's secret.
        ended: Called by the thread when the process has ended.
        before: An earlier life of the federate: lines that it has written are not
            written again.
        interpreter: What it runs in; None: an interpreter like this one.
        show: Called with each line that it prints, and ``stdout`` or ``stderr``; None:
            lines go to the streams of this process, after the federate's name.
    """

    def __init__(
        self,
        name: str,
        job: Job,
        secret: RunSecret,
        ended: Callable[[FederateProcess], object],
        *,
        before: FederateProcess | None = None,
        interpreter: Interpreter | None = None,
        show: Callable[[str, str], object] | None = None,
    ) -> None:
        self.name = name
        self._interpreter = interpreter
        self._show = show or self._print
        self.index = job.index
        self.life = job.life
        self._shown: dict[str, Counter[str]] | None = None
        """Lines that were written, per stream, if there may be another life."""
        if job.keeps:
            self._shown = {"stdout": Counter(), "stderr": Counter()}
        self._again = {} if before is None else before._written()
        self._rest: dict[str, str] = {}
        self._job = pickle.dumps(job)
        self._secret = secret
        self._ended = ended
        self._process: subprocess.Popen[bytes] | None = None
        self._error: OSError | None = None
        self.output_error: OSError | None = before.output_error if before else None
        """Why what it printed could not be written to the streams of this process."""
        self._started = threading.Event()
        self._words: deque[str] = deque(maxlen=_LAST_WORDS)
        self._lifeline = -1
        self._thread = threading.Thread(
            target=self._keep, name=f"process of federate {name}", daemon=True
        )

    def start(self) -> None:
        """Start the process.

        Raises:
            OSError: The system cannot start one.
        """
        self._thread.start()
        self._started.wait()
        if self._error is not None:
            raise self._error

    @property
    def started(self) -> bool:
        """Whether there is, or was, a process."""
        return self._process is not None

    @property
    def pid(self) -> int:
        """The process id."""
        assert self._process is not None
        return self._process.pid

    @property
    def status(self) -> int | None:
        """The exit status; negative: a signal; None: it runs."""
        return None if self._process is None else self._process.returncode

    @property
    def last_words(self) -> str:
        """The last lines that it wrote to stderr."""
        return "\n".join(self._words)

    def how_it_ended(self) -> str:
        """Return how it ended, as the end of a sentence."""
        status = self.status
        if status is None:
            return "its process still runs"
        if status >= 0:
            return f"its process {self.pid} ended with status {status}"
        try:
            name = signal.Signals(-status).name
        except ValueError:
            name = f"signal {-status}"
        how = f"its process {self.pid} was killed by {name}"
        if name == "SIGKILL":
            how += " (by a user, or by the system because memory ran out)"
        return how

    def join(self, timeout: float | None = None) -> bool:
        """Wait for the end of the process; return whether it has ended."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def kill(self) -> None:
        """End the process at once."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()

    def write_rest(self) -> None:
        """Write what it printed without an end of the line, when it has ended."""
        for name, text in sorted(self._rest.items()):
            self._write(name, text)
        self._rest = {}

    def _written(self) -> dict[str, Counter[str]]:
        """Return the lines of this life and of those before."""
        return {
            name: lines + self._again.get(name, Counter())
            for name, lines in (self._shown or {}).items()
        }

    # -- the thread -----------------------------------------------------------------

    def _keep(self) -> None:
        secret_reader, secret_writer = os.pipe()
        reader, self._lifeline = os.pipe()
        try:
            self._process = process = start_child(
                _MODULE,
                [secret_reader, reader],
                self._interpreter,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            self._error = error
            os.close(secret_writer)
            os.close(self._lifeline)
            return
        finally:
            os.close(secret_reader)
            os.close(reader)
            self._started.set()
        assert process.stdout is not None
        assert process.stderr is not None
        forwarders = [
            threading.Thread(target=self._forward, args=args, daemon=True)
            for args in ((process.stdout, "stdout"), (process.stderr, "stderr"))
        ]
        for each in forwarders:
            each.start()
        self._hand_over(secret_writer)
        process.wait()
        os.close(self._lifeline)
        for each in forwarders:
            # Processes that it has started may hold its output open.
            each.join(_REST_SECONDS)
        self._ended(self)

    def _hand_over(self, secret_writer: int) -> None:
        from reactorl._federation.link_errors import SecretError

        with suppress(SecretError):  # it has ended; its status tells
            self._secret.send(secret_writer)
        head = os.getpid().to_bytes(8, "little") + len(self._job).to_bytes(8, "little")
        rest = memoryview(head + self._job)
        with suppress(OSError):
            while rest:
                rest = rest[os.write(self._lifeline, rest) :]

    def _forward(self, stream: IO[bytes], name: str) -> None:
        """Show what it prints, line by line."""
        with stream:
            while line := stream.readline(_LINE_BYTES):
                text = line.decode(errors="backslashreplace").rstrip("\n")
                if name == "stderr":
                    self._words.append(text)
                if self._shown is not None:
                    if not line.endswith(b"\n") and len(line) < _LINE_BYTES:
                        self._rest[name] = text  # the next life writes all of it
                        continue
                    before = self._again.get(name)
                    if before is not None and before[text] > 0:
                        before[text] -= 1
                        self._shown[name][text] += 1
                        continue
                    self._shown[name][text] += 1
                if not self._write(name, text):
                    return  # the federate gets this error at its next line

    def _write(self, name: str, text: str) -> bool:
        """Show a line; return whether there is a reader."""
        try:
            self._show(text, name)
        except BrokenPipeError:
            return False
        except OSError as error:  # e.g. a full disk, which is raised at the end
            self.output_error = self.output_error or error
        return True

    def _print(self, text: str, name: str) -> None:
        print_line(self.name, text, name)


def print_line(federate: str, text: str, stream: str) -> None:
    """Write a line of a federate to ``stdout`` or ``stderr`` of this process.

    Raises:
        OSError: It could not be written.
    """
    target = getattr(sys, stream)
    if target is None:
        return
    with suppress(ValueError):  # it is closed
        # One call, so that lines of several federates are not mixed.
        target.write(f"[{federate}] {text}\n")
        target.flush()
