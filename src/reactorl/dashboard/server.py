# SPDX-License-Identifier: Apache-2.0
"""A read-only web server for one page on this machine.

It listens on the loopback interface only. Every request must have the secret that is
part of the link. Requests with a foreign Host header are rejected (DNS rebinding).

Any user of the machine can connect. A connection counts as a reader when its request
has the secret. Until then it has a limited time for its whole request, and the oldest
one is closed if there are too many: strangers cannot take the place of readers.
"""

from __future__ import annotations

import hmac
import io
import secrets
import socket
import socketserver
import threading
import time
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl.dashboard.board import Board
    from reactorl.dashboard.document import Document

LOOPBACK = "127.0.0.1"
MOST_READERS = 32
"""Connections with the secret."""
MOST_STRANGERS = 64
"""Connections whose request is not complete; the oldest is closed for a new one."""
REQUEST_TIMEOUT = 10.0
"""Seconds for the whole request, from the connection on."""
HEARTBEAT = 5.0
"""Seconds without changes after which a keep-alive message finds closed readers."""
_HEADERS = (
    ("Cache-Control", "no-store"),
    ("Connection", "close"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
)


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Listens; its owner accepts connections with ``handle_request``.

    Args:
        board: The state to show.
        page: The page that shows it.
        clock: Returns seconds.
    """

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = MOST_STRANGERS
    timeout = 0.0  # handle_request is called when there is one

    def __init__(
        self,
        board: Board,
        page: Document,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.board = board
        self.clock = clock
        self.page = page
        self.token = secrets.token_urlsafe(24)
        # Both in the order in which connections were accepted; guarded.
        self._strangers: dict[threading.Thread, socket.socket] = {}
        self._readers: dict[threading.Thread, socket.socket] = {}
        self._lock = threading.Lock()
        super().__init__((LOOPBACK, 0), Handler)

    @property
    def port(self) -> int:
        """The host and port."""
        return int(self.server_address[1])

    @property
    def link(self) -> str:
        """The address of the page, with the secret."""
        return f"http://{LOOPBACK}:{self.port}/{self.token}/"

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Answer in a new thread; close the oldest stranger if there are too many."""
        thread = threading.Thread(
            target=self._serve,
            args=(request, client_address),
            name="reactorl-dashboard-reader",
            daemon=True,
        )
        with self._lock:
            if len(self._strangers) >= MOST_STRANGERS:
                oldest = next(iter(self._strangers))
                with suppress(OSError):  # its thread ends, and closes it
                    self._strangers.pop(oldest).shutdown(socket.SHUT_RDWR)
            self._strangers[thread] = request
        thread.start()

    def admit(self) -> bool:
        """Make the connection of this thread a reader, unless there are too many."""
        thread = threading.current_thread()
        with self._lock:
            if len(self._readers) >= MOST_READERS or thread not in self._strangers:
                return False
            self._readers[thread] = self._strangers.pop(thread)
            return True

    def _serve(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        try:
            self.process_request_thread(request, client_address)
        finally:
            with self._lock:
                self._strangers.pop(threading.current_thread(), None)
                self._readers.pop(threading.current_thread(), None)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Ignore errors of connections: closed pages and malformed requests."""

    def close(self, patience: float) -> None:
        """Stop listening; readers get some seconds in all for the final state."""
        self.server_close()
        with self._lock:
            waiting = [*self._readers.items(), *self._strangers.items()]
        deadline = time.monotonic() + patience
        for thread, _ in waiting:
            thread.join(max(0.0, deadline - time.monotonic()))
        for thread, connection in waiting:
            if thread.is_alive():
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        for thread, _ in waiting:
            thread.join(patience)


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Server
    protocol_version = "HTTP/1.1"
    timeout = 10  # for readers that are slow to receive

    def setup(self) -> None:
        """Limit the time of the whole request, not of each of its parts."""
        super().setup()
        self.rfile.close()
        request = _TimedRequest(self.connection, self.server.clock, REQUEST_TIMEOUT)
        self.rfile = io.BufferedReader(request)

    def do_GET(self) -> None:
        """Answer, if the secret is right."""
        port = self.server.port
        ours = [[f"{LOOPBACK}:{port}"], [f"localhost:{port}"]]
        if self.headers.get_all("Host") not in ours:
            self._refuse(HTTPStatus.FORBIDDEN)
            return
        _, token, *rest = *self.path.partition("?")[0].split("/"), ""
        given = token.encode("utf-8", "surrogateescape")
        if not hmac.compare_digest(given, self.server.token.encode()):
            self._refuse(HTTPStatus.FORBIDDEN)
            return
        if not self.server.admit():
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE)
            return
        answers: dict[tuple[str, ...], Callable[[], None]] = {
            ("",): self._page,
            ("", ""): self._page,
            ("events", ""): self._events,
        }
        answers.get(tuple(rest), lambda: self._refuse(HTTPStatus.NOT_FOUND))()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        if name.startswith("do_"):  # any other method
            return lambda: self._refuse(HTTPStatus.METHOD_NOT_ALLOWED)
        raise AttributeError(name)

    def _page(self) -> None:
        page = self.server.page
        self._answer(HTTPStatus.OK, "text/html", page.text, policy=page.policy)

    def _events(self) -> None:
        """Send changes until the final state, or until the reader is gone."""
        self._head(HTTPStatus.OK, "text/event-stream")
        board, seen, over = self.server.board, 0, False
        board.enter()
        try:
            self.wfile.write(b"retry: 2000\n\n")
            while not over:
                seen, news, over = board.news(seen, HEARTBEAT)
                self.wfile.write(b"data: " + news.encode() + b"\n\n")
            self.wfile.write(b"event: over\ndata: {}\n\n")
        finally:
            board.leave()

    # -- answers ----------------------------------------------------------------------

    def _refuse(self, status: HTTPStatus) -> None:
        more = [("Allow", "GET")] if status == HTTPStatus.METHOD_NOT_ALLOWED else []
        text = f"{status.value} {status.phrase}\n"
        self._answer(status, "text/plain", text, more=more)

    def _answer(
        self,
        status: HTTPStatus,
        kind: str,
        text: str,
        *,
        policy: str = "default-src 'none'",
        more: list[tuple[str, str]] | None = None,
    ) -> None:
        body = text.encode(errors="replace")  # names of files need not be UTF-8
        length = ("Content-Length", str(len(body)))
        self._head(status, kind, policy, [length, *(more or [])])
        if self.command != "HEAD":
            self.wfile.write(body)

    def _head(
        self,
        status: HTTPStatus,
        kind: str,
        policy: str = "default-src 'none'",
        more: list[tuple[str, str]] | None = None,
    ) -> None:
        self.close_connection = True
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Security-Policy", f"{policy}; frame-ancestors 'none'")
        for name, value in (*_HEADERS, *(more or [])):
            self.send_header(name, value)
        self.end_headers()

    def send_error(self, code: int, *_: Any, **__: Any) -> None:  # noqa: ANN401
        """Answer a malformed request, without echoing any of it."""
        self.command = self.command or ""
        self.requestline = ""
        self.request_version = self.protocol_version
        self._refuse(HTTPStatus(code))

    def version_string(self) -> str:
        """Return the server's name, without versions."""
        return "reactorl"

    def log_message(self, *_: object) -> None:
        """Log nothing: requests contain the secret."""


class _TimedRequest(io.RawIOBase):
    """Reads from a connection until a deadline, however often something arrives."""

    def __init__(
        self, connection: socket.socket, clock: Callable[[], float], seconds: float
    ) -> None:
        self._connection = connection
        self._clock = clock
        self._deadline = clock() + seconds
        self._patience = connection.gettimeout()

    def readable(self) -> bool:
        """Return that this can be read."""
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401
        """Read what has arrived, or wait for it until the deadline."""
        left = self._deadline - self._clock()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        try:
            return self._connection.recv_into(buffer)
        finally:
            self._connection.settimeout(self._patience)
