# SPDX-License-Identifier: Apache-2.0
"""Federates that are started by something else: ssh, Slurm, Kubernetes, by hand.

The process that starts the run listens at one address. A process that joins proves
there that it knows the run's secret, and gets a job: the program's source, and which
federate it is. The connection stays open as long as both live.
"""

from __future__ import annotations

import logging
import os
import pickle
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING, Final, Self

from reactorl._federation.certificate import Certificate
from reactorl._federation.coordinator_server import CoordinatorServer
from reactorl._federation.endpoint import Address, Listener, connect
from reactorl._federation.handshake import COORDINATOR, Admission, Identity, Purpose
from reactorl._federation.launch.child import take_part
from reactorl._federation.launch.job import Job, pack_source
from reactorl._federation.link_errors import (
    FrameError,
    HandshakeError,
    LinkError,
    PeerLostError,
    Refusal,
)
from reactorl._federation.parts import whole_result
from reactorl._federation.secret import RunSecret
from reactorl._federation.watching import watched
from reactorl._util.serialization import deserialize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    from reactorl._federation.handshake import Connection
    from reactorl._federation.launch.job import Source
    from reactorl._federation.parts import PartialResult
    from reactorl._federation.wire import PlainWire, TLSWire
    from reactorl._program.cut import Cut
    from reactorl._program.placement import Federation
    from reactorl._program.program import Program
    from reactorl._runtime.options import Options
    from reactorl._runtime.result import Result
    from reactorl._runtime.watch import Watch

_log: Final = logging.getLogger(__name__)
JOINING: Final = COORDINATOR - 1
"""The rank of a process that has no job yet."""

_DIGEST: Final = sha256(b"reactorl join 1").digest()
_SIZE: Final = Struct("<Q")
_MAX_BYTES: Final = 1 << 30
_RETRY_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True)
class _Request:
    """What a process that joins says."""

    wanted: str  # a federate; empty: any
    host: str  # where it is


class JoiningFederates:
    """The federates of one run, which other processes become by joining.

    Use it in a ``with`` statement. Processes that have joined end with the run.

    Args:
        source: Where processes get the program from; files must be there, too.
        program: The program, elaborated here.
        federation: The placement.
        cut: The cut that follows from both.
        options: Options of the run.
        listen: Where processes join. The host is where federates find the coordinator,
            so it must be the name or number of this host that others use.
        secret: The run's secret.
        encrypt: Whether links are encrypted, which needs the package cryptography.
        start_multiple: See ``CoordinatorServer``.
        joined: Called with the name of a federate and its host.
        restarts: How often another process can take the place of one that is gone.
    """

    def __init__(
        self,
        source: Source,
        program: Program,
        federation: Federation,
        cut: Cut,
        options: Options,
        *,
        listen: Address,
        secret: RunSecret,
        encrypt: bool = True,
        start_multiple: int = 1,
        joined: Callable[[str, str], object] | None = None,
        restarts: int = 0,
    ) -> None:
        self._cut = cut
        self._federation = federation
        self._options = options
        self._encrypt = encrypt
        self._joined = joined
        self._packed = pack_source(source)
        self._changed = threading.Condition()  # guards what follows
        self._free = dict.fromkeys(range(len(cut.names)))
        self._connections: dict[int, Connection] = {}
        self._lives = dict.fromkeys(range(len(cut.names)), 1)
        self._left = restarts
        self._keeps = restarts > 0
        self._gone: list[PeerLostError] = []
        self._closed = False
        certificate = Certificate() if encrypt else None
        self._server = CoordinatorServer(
            program,
            cut,
            options,
            secret,
            Address(host=listen.host),
            certificate=certificate,
            start_multiple=start_multiple,
            grace=10.0,
            restarts=restarts,
            begin_again=self._begin_again if restarts else None,
        )
        identity = Identity(COORDINATOR, 1, _DIGEST, secret, certificate)
        try:
            self._listener = Listener(
                listen, identity, self._admit, self._accept, self._refused
            )
        except BaseException:
            self._server.close()
            raise

    @property
    def server(self) -> CoordinatorServer:
        """The coordinator."""
        return self._server

    @property
    def address(self) -> Address:
        """Where processes join."""
        return self._listener.address

    def __enter__(self) -> Self:
        """Do nothing; processes can join already."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the run, if it has not ended; who has joined learns that."""
        with self._changed:
            self._closed = True
            connections = list(self._connections.values())
        self._listener.close()
        self._server.close()
        for connection in connections:
            connection.wire.stop()

    def wait_for_all(self) -> None:
        """Wait, as long as it takes, until every federate has a process.

        Raises:
            PeerLostError: A process that had joined is gone.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: len(self._connections) == len(self._cut.names) or self._gone
            )
            if self._gone:
                raise self._gone[0]

    def wait(self) -> list[PartialResult]:
        """Wait for the end of the run; return the results of all federates.

        Raises:
            PeerLostError: A federate is gone.
            ReactionError: A body raised; other errors of federates likewise.
        """
        return self._server.run()

    # -- threads of the listener ----------------------------------------------------

    def _admit(self, rank: int) -> Admission | None:
        return Admission(name="a process that joins") if rank == JOINING else None

    def _refused(self, error: LinkError) -> None:
        """Leave strangers alone."""

    def _accept(self, connection: Connection) -> None:
        wire = connection.wire
        index: int | None = None
        try:
            if connection.purpose is not Purpose.JOIN:
                return
            request: _Request = deserialize(_receive(wire))
            index = self._take(request.wanted)
            answer = index if index is not None else self._why_not(request.wanted)
            job = None if isinstance(answer, str) else self._job(answer, request.host)
            _send(wire, pickle.dumps(answer if job is None else job))
            if index is None:
                return
            with self._changed:
                if self._closed:
                    return
                self._connections[index] = connection
                life = self._lives[index]
                self._changed.notify_all()
            if self._joined is not None:
                self._joined(self._cut.names[index], request.host)
            threading.Thread(
                target=self._watch, args=[index, wire, life], daemon=True
            ).start()
            index = None
        except OSError:
            pass  # it has gone: another process can take its place
        finally:
            if index is not None:
                with self._changed:
                    self._free[index] = None
            if connection not in self._connections.values():
                wire.close()

    def _take(self, wanted: str) -> int | None:
        """Return a federate that no process has; None: there is none."""
        with self._changed:
            for index in sorted(self._free):
                if wanted in ("", self._cut.names[index]):
                    del self._free[index]
                    return index
        return None

    def _why_not(self, wanted: str) -> str:
        names = ", ".join(self._cut.names)
        if wanted and wanted not in self._cut.names:
            return f"the run has no federate {wanted}; it has {names}"
        return f"{wanted} has joined already" if wanted else f"all have joined: {names}"

    def _job(self, index: int, host: str) -> Job:
        return Job(
            self._packed,
            self._federation,
            self._options,
            index,
            str(self._server.address),
            str(Address(host=host)),
            encrypt=self._encrypt,
            life=self._lives[index],
            keeps=self._keeps,
        )

    def _begin_again(self, index: int, life: int, error: LinkError) -> None:
        """Let another process take the place of a federate that is gone."""
        name = self._cut.names[index]
        with self._changed:
            self._left -= 1
            self._lives[index] = life
            old = self._connections.pop(index, None)
        if old is not None:
            old.wire.stop()  # it ends, if it still runs
        _log.warning(
            "%s; %s. It begins again when a process joins as %s. Restarts left: %d.",
            error.what,
            self._server.last_tag(index),
            name,
            self._left,
        )
        with self._changed:
            self._free[index] = None

    def _watch(self, index: int, wire: PlainWire | TLSWire, life: int) -> None:
        """Tell the coordinator when the process has ended."""
        with suppress(OSError):
            while wire.receive(memoryview(bytearray(1))):
                pass
        wire.close()
        if self._closed:
            return
        how = "its process ended, or its host is gone"
        peer = f"federate {self._cut.names[index]}"
        with self._changed:
            if not self._left:
                self._gone.append(PeerLostError(f"{peer} was lost: {how}", peer=peer))
                self._changed.notify_all()
        self._server.process_ended(index, how, life)


@dataclass(frozen=True)
class Gather:
    """Where a run waits for processes, and what it says meanwhile.

    Attributes:
        listen: The address, as ``HOST:PORT``.
        token_file: The file with the run's secret. If it does not exist, it is written,
            and removed at the end.
        encrypt: Whether links are encrypted; None: unless the address is of this
            machine only.
        waiting: Called with the address and the names of all federates.
        joined: Called with the name of a federate and its host.
    """

    listen: str
    token_file: Path
    encrypt: bool | None
    waiting: Callable[[str, tuple[str, ...]], object]
    joined: Callable[[str, str], object]


def run_joining(
    source: Source,
    program: Program,
    federation: Federation,
    cut: Cut,
    options: Options,
    gather: Gather,
    *,
    start_multiple: int = 1,
    restarts: int = 0,
    at_start: Callable[[Watch], object] | None = None,
) -> tuple[Result, list[object]]:
    """Run a program as processes that join; see ``JoiningFederates``.

    Returns:
        The result, and what the source adds in each federate.

    Raises:
        LinkError: The address or the file cannot be used, or a federate is gone.
        ReactionError: A body raised; other errors of federates likewise.
    """
    listen = Address.parse(gather.listen)
    if listen.path or listen.host in ("0.0.0.0", "::"):
        msg = "the address to listen at must be one that other machines can use, got "
        remedy = "Write the name or number of this machine: HOST:PORT."
        raise LinkError(msg + gather.listen, remedy)
    encrypt = not listen.is_local if gather.encrypt is None else gather.encrypt
    with (
        _token(gather.token_file) as secret,
        JoiningFederates(
            source,
            program,
            federation,
            cut,
            options,
            listen=listen,
            secret=secret,
            encrypt=encrypt,
            start_multiple=start_multiple,
            joined=gather.joined,
            restarts=restarts,
        ) as federates,
        watched(program, cut, options, federates.server.probes, at_start) as end,
    ):
        gather.waiting(str(federates.address), cut.names)
        federates.wait_for_all()
        parts = federates.wait()
        end(parts)
    clocks = federates.server.probes.clocks
    result = whole_result(program, cut, options, parts, clocks)
    return result, [part.extra for part in parts]


@contextmanager
def _token(path: Path) -> Iterator[RunSecret]:
    """Return the secret of a file; one that does not exist is there meanwhile only."""
    if os.path.lexists(path):
        yield RunSecret.load(path)
        return
    secret = RunSecret.generate()
    secret.save(path)
    try:
        yield secret
    finally:
        path.unlink(missing_ok=True)


def join_federation(
    address: str,
    token_file: str | os.PathLike[str],
    *,
    name: str = "",
    host: str = "",
    encrypt: bool | None = None,
    patience: float = 60.0,
) -> int:
    """Take part in a run that waits for processes to join; return the exit status.

    It is 0 if the run ended normally, 1 after an error in this process, which the
    waiting process has got, and 3 if another federate failed.

    Args:
        address: Where the run waits: ``HOST:PORT``.
        token_file: The file with its secret.
        name: Which federate; empty: the run decides.
        host: Where other federates reach this process; empty: the address that this
            host has towards the run.
        encrypt: As the run does; None: unless the address is of this machine.
        patience: Seconds that the run may need to be there.

    Raises:
        FederationError: Nothing waits there, it refused this process, or the file is
            not the secret of a run.
    """
    where = Address.parse(address)
    certificate = None
    if encrypt if encrypt is not None else not where.is_local:
        certificate = Certificate()
    limit = time.monotonic() + patience
    _wait_for_file(Path(token_file), limit)
    secret = RunSecret.load(token_file)
    identity = Identity(JOINING, 1, _DIGEST, secret, certificate)
    connection = _connect(where, identity, limit)
    wire = connection.wire
    try:
        mine = host or connection.socket.getsockname()[0]
        _send(wire, pickle.dumps(_Request(name, mine)))
        answer = deserialize(_receive(wire))
        if not isinstance(answer, Job):
            msg = f"joining the run at {address} failed: {answer}"
            raise HandshakeError(Refusal.ROLE, msg, peer="the run")
        threading.Thread(target=_end_with, args=[wire], daemon=True).start()
        return take_part(answer, secret)
    except OSError as error:
        msg = f"the connection to the run at {address} was lost: {error.strerror}"
        raise PeerLostError(msg, peer="the run") from error
    finally:
        wire.stop()


def _wait_for_file(path: Path, limit: float) -> None:
    """Wait until the run has written its secret."""
    while not os.path.lexists(path) and time.monotonic() < limit:
        time.sleep(_RETRY_SECONDS)


def _connect(address: Address, identity: Identity, limit: float) -> Connection:
    expected = Admission(name="the run")
    while True:
        try:
            return connect(
                address, identity, COORDINATOR, expected, purpose=Purpose.JOIN
            )
        except PeerLostError:
            if time.monotonic() >= limit:
                raise
            time.sleep(_RETRY_SECONDS)


def _end_with(wire: PlainWire | TLSWire) -> None:
    """End this process some time after the run has: it should have ended by itself."""
    with suppress(OSError):
        while wire.receive(memoryview(bytearray(1))):
            pass
    time.sleep(_LAST_SECONDS)
    os._exit(_ORPHANED)


_LAST_SECONDS: Final = 30.0
_ORPHANED: Final = 3


def _send(wire: PlainWire | TLSWire, data: bytes) -> None:
    rest = memoryview(_SIZE.pack(len(data)) + data)
    while rest:
        rest = rest[wire.send([rest]) :]


def _receive(wire: PlainWire | TLSWire) -> bytes:
    head = bytearray(_SIZE.size)
    if wire.receive_all([memoryview(head)]) < len(head):
        raise ConnectionResetError(0, "it ended")
    (size,) = _SIZE.unpack(head)
    if size > _MAX_BYTES:
        msg = f"a message for joining must have at most {_MAX_BYTES} bytes, got {size}"
        raise FrameError(msg)
    data = bytearray(size)
    if wire.receive_all([memoryview(data)]) < size:
        raise ConnectionResetError(0, "it ended")
    return bytes(data)
