# SPDX-License-Identifier: Apache-2.0
"""The keeper: an actor that starts one federate as its child process, and watches it.

It runs in Ray's Python on the node; the child may run in another one. The child ends
with its keeper, whatever ends that.
"""

from __future__ import annotations

import os
import pickle
import queue
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import reactorl
from reactorl._federation.endpoint import Address
from reactorl._federation.launch.on_ray.cluster import import_ray
from reactorl._federation.launch.on_ray.sealing import SealingKey
from reactorl._federation.launch.process import FederateProcess
from reactorl._federation.link_errors import LinkError
from reactorl._util.child_process import Interpreter

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

    from reactorl._federation.launch.job import Job
    from reactorl._federation.launch.on_ray.shipment import Shipment

_WAIT_SECONDS: Final = 5.0
_MOST_LINES: Final = 10_000  # then the federate waits until they are taken
_BY_VALUE: Final = b"_make_function"  # cloudpickle's, for functions with their code
_BATCH: Final = 1_000
LOOPBACK: Final = "127.0.0.1"


@dataclass(frozen=True)
class NodeFacts:
    """Where a keeper is.

    Attributes:
        node: Ray's number of the node.
        address: Of the node.
        hostname: Name of the node.
        version: Of reactorl.
        python: Version of Ray's Python.
        public: The key that the run's secret is sealed for.
    """

    node: str
    address: str
    hostname: str
    version: str
    python: str
    public: bytes


@dataclass(frozen=True)
class Order:
    """What a keeper has to start.

    Attributes:
        name: The federate.
        job: Its job, pickled.
        sealed: The run's secret.
        python: The interpreter; None: that of the keeper.
        version: Version of the calling Python.
        flags: Options of the interpreter.
        env: Environment variables that must be as in the calling process; None: unset.
        loopback: Whether all federates are on one node.
        label: Name of its log file.
    """

    name: str
    job: bytes
    sealed: bytes
    python: str | None
    version: str
    flags: tuple[str, ...]
    env: Mapping[str, str | None]
    loopback: bool
    label: str


@dataclass(frozen=True)
class Line:
    """A line that the federate has printed."""

    text: str
    stream: str


@dataclass(frozen=True)
class End:
    """How the federate ended."""

    status: int | None
    how: str
    words: str = field(default="")


def python_version() -> str:
    """Return the version of this Python, as far as code depends on it."""
    return ".".join(map(str, sys.version_info[:2]))


class FederateKeeper:
    """Starts a federate, and hands over what it prints and how it ends."""

    def __init__(self) -> None:
        self._key = SealingKey()
        self._events: queue.Queue[Line | End] = queue.Queue(_MOST_LINES)
        self._directory: Path | None = None
        self._log: TextIO | None = None
        self._process: FederateProcess | None = None

    def facts(self) -> NodeFacts:
        """Return where this keeper is."""
        ray = import_ray()
        return NodeFacts(
            ray.get_runtime_context().get_node_id(),
            ray.util.get_node_ip_address(),
            socket.gethostname(),
            reactorl.__version__,
            python_version(),
            self._key.public,
        )

    def start(self, order: Order, modules: Shipment) -> int | str:
        """Start the federate; return its process id, or why it cannot be started.

        An error is not raised: Ray would log those that no call has asked for.
        """
        try:
            return self._start(order, modules)
        except (LinkError, OSError) as error:
            self._tidy()
            return str(error)

    def _start(self, order: Order, modules: Shipment) -> int:
        secret = self._key.open(order.sealed)
        job: Job = pickle.loads(order.job)
        if order.python is not None and _BY_VALUE in job.source:
            _check_version(order.python, order.version)
        host = LOOPBACK if order.loopback else import_ray().util.get_node_ip_address()
        job = replace(job, address=str(Address(host=host)))
        self._log = _log_file(order.label)
        path = tuple(entry for entry in sys.path if entry)
        self._directory = Path(tempfile.mkdtemp(prefix="reactorl-"))
        before, after = modules.unpack(self._directory)
        self._process = FederateProcess(
            order.name,
            job,
            secret,
            self._ended,
            interpreter=Interpreter(
                order.python or sys.executable,
                order.flags,
                path if order.python is None else None,
                tuple(before),
                tuple(after),
                env=_environment(order.env),
            ),
            show=self._line,
        )
        self._process.start()
        return self._process.pid

    def events(self) -> list[Line | End]:
        """Return what has happened, in order; wait some seconds for the first event."""
        found: list[Line | End] = []
        with suppress(queue.Empty):
            found.append(self._events.get(timeout=_WAIT_SECONDS))
            while len(found) < _BATCH:
                found.append(self._events.get_nowait())
        return found

    # -- threads of the process -----------------------------------------------------

    def _line(self, text: str, stream: str) -> None:
        if self._log is not None:
            with suppress(OSError):
                self._log.write(text + "\n")
                self._log.flush()
        self._events.put(Line(text, stream))

    def _ended(self, process: FederateProcess) -> None:
        self._tidy()
        how, words = process.how_it_ended(), process.last_words
        self._events.put(End(process.status, how, words))

    def _tidy(self) -> None:
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)


def _check_version(python: str, version: str) -> None:
    """Check that an interpreter has the version in which a program was sent by value.

    Raises:
        LinkError: It has not; it would crash.
        OSError: It cannot be started.
    """
    command = [python, "-c", "import sys; print(*sys.version_info[:2], sep='.')"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = done.stdout.strip()
    if found != version:
        msg = (
            f"the program must be importable, because {python} has another version of "
            f"Python than the process that sends it: {found or 'none'}, not {version}"
        )
        raise LinkError(msg, "Define its reactors in a module, not in a script.")


def _environment(wanted: Mapping[str, str | None]) -> dict[str, str]:
    env = dict(os.environ)
    for name, value in wanted.items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = value
    return env


def _log_file(label: str) -> TextIO | None:
    """Return a new file in Ray's log directory of this node, where Ray shows it."""
    try:
        own = Path("/proc/self/fd/1").resolve()  # where Ray writes what actors print
        if not stat.S_ISREG(own.stat().st_mode):
            return None
        fd = os.open(own.parent / f"{label}.log", os.O_WRONLY | os.O_CREAT, 0o600)
        return os.fdopen(fd, "w")
    except OSError:
        return None
