# SPDX-License-Identifier: Apache-2.0
"""The wire of one federate: what it sends over links, and when it gives up."""

from __future__ import annotations

import pickle
import threading
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from reactorl import ReactionError
from reactorl._federation import network
from reactorl._federation.codec import encode
from reactorl._federation.coordinator_server import CoordinatorServer
from reactorl._federation.endpoint import Address
from reactorl._federation.failures import pack_error, unpack_error
from reactorl._federation.federate import Federate
from reactorl._federation.frames import (
    Finished,
    Hello,
    Kept,
    Physical,
    Release,
    Start,
    StopRequest,
)
from reactorl._federation.link_errors import LinkError, PeerLostError
from reactorl._federation.messages import (
    BEFORE_ALL,
    NEVER_ENDS,
    NO_KEY,
    Kind,
    Message,
    Report,
)
from reactorl._federation.network import ABORT, Network
from reactorl._federation.secret import RunSecret
from reactorl.tag import Tag
from tests.federation.networked import ALL, OddError
from tests.federation.pairs import HANG, End, caught, connections, demand

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Wired:
    """A federate of a program, and the other ends of its links."""

    def __init__(self, name: str, index: int = 0, *, keeps: bool = False) -> None:
        program, cut, options = ALL[name].parts()
        self.network = Network(cut, index, keeps=keeps)
        options = replace(options, start_time=0)
        self.federate = Federate(program, cut, index, options, self.network)
        self.coordinator = End("federate head")
        here, there = connections()
        self.coordinator.link.attach(there)
        self.network.hello(here, Hello(0, 1, {}))
        assert self.coordinator.get() == Hello(0, 1, {})
        self.peers: dict[int, End] = {}

    def attach(self, peer: int, received: int = 0) -> End:
        """Connect a new process to the link of a peer."""
        end = self.peers[peer] = End("federate head")
        here, there = connections(received=(0, received))
        if received:
            end.link.restore(sent=0, received=received)
        end.link.attach(there)
        self.network.attach(peer, here)
        return end

    def close(self, *, ran: bool = False) -> None:
        if not ran:  # in a thread, which has closed it
            self.federate.live.close()
        self.network.finish(Finished({}, encode(None)))
        self.network.close(0, timeout=0)
        for end in (self.coordinator, *self.peers.values()):
            end.link.close(timeout=0)


@pytest.fixture
def wired() -> Iterator[Wired]:
    made = Wired("ping-pong")
    made.network.bind(made.federate)
    yield made
    made.close()


def core(kind: Kind, tag: int = 0, value: object = None, peer: int = 1) -> Any:
    """Return a message as the core gives it."""
    return (kind, False, peer, tag, 0, 0, *BEFORE_ALL, NO_KEY, value, None)


def promise(tag: int) -> Message:
    return Message(Kind.PROMISE, tag=Tag(tag))


def report(done: int, taken: int) -> Report:
    return Report(Tag(9), Tag(9), Tag(done), Tag(99), False, taken, (0, 0), (0, 0))  # noqa: FBT003


def test_promises_and_demands_are_said_again_over_a_new_connection(
    wired: Wired,
) -> None:
    first = wired.attach(1)
    wired.federate.say([core(Kind.PROMISE, 1), core(Kind.VALUE, 1, "x")])
    wired.federate.say([core(Kind.DEMAND, 2), core(Kind.PROMISE, 3)])
    sent = first.take(4)
    assert [each.kind for each in sent] == [
        Kind.PROMISE,
        Kind.VALUE,
        Kind.DEMAND,
        Kind.PROMISE,
    ]
    assert (sent[1].value, sent[1].number) == ("x", 1)

    second = wired.attach(1, received=1)
    wired.federate.say([core(Kind.VALUE, 3, "y")])

    assert second.take(2) == [promise(3), demand(2)]  # the latest of each kind
    assert (value := second.get()).value == "y"
    assert value.number == 2
    assert caught(PeerLostError, first.end())
    assert wired.network.error is None


def test_reports_that_say_nothing_new_are_not_sent(wired: Wired) -> None:
    for each in (report(1, 1), report(1, 5), report(2, 6), report(1, 6)):
        wired.network.report(each)
        wired.network.report(each)
    wired.network.request_stop()

    assert wired.coordinator.take(4) == [
        report(1, 1),
        report(2, 6),
        report(1, 6),
        StopRequest(),
    ]


def test_reports_of_short_waits_are_not_sent(
    wired: Wired, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wait that lasts is said again; one that ended by a value is not."""
    monkeypatch.setattr(network, "_QUIET_SECONDS", 1e9)
    say = wired.network.report

    say(report(1, 1))  # nothing was reported before
    say(report(2, 2))
    say(report(3, 3))
    say(report(3, 3))
    say(report(4, 4))
    wired.coordinator.link.put(Message(Kind.FLOOR, tag=Tag(7), at=Tag(7)))
    wired.coordinator.link.flush()
    end = time.monotonic() + HANG
    while not wired.network._was_ordered and time.monotonic() < end:
        time.sleep(0.001)
    say(report(5, 5))  # the coordinator was needed
    say(report(6, 6))
    over = report(7, 7)._replace(next=NEVER_ENDS, inside=True)
    say(over)  # is not said again
    wired.network.request_stop()

    reported = [report(1, 1), report(3, 3), report(5, 5), over]
    assert wired.coordinator.take(5) == [*reported, StopRequest()]


def test_promise_rides_on_a_value_and_is_said_again(wired: Wired) -> None:
    """As a message of its own: values are not sent again over a new connection."""
    first = wired.attach(1)
    ridden = (*core(Kind.VALUE, 1, "x")[:-1], (8, 0, 9, 0))
    wired.federate.say([core(Kind.PROMISE, 0), ridden])
    value = first.take(2)[1]
    assert value.promise == (Tag(8), Tag(9))

    second = wired.attach(1, received=1)

    assert second.get() == Message(Kind.PROMISE, tag=Tag(8), at=Tag(9))


def test_promise_on_a_value_that_comes_twice_is_taken(
    wired: Wired, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new life of its sender may not have known it when it first sent the value."""
    put: list[Any] = []
    session = SimpleNamespace(put=lambda *message: put.append(message))
    monkeypatch.setattr(wired.federate, "live", SimpleNamespace(session=session))
    value = Message(Kind.VALUE, tag=Tag(1), value="x", number=1)

    assert wired.federate.take(1, value)
    assert not wired.federate.take(1, value)
    assert wired.federate.take(1, value._replace(promise=(Tag(8), Tag(9))))

    assert [each[0] for each in put] == [Kind.VALUE, Kind.PROMISE]
    assert put[1][3:5] == (8, 0)


class Counted:
    """Counts how often it is pickled."""

    times = 0

    def __reduce__(self) -> Any:
        type(self).times += 1
        return Counted, ()


def test_value_for_several_federates_is_serialized_once() -> None:
    Counted.times = 0
    wired = Wired("fan-out")
    wired.network.bind(wired.federate)
    ends = [wired.attach(peer) for peer in (1, 2)]
    value = Counted()
    wired.federate.say([core(Kind.VALUE, 0, value, peer) for peer in (1, 2)])

    assert [type(end.get().value) for end in ends] == [Counted, Counted]
    assert Counted.times == 1

    wired.federate.say([core(Kind.VALUE, 1, value)])  # may have changed since
    assert ends[0].get()
    assert Counted.times == 2
    wired.close()


def test_orders_that_arrive_before_the_federate_are_kept_for_it() -> None:
    wired = Wired("ping-pong")
    failure = Message(Kind.FAILURE, tag=Tag(0), key=0)
    wired.coordinator.send(failure, Start(0, {}))
    assert wired.network.wait_for_start() == Start(0, {})

    wired.network.bind(wired.federate)

    assert wired.federate.run() is False  # it ends, because another one has failed
    wired.close()


def test_abort_ends_a_federate_that_waits_for_the_start() -> None:
    wired = Wired("ping-pong")
    wired.coordinator.send(ABORT)

    assert wired.network.wait_for_start() is None
    wired.close()


def test_lost_peer_ends_a_federate_that_waits_for_it(wired: Wired) -> None:
    end = wired.attach(1)
    end.link.lose(PeerLostError("killed"))

    assert wired.federate.run() is False
    error = caught(PeerLostError, wired.network.error)
    assert error.peer == "federate b"


def test_failure_elsewhere_waits_for_what_may_fail_earlier() -> None:
    """It arrives before the values of earlier tags, of which one makes a body fail."""
    wired = Wired("failing", 1)
    wired.network.bind(wired.federate)
    ticker = wired.attach(0)
    wired.coordinator.send(Message(Kind.FAILURE, tag=Tag(4), key=1 << 33))
    ends: list[object] = []

    def work() -> None:
        try:
            ends.append(wired.federate.run())
        except ReactionError as error:
            ends.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    while caught(Report, wired.coordinator.get()).next != Tag(4):
        pass  # now it has taken in the failure, and waits for what comes before
    for tick in range(4):
        late = Message(Kind.LATE, tag=Tag(tick), place=1, at=Tag(tick + 1))
        ticker.link.put_value(late._replace(value=encode(tick + 1)))
        ticker.send(Message(Kind.PROMISE, tag=Tag(tick + 1), at=Tag(tick + 1)))
    thread.join(HANG)

    assert caught(ReactionError, ends[0]).tag == Tag(3)
    while not isinstance(told := wired.coordinator.get(), Message):
        pass
    assert (told.kind, told.tag) == (Kind.FAILURE, Tag(3))
    wired.close(ran=True)


def test_frames_for_others_are_errors(wired: Wired) -> None:
    end = wired.attach(1)
    end.send(Start(0, {}))

    assert wired.federate.run() is False
    error = caught(LinkError, wired.network.error)
    assert "federate b sent a frame that it must not send: Start" in str(error)


def test_farewell_of_a_peer_is_no_error(wired: Wired) -> None:
    end = wired.attach(1)
    end.link.close(timeout=60)

    wired.federate.say([core(Kind.VALUE, 1, "x"), core(Kind.PROMISE, 1)])
    assert wired.network.error is None
    assert end.end() is None


@pytest.mark.parametrize("name", [*ALL])
def test_parts_of_programs_are_equal_in_all_processes(name: str) -> None:
    program, cut, _ = ALL[name].parts()
    again, same, _ = ALL[name].parts()

    assert (program.digest, cut.digest) == (again.digest, same.digest)


def test_errors_that_cannot_be_made_again_keep_their_text() -> None:
    try:
        raise OddError(1, 2)
    except OddError as error:
        packed = pack_error(error)

    assert packed.payload.data == b""
    error = unpack_error(packed, "a")
    assert "federate a failed: " in str(error)
    assert "OddError: 1 and 2" in str(error)
    assert "In federate a:" in error.__notes__[0]


def test_errors_arrive_with_their_cause_and_notes() -> None:
    try:
        try:
            raise KeyError(1)
        except KeyError as cause:
            raise ValueError(2) from cause
    except ValueError as error:
        error.add_note("a note")
        packed = pack_error(error)

    error = unpack_error(pickle.loads(pickle.dumps(packed)), "a")
    assert repr(error) == "ValueError(2)"
    assert error.__notes__ == ["a note"]
    assert repr(error.__cause__) == "KeyError(1)"


# -- federates that begin again --------------------------------------------------------


@pytest.fixture
def keeping() -> Iterator[Wired]:
    made = Wired("ping-pong", keeps=True)
    made.network.bind(made.federate)
    yield made
    made.coordinator.send(Release())
    made.close()


def test_new_life_gets_the_values_of_the_one_before(keeping: Wired) -> None:
    first = keeping.attach(1)
    keeping.federate.say([core(Kind.VALUE, 1, "x"), core(Kind.VALUE, 2, "y")])
    assert [each.value for each in first.take(2)] == ["x", "y"]
    first.link.lose(PeerLostError("killed"))
    assert first.end()
    keeping.federate.say([core(Kind.VALUE, 3, "z"), core(Kind.PROMISE, 4)])
    assert keeping.network.error is None

    second = keeping.attach(1)

    taken = second.take(4)
    assert [each.value for each in taken[:3]] == ["x", "y", "z"]
    assert taken[3] == promise(4)


def test_values_before_a_state_that_is_kept_are_forgotten(keeping: Wired) -> None:
    first = keeping.attach(1)
    keeping.federate.say([core(Kind.VALUE, 1, "x")])
    keeping.network.saved(Tag(1), encode(None))
    keeping.federate.say([core(Kind.VALUE, 2, "y")])
    first.take(2)
    link = keeping.network.links[1]
    assert link.kept_bytes
    before = link.kept_bytes

    for tag in (0, 1):
        keeping.coordinator.send(Kept(Tag(tag)))
    keeping.coordinator.send(Physical())
    keeping.network.physical()  # what was sent before has arrived

    assert link.kept_bytes < before
    assert [number for number, _ in link._kept] == [2]


def test_who_is_done_stays_until_all_are(keeping: Wired) -> None:
    start = Start(0, {"addresses": [None, None]})
    keeping.coordinator.send(start)
    assert keeping.network.wait_for_start() == start
    done = threading.Event()

    def finish() -> None:
        keeping.network.finish(Finished({}, encode(None)))
        done.set()

    threading.Thread(target=finish, daemon=True).start()
    while not isinstance(keeping.coordinator.get(), Finished):
        pass
    assert not done.wait(0.2)  # it waits, however long

    keeping.coordinator.send(Release())

    assert done.wait(HANG)


def test_dead_wire_ends_a_federate_also_if_others_begin_again(keeping: Wired) -> None:
    keeping.attach(1)

    keeping.network.links[1].lose(PeerLostError("no route", wire=True))

    network = keeping.network
    with network._changed:
        assert network._changed.wait_for(lambda: network.error, HANG)
    assert "no route" in str(network.error)


def test_states_are_not_kept_if_a_federate_was_lost_meanwhile(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    program, cut, options = ALL["ping-pong"].parts()
    secret, address = RunSecret.generate(), Address(path=str(tmp_path / "c"))
    server = CoordinatorServer(program, cut, options, secret, address, restarts=1)
    server._saved_lives = [1, 1]
    kept: list[int] = []

    server.keep(Tag(3), 0, lambda: kept.append(1))
    server._lives[1] = 2
    server.keep(Tag(3), 0, lambda: kept.append(2))

    assert kept == [1]
    server.close()
