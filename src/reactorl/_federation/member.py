# SPDX-License-Identifier: Apache-2.0
"""The process of a federate: it joins a run, takes its part, and says how it ended."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Final

from reactorl._federation.codec import encode
from reactorl._federation.endpoint import Address, Listener, connect, is_gone
from reactorl._federation.failures import pack_error
from reactorl._federation.federate import Federate
from reactorl._federation.frames import Finished, Hello
from reactorl._federation.handshake import COORDINATOR, Admission, Identity, Purpose
from reactorl._federation.link_errors import FrameError, HandshakeError, LinkError
from reactorl._federation.network import Network
from reactorl._federation.probes import steady_clock
from reactorl._federation.values import ValueCodec
from reactorl._federation.watch import Watches

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reactorl._federation.certificate import Certificate
    from reactorl._federation.federate import Base
    from reactorl._federation.frames import Failed, Start
    from reactorl._federation.handshake import Connection
    from reactorl._federation.link import Link
    from reactorl._federation.secret import RunSecret
    from reactorl._program.cut import Cut
    from reactorl._program.program import Program
    from reactorl._runtime.options import Options
    from reactorl._runtime.recording import Recording
    from reactorl._runtime.watch import Watch

NOTHING: Final = Finished({"whole": False}, encode(None))
"""The result of a federate that did not get to the end, without an error of its own."""

_LOCAL = ("workers", "start_time", "timing")


def run_digest(cut: Cut, options: Options) -> bytes:
    """Return the SHA-256 of what must be equal in all processes of a run."""
    common = {
        name: each for name, each in asdict(options).items() if name not in _LOCAL
    }
    return hashlib.sha256(f"{cut.digest} {sorted(common.items())}".encode()).digest()


@dataclass(frozen=True, slots=True)
class Membership:
    """How a process takes part in a run.

    Attributes:
        index: Which federate it is.
        coordinator: Where the coordinator listens.
        address: Where this federate listens; port 0 lets the system choose.
        secret: The run's secret.
        life: How often this federate was started, from 1.
        certificate: For encrypted links; None sends everything in clear.
        timeout: Seconds for a handshake, and for a peer to receive the last frames.
        keeps: Whether federates that are lost begin again.
        fixed: Federates that never begin again.
        base: Where this federate begins; None: at the beginning.
        digest: The digest of the run, if the federate is restored from a checkpoint,
            whose program has another one; empty: that of the program.
    """

    index: int
    coordinator: Address
    address: Address
    secret: RunSecret
    life: int = 1
    certificate: Certificate | None = None
    timeout: float = 60.0
    keeps: bool = False
    fixed: frozenset[int] = frozenset()
    base: Base | None = None
    digest: bytes = b""


class Member:
    """One federate of a run over links.

    Args:
        program: The whole program.
        cut: How it is cut.
        options: Options of the run; ``start_time`` comes from the coordinator.
        membership: Where the others are, and who this is.
        replay: Where physical inputs come from.
        record: Where physical inputs go to.
        attend: Called with the federate before it is connected and has its first tag.
        extra: Called after the run; returns what goes with its result.
    """

    def __init__(
        self,
        program: Program,
        cut: Cut,
        options: Options,
        membership: Membership,
        *,
        replay: Recording | None = None,
        record: Recording | None = None,
        attend: Callable[[Federate], object] | None = None,
        extra: Callable[[], object] | None = None,
    ) -> None:
        self._program = program
        self._cut = cut
        self._options = options
        self._me = membership
        self._replay = replay
        self._record = record
        self._attend = attend
        self._federate: Federate | None = None
        self._listener: Listener | None = None
        self._extra = extra
        self._identity = Identity(
            membership.index,
            membership.life,
            membership.digest or run_digest(cut, options),
            membership.secret,
            membership.certificate,
            membership.timeout,
        )
        # Only values of LF programs can be changed after they were sent.
        values = ValueCodec.of(
            program, cut, membership.index, writable=not options.freeze
        )
        keeps = membership.keeps
        base = membership.base
        self._network = Network(
            cut,
            membership.index,
            values,
            keeps=keeps,
            base=base,
            fixed=membership.fixed,
        )
        self._lock = threading.Lock()
        self._early: list[Connection] | None = []
        self._watches = Watches()
        self._closed = False
        self.reported = False
        """Whether the coordinator has got the error that ended the run."""

    def run(self) -> bool:
        """Take part up to the end; return False if another federate failed.

        The coordinator has got the error, or the trace, when this returns or raises.

        Raises:
            HandshakeError: The coordinator did not accept this process.
            LinkError: Another federate, or the coordinator, is gone.
            ReactionError: A body of this federate raised.
        """
        result: Finished | Failed = NOTHING
        status = 1
        try:
            federate = self.join()
            if federate is not None:
                result = self._take_part(federate)
            status = 0
        except BaseException as error:
            result = pack_error(error)
            raise
        finally:
            self.leave(result, status)
        return bool(result.facts["whole"])

    def _take_part(self, federate: Federate) -> Finished:
        whole = federate.run()
        if self._network.error is not None:
            raise self._network.error
        result = federate.result
        if result is not None and self._extra is not None:
            result = replace(result, extra=self._extra())
        return Finished({"whole": whole}, encode(result))

    # -- the parts of a run -----------------------------------------------------------

    def make(
        self, start_time: int, at_start: Callable[[Watch], object] | None = None
    ) -> Federate:
        """Make the federate, before it takes part: a program that is driven."""
        options = replace(self._options, start_time=start_time)
        self._federate = Federate(
            self._program,
            self._cut,
            self._me.index,
            options,
            self._network,
            replay=self._replay,
            record=self._record,
            repeats=self._me.keeps,
            base=self._me.base,
            at_start=at_start,
        )
        if self._attend is not None:
            self._attend(self._federate)
        return self._federate

    def join(self) -> Federate | None:
        """Connect to all others; return the federate, None if the run was aborted.

        Call ``leave`` in any case.

        Raises:
            HandshakeError: The coordinator did not accept this process.
            LinkError: Another federate, or the coordinator, is gone.
        """
        network, me = self._network, self._me
        self._listener = Listener(
            me.address, self._identity, self._admit, self._accept, self._refused
        )
        facts = {"address": str(self._listener.address), "clock": steady_clock()}
        hello = Hello(me.index, me.life, facts)
        expected = Admission(name="the coordinator")
        self._watch(me.coordinator, COORDINATOR, network.coordinator)
        connection = connect(me.coordinator, self._identity, COORDINATOR, expected)
        network.hello(connection, hello)
        start = network.wait_for_start()
        if start is None:
            return None
        driven = self._federate is not None  # who made it closes it
        federate = self._federate or self.make(start.time)
        network.bind(federate)
        try:
            self._connect(start)
            if network.wait_for_links():
                return federate
        except BaseException as error:
            if not driven:
                federate.live.close(error)
            raise
        if not driven:
            federate.live.close()
        return None

    def leave(self, result: Finished | Failed, status: int) -> None:
        """Give the coordinator the result, and end all connections.

        If federates may begin again, this waits until none will.
        """
        self._network.finish(result)
        if self._listener is not None:
            self._listener.close()
        with self._lock:
            early, self._early = self._early or [], None
            self._closed = True
        for connection in early:
            connection.wire.close()
        self.reported = self._network.coordinator.is_connected
        self._network.close(status, timeout=self._me.timeout)
        self._watches.close()

    def _connect(self, start: Start) -> None:
        """Connect to federates with lower numbers; those with higher ones do so.

        Who begins again connects to all that are there; others will connect to it.
        """
        with self._lock:
            early, self._early = self._early or [], None
        for connection in early:
            self._network.attach(connection.rank, connection)
        addresses = start.facts.get("addresses")
        count = len(self._cut.names)
        if not isinstance(addresses, list) or len(addresses) != count:
            msg = f"the coordinator must send {count} addresses, got {addresses!r}"
            raise FrameError(msg, peer="the coordinator")
        for peer, link in self._network.links.items():
            if addresses[peer] is None:
                continue
            if peer > self._me.index and not start.facts.get("again"):
                continue
            address = Address.parse(str(addresses[peer]))
            expected = Admission(1, link.received, link.peer)
            try:
                self._watch(address, peer, link)
                connection = connect(address, self._identity, peer, expected)
            except LinkError as error:
                if self._me.keeps and is_gone(error):
                    continue  # its next life connects to this one
                raise
            self._network.attach(peer, connection)

    def forget(self, sent: Sequence[int]) -> None:
        """Forget values up to these numbers, per federate."""
        self._network.forget(sent)

    def _watch(self, address: Address, peer: int, link: Link) -> None:
        """Notice within 10 s that the wire to another host is dead.

        Before the link is connected: a peer that has its links may end at any time.
        """
        if not address.path:
            expected = Admission(1, 0, link.peer)
            connection = connect(
                address, self._identity, peer, expected, purpose=Purpose.WATCH
            )
            self._watches.add(connection, link)

    # -- called by threads of the listener ------------------------------------------

    def _admit(self, rank: int) -> Admission | None:
        link = self._network.links.get(rank)
        if link is None:
            return None
        return Admission(max(link.life, 1), link.received, link.peer)

    def _accept(self, connection: Connection) -> None:
        with self._lock:
            if self._closed:
                connection.wire.close()
            elif connection.purpose is Purpose.WATCH:
                self._watches.add(connection, self._network.links[connection.rank])
            elif self._early is not None:  # the run has not begun here
                self._early.append(connection)
            else:
                self._attach(connection)

    def _attach(self, connection: Connection) -> None:
        """Use a connection. A life that was refused is old; others must not wait."""
        try:
            self._network.attach(connection.rank, connection)
        except HandshakeError:
            raise
        except LinkError as error:
            self._network.fail(error)
            raise

    def _refused(self, error: LinkError) -> None:
        """Leave strangers alone. Peers of this run report to the coordinator."""
