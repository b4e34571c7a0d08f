# SPDX-License-Identifier: Apache-2.0
"""What starts the processes of federates: on this machine, or on a cluster."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from reactorl._federation.endpoint import Address
from reactorl._federation.launch.on_ray.federation import RayFederation
from reactorl._federation.launch.process import FederateProcess
from reactorl._util.machine import usable_cores

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl._federation.launch.job import Job
    from reactorl._federation.secret import RunSecret
    from reactorl._program.cut import Cut
    from reactorl._program.placement import Federation

_PATH_BYTES: Final = 90  # of a Unix socket, of 104 or 108 that systems allow


class Process(Protocol):
    """The process of a federate, wherever it runs."""

    @property
    def name(self) -> str:
        """The federate."""

    @property
    def life(self) -> int:
        """How often the federate was started."""

    @property
    def index(self) -> int:
        """Its number."""

    @property
    def started(self) -> bool:
        """Whether there is, or was, a process."""

    @property
    def pid(self) -> int:
        """The process id, on its machine."""

    @property
    def status(self) -> int | None:
        """The exit status; negative: a signal; None: it runs, or is not known."""

    @property
    def last_words(self) -> str:
        """The last lines that it wrote to stderr."""

    @property
    def output_error(self) -> OSError | None:
        """Why what it printed could not be written to the streams of this process."""

    def start(self) -> None:
        """Start it; raises ``OSError`` or ``LinkError`` if that fails."""

    def how_it_ended(self) -> str:
        """Return how it ended, as the end of a sentence."""

    def join(self, timeout: float | None = None) -> bool:
        """Wait for its end; return whether it has ended."""

    def kill(self) -> None:
        """End it at once."""

    def write_rest(self) -> None:
        """Write what it printed without an end of the line, when it has ended."""


class Launcher(Protocol):
    """Starts the processes of one life of a federation, and knows where they are."""

    @property
    def encrypt(self) -> bool:
        """Whether links must be encrypted."""

    @property
    def replaces(self) -> bool:
        """Whether a process that is gone can be replaced alone."""

    @property
    def coordinator(self) -> Address:
        """Where the coordinator listens."""

    def address(self, index: int, life: int = 1) -> Address:
        """Return where a life of a federate listens."""

    def process(
        self,
        name: str,
        job: Job,
        secret: RunSecret,
        ended: Callable[[Process], object],
        *,
        before: Process | None = None,
    ) -> Process:
        """Return the process of a federate, which is not started yet.

        Args:
            name: The federate.
            job: What it has to do.
            secret: The run's secret.
            ended: Called when it has ended.
            before: That of the life before, which has ended.
        """

    def close(self) -> None:
        """Release what it has made. All processes have ended."""


class LocalLauncher:
    """Starts processes of this machine, which are connected by Unix sockets."""

    encrypt: Final = False
    replaces: Final = True

    def __init__(self) -> None:
        self._directory = _private_directory()

    @property
    def coordinator(self) -> Address:
        """See ``Launcher``."""
        return Address(path=str(self._directory / "coordinator"))

    def address(self, index: int, life: int = 1) -> Address:
        """See ``Launcher``."""
        return Address(path=str(self._directory / f"federate-{index}-{life}"))

    def process(
        self,
        name: str,
        job: Job,
        secret: RunSecret,
        ended: Callable[[Process], object],
        *,
        before: Process | None = None,
    ) -> FederateProcess:
        """See ``Launcher``."""
        assert before is None or isinstance(before, FederateProcess)
        return FederateProcess(name, job, secret, ended, before=before)

    def close(self) -> None:
        """See ``Launcher``."""
        shutil.rmtree(self._directory, ignore_errors=True)


def launcher_for(
    federation: Federation, cut: Cut, here: frozenset[int] = frozenset()
) -> Launcher:
    """Return what starts the processes of a federation.

    Args:
        federation: Says where they run.
        cut: Its federates.
        here: Those that run in this process.

    Raises:
        LinkError: There is no room for them.
    """
    if isinstance(federation, RayFederation):
        from reactorl._federation.launch.on_ray.launcher import RayLauncher

        return RayLauncher(federation, cut, here)
    return LocalLauncher()


def workers_of_each(cut: Cut, federation: Federation | None = None) -> int:
    """Return the default number of workers of each federate.

    They share the cores of this machine, or have those that a cluster reserves.
    """
    if isinstance(federation, RayFederation):
        return max(1, int(federation.settings.each.cpus))
    return max(1, usable_cores() // len(cut.names))


def _private_directory() -> Path:
    """Return a new directory for sockets, which only this user can enter."""
    path = Path(tempfile.mkdtemp(prefix="reactorl-"))
    if len(str(path / "federate-9999-99")) <= _PATH_BYTES:
        return path
    with suppress(OSError):
        path.rmdir()
    return Path(tempfile.mkdtemp(prefix="reactorl-", dir="/tmp"))
