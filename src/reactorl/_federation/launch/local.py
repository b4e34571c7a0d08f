# SPDX-License-Identifier: Apache-2.0
"""The processes of federates that this one starts, here or on a cluster."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Self

from reactorl._federation.certificate import Certificate
from reactorl._federation.coordinator_server import CoordinatorServer
from reactorl._federation.launch.job import Job, pack_source
from reactorl._federation.launch.launcher import launcher_for
from reactorl._federation.link_errors import LinkError, PeerLostError
from reactorl._federation.member import Member, Membership
from reactorl._federation.parts import whole_result
from reactorl._federation.secret import RunSecret
from reactorl._federation.watching import watched
from reactorl._program.placement import Federation
from reactorl._runtime.recording import Recording

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from reactorl._federation.launch.job import Restored, Source
    from reactorl._federation.launch.launcher import Process
    from reactorl._federation.parts import PartialResult
    from reactorl._program.cut import Cut
    from reactorl._program.program import Program
    from reactorl._runtime.options import Options
    from reactorl._runtime.result import Result
    from reactorl._runtime.watch import Watch

_log: Final = logging.getLogger(__name__)
_WORDS_SECONDS: Final = 5.0
"""Time to learn how the process of a federate ended whose connection has ended."""
_GRACE_SECONDS: Final = 10.0
"""Time for processes to end when the run has failed, before they are killed."""


class LocalFederates:
    """The federates of one run, as processes that this one starts.

    Use it in a ``with`` statement, after which no process is left.

    Args:
        source: Where processes get the program from.
        program: The program, elaborated here.
        federation: The placement, and where processes run.
        cut: The cut that follows from both.
        options: Options of the run.
        here: The federates that run in this process instead; see ``member``.
        replay: Physical inputs, instead of those of the world.
        record: Whether physical inputs are recorded.
        window: See ``Coordinator``.
        encrypt: Whether links are encrypted even on one machine, which needs the
            package cryptography.
        start_multiple: See ``CoordinatorServer``.
        patience: Seconds that processes have to connect, and to end after the run.
        restarts: How often a process is replaced that is gone. The new one does again
            what the old one did, with the same result.
    """

    def __init__(
        self,
        source: Source,
        program: Program,
        federation: Federation,
        cut: Cut,
        options: Options,
        *,
        here: frozenset[int] = frozenset(),
        replay: Recording | None = None,
        record: bool = False,
        window: int | None = None,
        encrypt: bool = False,
        start_multiple: int = 1,
        patience: float = 60.0,
        restarts: int = 0,
    ) -> None:
        self._program = program
        self._cut = cut
        self._options = options
        self._replay = replay
        self._record = record
        self._patience = patience
        self._secret = RunSecret.generate()
        packed = pack_source(source)
        self._launcher = launcher_for(federation, cut, here)
        self._encrypt = encrypt or self._launcher.encrypt
        self._closing = False
        # What Ray has started it cannot replace alone.
        restarts = restarts if self._launcher.replaces else 0
        self._keeps = restarts > 0
        self._left = restarts
        self._starting = threading.Lock()  # guards processes, once they are started
        self._here = here
        self._jobs: dict[int, Job] = {}
        self.restore: Callable[[int], tuple[Source, Restored] | None] | None = None
        """Returns the checkpoint from which a federate begins again, and the source of
        its program; None: it begins at the first tag."""
        self.processes: list[Process] = []
        """Those of federates that do not run here, in order."""
        try:
            self._server = CoordinatorServer(
                program,
                cut,
                options,
                self._secret,
                self._launcher.coordinator,
                window=window,
                certificate=self._certificate(),
                patience=patience,
                start_multiple=start_multiple,
                grace=_GRACE_SECONDS,
                restarts=restarts,
                begin_again=self._begin_again if restarts else None,
            )
        except BaseException:
            self._launcher.close()
            raise
        placed = Federation(
            federation.placement, rest=federation.rest, replicas=federation.replicas
        )
        for index, name in enumerate(cut.names):
            if index in here:
                continue
            job = Job(
                packed,
                placed,
                options,
                index,
                str(self._server.address),
                str(self._launcher.address(index)),
                replay,
                record,
                self._encrypt,
                keeps=self._keeps,
                fixed=here,
            )
            self._jobs[index] = job
            self.processes.append(
                self._launcher.process(name, job, self._secret, self._process_ended)
            )

    def __enter__(self) -> Self:
        """Start the processes."""
        try:
            for process in self.processes:
                self._start(process)
        except BaseException:
            self.close(0)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the processes that still run."""
        self.close()

    @property
    def server(self) -> CoordinatorServer:
        """The coordinator; for the driver of a program."""
        return self._server

    @property
    def replaces(self) -> bool:
        """Whether a process that is gone can be replaced alone."""
        return self._launcher.replaces

    def member(self, index: int) -> Member:
        """Return the federate that runs in this process, for its ``run``."""
        membership = Membership(
            index,
            self._server.address,
            self._launcher.address(index),
            self._secret,
            certificate=self._certificate(),
            timeout=self._patience,
            keeps=self._keeps,
            fixed=self._here,
        )
        return Member(
            self._program,
            self._cut,
            self._options,
            membership,
            replay=self._replay,
            record=Recording() if self._record else None,
        )

    def wait(self) -> list[PartialResult]:
        """Wait for the end of the run; return the results of all federates.

        Any thread may call it, but one only.

        Raises:
            PeerLostError: A federate is gone; the text says how, and has the last tag
                that it reported. Its last lines on stderr are a note.
            LinkError: Federates did not connect or end in time, or one ended with an
                exit status other than 0 though it had taken part to the end.
            ReactionError: A body raised; other errors of federates likewise.
            OSError: What a federate printed could not be written, e.g. to a full disk.
        """
        try:
            results = self._server.run()
        except PeerLostError as error:
            raise self._explained(error) from error
        finally:
            for process in self.processes:
                if process.join(0):
                    process.write_rest()
        for process in self.processes:
            if not process.join(self._patience):
                msg = f"federate {process.name} did not end within {self._patience:g} s"
                raise LinkError(msg, peer=f"federate {process.name}")
            if self._keeps and (process.status or 0) < 0:
                what = "federate %s has done its part, but %s."
                _log.warning(what, process.name, process.how_it_ended())
            elif process.status:
                msg = f"federate {process.name} failed after the last tag: "
                msg += process.how_it_ended()
                failed = LinkError(msg, peer=f"federate {process.name}")
                raise _with_words(failed, process)
        for process in self.processes:
            process.write_rest()
            if process.output_error is not None:
                raise process.output_error
        return results

    def request_stop(self) -> None:
        """End the program at the next tag at which all federates can."""
        self._server.request_stop()

    def close(self, grace: float = _GRACE_SECONDS) -> None:
        """End the run, if it has not ended, and all processes.

        Args:
            grace: Seconds that processes have before they are killed.
        """
        with self._starting:
            self._closing = True
        try:
            self._server.close()
            limit = _Limit(grace)
            for process in self.processes:
                if process.started and not process.join(limit.left()):
                    process.kill()
                    process.join()
        finally:
            for process in self.processes:
                process.kill()
            self._launcher.close()

    # -- parts ----------------------------------------------------------------------

    def _certificate(self) -> Certificate | None:
        return Certificate() if self._encrypt else None

    def _start(self, process: Process) -> None:
        try:
            process.start()
        except OSError as error:
            msg = f"starting federate {process.name} failed: {error.strerror or error}"
            raise LinkError(msg, peer=f"federate {process.name}") from error

    def _process_ended(self, process: Process) -> None:
        """Tell the coordinator. Called by the thread of the process."""
        if not self._closing:
            how = process.how_it_ended()
            self._server.process_ended(
                process.index, how, process.life, by_itself=(process.status or 0) > 0
            )

    def _begin_again(self, federate: int, life: int, error: LinkError) -> None:
        """Replace the process of a federate. Called by a thread of the coordinator."""
        old = next(each for each in self.processes if each.index == federate)
        old.kill()  # it may hang without its connections
        old.join()
        with self._starting:
            if self._closing:
                return
            self._left -= 1
            # Not said before it is known: a death that ends the run is in its error.
            _log.warning(
                "federate %s was lost: %s; %s. It begins again. Restarts left: %d.",
                old.name,
                old.how_it_ended(),
                self._server.last_tag(federate),
                self._left,
            )
            address = str(self._launcher.address(federate, life))
            job = replace(self._jobs[federate], address=address, life=life)
            found = None if self.restore is None else self.restore(federate)
            if found is not None:
                source, restored = found
                job = replace(job, source=pack_source(source), restored=restored)
            new = self._launcher.process(
                old.name, job, self._secret, self._process_ended, before=old
            )
            self._start(new)
            self.processes[self.processes.index(old)] = new

    def _explained(self, error: PeerLostError) -> LinkError:
        """Return an error that says how the process of a lost federate ended."""
        for process in self.processes:
            if error.peer != f"federate {process.name}" or not process.join(
                _WORDS_SECONDS
            ):
                continue
            how = process.how_it_ended()
            what = error.what
            if how not in what:  # the connection was seen to end first
                _, semicolon, rest = what.rpartition(";")
                what = f"{error.peer} was lost: {how}{semicolon}{rest}"
            found = PeerLostError(what, error.remedy, peer=error.peer)
            return _with_words(found, process)
        return error


def run_locally(
    source: Source,
    program: Program,
    federation: Federation,
    cut: Cut,
    options: Options,
    *,
    replay: Recording | None = None,
    record: bool = False,
    encrypt: bool = False,
    start_multiple: int = 1,
    restarts: int = 0,
    at_start: Callable[[Watch], object] | None = None,
) -> tuple[Result, list[object]]:
    """Run a program as processes that this one starts; see ``LocalFederates``.

    Args:
        source: As there, like all that follow but the last.
        program: The program.
        federation: The placement.
        cut: The cut.
        options: Options of the run.
        replay: Physical inputs.
        record: Whether they are recorded.
        encrypt: Whether links are encrypted.
        start_multiple: Of the time of the first tag.
        restarts: How often a process is replaced that is gone.
        at_start: Called with a ``Watch`` of all federates, before they are started.

    Returns:
        The result, and what the source adds in each federate.

    Raises:
        LinkError: A federate could not be started, or is gone.
        ReactionError: A body raised; other errors of federates likewise.
        KeyboardInterrupt: Ctrl-C; the processes have ended.
    """
    made = LocalFederates(
        source,
        program,
        federation,
        cut,
        options,
        replay=replay,
        record=record,
        encrypt=encrypt,
        start_multiple=start_multiple,
        restarts=restarts,
    )
    with (
        closing(made),
        watched(program, cut, options, made.server.probes, at_start) as end,
        made as federates,
    ):
        parts = federates.wait()
        end(parts)
    clocks = federates.server.probes.clocks
    result = whole_result(program, cut, options, parts, clocks)
    return result, [part.extra for part in parts]


class _Limit:
    """A number of seconds from now on, for several waits."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        return max(self._end - time.monotonic(), 0.0)


def _with_words(error: LinkError, process: Process) -> LinkError:
    if words := process.last_words:
        error.add_note(f"The last lines of federate {process.name} on stderr:\n{words}")
    return error
