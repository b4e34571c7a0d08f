# SPDX-License-Identifier: Apache-2.0
"""Who gets an answer from a dashboard, and that nothing is left of it."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from reactorl import LogicalAction, Reactor, elaborate, param, reaction, run, startup
from reactorl.dashboard import Dashboard
from reactorl.dashboard.server import MOST_READERS, MOST_STRANGERS, REQUEST_TIMEOUT
from reactorl.dashboard.state import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reactorl import Watch


class Count(Reactor):
    """Counts to a number."""

    to: int = param(5)
    next = LogicalAction[None]()

    def setup(self) -> None:
        self.count = 0

    @reaction(startup, next, effects=[next])
    def step(self) -> None:
        self.count += 1
        if self.count < self.to:
            self.next.schedule()


@pytest.fixture
def dashboard(capfd: pytest.CaptureFixture[str]) -> Iterator[Dashboard]:
    with Dashboard(elaborate(Count), title="Count") as made:
        yield made
    said = capfd.readouterr()
    assert made.link.split("/")[3] not in said.out + said.err


def ask(
    dashboard: Dashboard,
    path: str | None = None,
    *,
    method: str = "GET",
    host: str | None = None,
) -> http.client.HTTPResponse:
    """Return the answer; by default to the right question."""
    _, _, place, token, _ = dashboard.link.split("/")
    connection = http.client.HTTPConnection(place, timeout=60)
    path = f"/{token}/" if path is None else path.replace("TOKEN", token)
    connection.putrequest(method, path, skip_host=True)
    if host != "":
        connection.putheader("Host", host or place)
    connection.endheaders()
    return connection.getresponse()


def test_request_with_the_secret_gets_the_page(dashboard: Dashboard) -> None:
    answer = ask(dashboard)

    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    page = answer.read().decode()
    assert page.startswith("<!DOCTYPE html>")
    assert "<title>Count - ReactoRL</title>" in page


def test_headers_keep_others_out(dashboard: Dashboard) -> None:
    headers = ask(dashboard).headers
    policy = headers["Content-Security-Policy"]

    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert "connect-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Server"] == "reactorl"
    assert not [name for name in headers if name.lower().startswith("access-control")]


@pytest.mark.parametrize(
    "path",
    ["/", "/events", "/wrong/", "/wrong/events", "/TOKENx/", "/x/TOKEN/", "*"],
)
def test_without_the_token_there_is_nothing(dashboard: Dashboard, path: str) -> None:
    answer = ask(dashboard, path)

    assert answer.status == 403
    assert answer.read() == b"403 Forbidden\n"


@pytest.mark.parametrize("path", ["/TOKEN/x", "/TOKEN/events/x", "/TOKEN/../x"])
def test_there_are_no_other_pages(dashboard: Dashboard, path: str) -> None:
    assert ask(dashboard, path).status == 404


@pytest.mark.parametrize(
    "method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE", "NONSENSE"]
)
@pytest.mark.parametrize("path", ["/", "/TOKEN/", "/TOKEN/events"])
def test_nothing_can_be_sent(dashboard: Dashboard, method: str, path: str) -> None:
    answer = ask(dashboard, path, method=method)

    assert answer.status == 405
    assert answer.headers["Allow"] == "GET"


@pytest.mark.parametrize("host", ["", "evil.example", "evil.example:80", "127.0.0.1"])
def test_another_name_for_this_machine_is_rejected(
    dashboard: Dashboard, host: str
) -> None:
    assert ask(dashboard, host=host).status == 403


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET <script> HTTP/1.1 x\r\n\r\n", b"400"),
        (b"GET /\xff\xe2\x80\xa8/ HTTP/1.1\r\nHost: HOST\r\n\r\n", b"403"),
        (b"GET / HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n\r\n", b"403"),
    ],
)
def test_nonsense_is_rejected(dashboard: Dashboard, sent: bytes, status: bytes) -> None:
    place = dashboard.link.split("/")[2]
    address = ("127.0.0.1", int(place.split(":")[1]))
    with socket.create_connection(address, timeout=60) as connection:
        connection.sendall(sent.replace(b"HOST", place.encode()))
        answer = connection.makefile("rb").read()

    assert answer.startswith(b"HTTP/1.1 " + status + b" ")
    assert b"script>" not in answer


def test_it_listens_on_the_loopback_interface_only(dashboard: Dashboard) -> None:
    assert dashboard.link.startswith("http://127.0.0.1:")
    address = dashboard._server.socket.getsockname()
    assert address[0] == "127.0.0.1"
    assert address[1] != 0


def test_two_dashboards_have_nothing_in_common(dashboard: Dashboard) -> None:
    with Dashboard(elaborate(Count), title="another") as other:
        ours, theirs = dashboard.link.split("/"), other.link.split("/")
        assert ours[2] != theirs[2]
        assert ours[3] != theirs[3]
        assert len(ours[3]) >= 32
        assert ask(other, f"/{ours[3]}/").status == 403


def test_readers_get_the_last_state_and_the_end() -> None:
    with Dashboard(elaborate(Count), title="Count") as dashboard:
        answer = ask(dashboard, "/TOKEN/events")
        assert answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        assert answer.readline() == b"retry: 2000\n"  # it is being served
        run(Count(to=50), fast=True, at_start=dashboard.watch)
        dashboard.feed.note("one\ntwo")
    events = answer.read().decode().strip().split("\n\n")

    *states, end = events
    assert end == "event: over\ndata: {}"
    whole: dict[str, object] = {}
    for state in states:
        whole |= json.loads(state.removeprefix("data: "))
    assert whole["now"]["phase"] == "ended"  # type: ignore[index]
    assert ["Tags", "51"] in whole["now"]["tiles"]  # type: ignore[index]
    assert [text for _, text in whole["log"]] == ["one", "two"]  # type: ignore[attr-defined]


def test_looks_that_wait_for_a_processor_do_not_let_the_page_stand_still(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    take, looks = State.take, threading.Semaphore(0)

    def wait_and_take(state: State, watch: Watch | None) -> None:
        time.sleep(0.5)  # with 200 such pauses after it, the next look is 100 s away
        take(state, watch)
        looks.release()

    monkeypatch.setattr(State, "take", wait_and_take)
    with Dashboard(elaborate(Count), title="Count"):
        for _ in range(3):
            assert looks.acquire(timeout=60)


def test_nothing_is_left_of_it() -> None:
    before = threading.active_count()
    with Dashboard(elaborate(Count), title="Count") as dashboard:
        port = int(dashboard.link.split("/")[2].split(":")[1])
        readers = [ask(dashboard, "/TOKEN/events") for _ in range(3)]
        # A connection without a request.
        silent = socket.create_connection(("127.0.0.1", port), timeout=10)
        run(Count, fast=True, at_start=dashboard.watch)

    assert threading.active_count() == before
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=10)
    for reader in readers:
        assert reader.read().endswith(b"event: over\ndata: {}\n\n")
    silent.close()


def test_there_is_a_limit_to_connections(dashboard: Dashboard) -> None:
    readers = [ask(dashboard, "/TOKEN/events") for _ in range(MOST_READERS)]
    assert ask(dashboard).status == 503
    for reader in readers:
        reader.close()


def test_strangers_do_not_take_the_place_of_readers(dashboard: Dashboard) -> None:
    strangers = [connect(dashboard) for _ in range(2 * MOST_STRANGERS)]
    for stranger in strangers[MOST_STRANGERS:]:
        stranger.sendall(b"G")  # a request that does not continue

    assert ask(dashboard).status == 200
    assert strangers[0].recv(1) == b""  # the oldest were closed
    for stranger in strangers:
        stranger.close()


def test_readers_stay_when_strangers_come(dashboard: Dashboard) -> None:
    reader = ask(dashboard, "/TOKEN/events")
    strangers = [connect(dashboard) for _ in range(2 * MOST_STRANGERS)]
    assert ask(dashboard).status == 200  # all have been accepted

    dashboard.close()

    assert reader.read().endswith(b"event: over\ndata: {}\n\n")
    for stranger in strangers:
        stranger.close()


def test_slow_requests_end_at_a_deadline() -> None:
    now = [0.0]
    with Dashboard(elaborate(Count), title="Count", clock=lambda: now[0]) as dashboard:
        slow = connect(dashboard)
        for byte in b"GET /":
            slow.sendall(bytes([byte]))  # so that no receive takes long
            assert ask(dashboard).status == 200
        now[0] = REQUEST_TIMEOUT
        slow.sendall(b"x")

        with suppress(ConnectionResetError):  # closed before it was received
            assert slow.recv(1) == b""
        slow.close()


def connect(dashboard: Dashboard) -> socket.socket:
    port = int(dashboard.link.split("/")[2].split(":")[1])
    return socket.create_connection(("127.0.0.1", port), timeout=60)


@pytest.mark.parametrize(
    ("error", "phase"),
    [(None, "ended"), (SystemExit, "ended"), (KeyboardInterrupt, "stopped"),
     (ValueError, "failed")],
)  # fmt: skip
def test_how_it_ended(error: type[BaseException] | None, phase: str) -> None:
    dashboard = Dashboard(elaborate(Count), title="Count")
    dashboard.__enter__()
    dashboard.__exit__(error)
    _, state, over = dashboard._board.news(0, 0)

    assert json.loads(state)["now"]["phase"] == phase
    assert over
