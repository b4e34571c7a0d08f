# SPDX-License-Identifier: Apache-2.0
"""Federations over real links: threads of one process, and real processes."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from reactorl import ReactionError, run
from reactorl._federation.certificate import Certificate
from reactorl._federation.coordinator_server import CoordinatorServer
from reactorl._federation.endpoint import Address
from reactorl._federation.link_errors import (
    CodecError,
    HandshakeError,
    LinkError,
    PeerLostError,
    Refusal,
)
from reactorl._federation.member import Member, Membership
from reactorl._federation.parts import whole_trace
from reactorl._federation.secret import RunSecret
from reactorl.tag import Tag
from reactorl.testing import assert_same_trace
from reactorl.trace.text import digest
from tests.federation.networked import ALL, CASES, ENDLESS, FAILURES, Case
from tests.federation.pairs import HANG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reactorl.trace import Trace

# Real sockets and processes. A hang on 3.14t has no known cause; it did not come
# again in 22 runs of all of these, beside a load of 9 to 18 on two cores.
pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


@pytest.fixture
def directory() -> Iterator[Path]:
    """A private directory with a short path: those of sockets are limited."""
    path = Path(tempfile.mkdtemp(prefix="rl-"))
    yield path
    left = [each.name for each in path.iterdir()]
    shutil.rmtree(path)
    assert left == [], "files of sockets are left"


def alone(case: Case) -> Trace:
    """Return the trace of one process."""
    options = {"seed": 5, "workers": 1, "fast": True, "trace": True, **case.options}
    return run(case.main, **options).trace


class Federates:
    """A federation: its coordinator, and members as threads or processes."""

    def __init__(
        self, name: str, directory: Path, kind: str = "unix", **options: Any
    ) -> None:
        self.kind = kind
        self.name = name
        self.case = ALL[name]
        self.directory = directory
        self.secret = RunSecret.generate()
        self.program, self.cut, self.options = self.case.parts()
        self.server = CoordinatorServer(
            self.program,
            self.cut,
            self.options,
            self.secret,
            self.address("coordinator"),
            window=self.case.window,
            certificate=self.certificate(),
            patience=options.pop("patience", HANG),
        )
        self.threads: list[threading.Thread] = []
        self.children: list[subprocess.Popen[bytes]] = []
        self.ends: dict[int, object] = {}
        """What the members that are threads returned or raised."""

    def address(self, name: str) -> Address:
        if self.kind == "unix":
            return Address(path=str(self.directory / name))
        return Address(host="127.0.0.1")  # the system chooses a port

    def certificate(self) -> Certificate | None:
        return Certificate() if self.kind == "tls" else None

    def member(self, index: int, **changes: Any) -> Member:
        membership = Membership(
            index,
            self.server.address,
            self.address(f"federate-{index}"),
            changes.pop("secret", self.secret),
            certificate=self.certificate(),
        )
        parts = {"program": self.program, "cut": self.cut, "options": self.options}
        return Member(**{**parts, **changes}, membership=membership)

    def start_threads(self) -> None:
        for index in range(len(self.cut.names)):
            thread = threading.Thread(target=self._take_part, args=[index], daemon=True)
            thread.start()
            self.threads.append(thread)

    def _take_part(self, index: int) -> None:
        try:
            self.ends[index] = self.member(index).run()
        except BaseException as error:
            self.ends[index] = error

    def start_processes(self) -> None:
        for index in range(len(self.cut.names)):
            reader, writer = os.pipe()
            child = subprocess.Popen(
                [sys.executable, "-m", "tests.federation.federate_process",
                 self.name, str(index), str(self.directory), str(reader)],
                pass_fds=[reader],
                cwd=ROOT,
                stderr=subprocess.DEVNULL,
            )  # fmt: skip
            os.close(reader)
            self.children.append(child)
            self.secret.send(writer)

    def run(self) -> Trace:
        try:
            parts = self.server.run()
        finally:
            for thread in self.threads:
                thread.join(HANG)
                assert not thread.is_alive()
        trace = whole_trace(self.program, self.cut, parts)
        assert trace is not None
        return trace

    def wait_until_running(self) -> None:
        """Wait until all take part and one has done some tags."""
        server = self.server
        reports = server._coordinator.reports

        def running() -> bool:
            done = [report.done for report in reports.values()]
            return len(done) == len(self.cut.names) and max(done) > Tag(10)

        with server._changed:
            assert server._changed.wait_for(running, HANG)

    def statuses(self) -> list[int]:
        """Return the exit statuses of the processes, which end by themselves."""
        return [child.wait(HANG) for child in self.children]

    def end(self) -> None:
        self.server.close()
        for child in self.children:
            child.kill()
            child.wait(HANG)
        for thread in self.threads:
            thread.join(HANG)


@pytest.fixture
def federation(directory: Path) -> Iterator[Callable[..., Federates]]:
    made: list[Federates] = []

    def make(name: str, **options: Any) -> Federates:
        made.append(Federates(name, directory, **options))
        return made[-1]

    yield make
    for each in made:
        each.end()


# -- threads ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_threads_give_the_trace_of_one_process(name: str, federation: Any) -> None:
    expected = alone(ALL[name])
    before = threading.active_count()
    federates = federation(name)
    federates.start_threads()

    trace = federates.run()

    assert_same_trace(trace, expected)
    assert digest(trace.tags) == digest(expected.tags)
    assert federates.ends == dict.fromkeys(range(len(federates.cut.names)), True)
    federates.end()
    for thread in threading.enumerate():
        if thread.name.startswith(("link", "listener", "handshake")):
            thread.join(HANG)
    assert threading.active_count() <= before


@pytest.mark.parametrize("kind", ["tcp", "tls"])
@pytest.mark.parametrize("name", ["fan-out", "stop"])
def test_network_sockets_give_the_trace_of_one_process(
    name: str, kind: str, federation: Any
) -> None:
    federates = federation(name, kind=kind)
    federates.start_threads()

    assert_same_trace(federates.run(), alone(ALL[name]))


@pytest.mark.parametrize("name", FAILURES)
def test_threads_raise_the_error_of_one_process(name: str, federation: Any) -> None:
    federates = federation(name)
    federates.start_threads()

    same_error(ALL[name], federates.run)

    raised = [end for end in federates.ends.values() if isinstance(end, Exception)]
    assert raised
    assert True not in federates.ends.values()


def same_error(case: Case, federated: Callable[[], object]) -> None:
    """Compare the error of a federation with that of one process."""
    with pytest.raises(Exception) as one:  # noqa: PT011
        alone(case)
    with pytest.raises(Exception) as parts:  # noqa: PT011
        federated()

    expected, found = one.value, parts.value
    assert type(found) is type(expected)
    assert str(found) == str(expected)
    assert found.args == expected.args
    cause = found.__cause__
    if case is ALL["failing"]:
        assert isinstance(found, ReactionError)
        assert isinstance(cause, ValueError)
        assert "In federate a" in cause.__notes__[0]
        assert "in fail" in cause.__notes__[0]  # its traceback
    elif case is ALL["failing oddly"]:
        assert cause is None  # cannot be made again
        assert "OddError: 1 and 2" in found.__notes__[-1]


def test_value_that_cannot_be_pickled_ends_the_run(federation: Any) -> None:
    federates = federation("unsendable")
    federates.start_threads()

    with pytest.raises(CodecError, match="serializing a value of type generator"):
        federates.run()


@pytest.mark.parametrize("begun", [False, True])
def test_program_can_be_stopped_from_outside(begun: bool, federation: Any) -> None:  # noqa: FBT001
    federates = federation("endless")
    if begun:
        federates.start_threads()
        federates.wait_until_running()
        federates.server.request_stop()
    else:
        federates.server.request_stop()
        federates.start_threads()

    trace = federates.run()

    final = trace.tags[-1].tag
    timed = Case(ALL["endless"].main, {}, {"timeout": final.time})
    expected = [tag for tag in alone(timed).tags if tag.tag < final]
    assert [tag for tag in trace.tags if tag.tag < final] == expected


# -- who does not take part ------------------------------------------------------------


def test_federates_that_do_not_connect_are_named(federation: Any) -> None:
    federates = federation("stop", patience=0.5)

    with pytest.raises(LinkError, match="did not connect within") as end:
        federates.run()
    assert all(name in end.value.what for name in federates.cut.names)


def test_other_options_or_secrets_are_refused(federation: Any) -> None:
    federates = federation("stop")
    other = ALL["stop, two workers"].parts()[2]
    assert federates.member(0, options=other)  # workers may differ

    for changes, reason in (
        ({"options": CASES["ping-pong"].parts()[2]}, Refusal.DIGEST),
        ({"secret": RunSecret.generate()}, Refusal.SECRET),
    ):
        with pytest.raises(HandshakeError) as refused:
            federates.member(0, **changes).run()
        assert refused.value.reason is reason


# -- processes -------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_processes_give_the_trace_of_one_process(name: str, federation: Any) -> None:
    expected = alone(ALL[name])
    federates = federation(name)
    federates.start_processes()

    trace = federates.run()

    assert_same_trace(trace, expected)
    assert digest(trace.tags) == digest(expected.tags)
    assert federates.statuses() == [0] * len(federates.cut.names)


@pytest.mark.parametrize("name", FAILURES)
def test_processes_raise_the_error_of_one_process(name: str, federation: Any) -> None:
    federates = federation(name)
    federates.start_processes()

    same_error(ALL[name], federates.run)

    statuses = federates.statuses()
    assert 1 in statuses
    assert 0 not in statuses


@pytest.mark.parametrize("name", ENDLESS)
@pytest.mark.parametrize("victim", [0, 1])
def test_killed_process_is_named_and_no_other_goes_on(
    name: str, victim: int, federation: Any
) -> None:
    federates = federation(name)
    federates.start_processes()
    killer = threading.Thread(target=kill_one, args=[federates, victim], daemon=True)
    killer.start()
    names = federates.cut.names

    with pytest.raises(PeerLostError) as lost:
        federates.run()

    killer.join(HANG)
    assert lost.value.peer == f"federate {names[victim]}"
    assert re.match(
        rf"the connection to federate {names[victim]} was lost: .*; "
        r"the last tag that it reported is \(\d+, 0\)$",
        lost.value.what,
    )
    for index, status in enumerate(federates.statuses()):
        # 1: it has missed another one itself; 3: the coordinator said so.
        assert status in ((-signal.SIGKILL,) if index == victim else (1, 3))
    (federates.directory / f"federate-{victim}").unlink()  # as a launcher does


def kill_one(federates: Federates, victim: int) -> None:
    federates.wait_until_running()
    federates.children[victim].kill()


@pytest.mark.parametrize("victim", [0, 2])
def test_process_that_is_killed_before_the_run_begins_is_named(
    victim: int, federation: Any
) -> None:
    federates = federation("endless chain")
    federates.start_processes()
    name = federates.cut.names[victim]
    child = federates.children[victim]
    child.kill()
    child.wait(HANG)
    federates.server.lost(victim, "its process ended with signal 9")

    with pytest.raises(PeerLostError, match=f"federate {name} was lost") as lost:
        federates.run()

    assert lost.value.peer == f"federate {name}"
    federates.end()
    for each in federates.directory.iterdir():
        each.unlink()


def test_federates_end_when_they_lose_the_coordinator(federation: Any) -> None:
    federates = federation("endless chain")
    federates.start_processes()
    ends: list[BaseException] = []

    def serve() -> None:
        try:
            federates.run()
        except BaseException as error:
            ends.append(error)

    server = threading.Thread(target=serve, daemon=True)
    server.start()
    federates.wait_until_running()
    # All at once: who loses one of them ends, and so do the others.
    wires = [link._attached._wire for link in federates.server._links if link._attached]
    assert len(wires) == len(federates.cut.names)
    for wire in wires:
        wire.stop()

    # 1: the process saw it itself; 3: the coordinator, which lives, was faster.
    assert set(federates.statuses()) <= {1, 3}
    server.join(HANG)
    assert isinstance(ends[0], PeerLostError)
