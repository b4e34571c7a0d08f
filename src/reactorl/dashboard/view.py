# SPDX-License-Identifier: Apache-2.0
"""The dashboard of a run: samples it a few times a second, and serves a page."""

from __future__ import annotations

import selectors
import socket
import threading
import time
from typing import TYPE_CHECKING, Final, Literal, Self, TypeAlias

from reactorl.dashboard.board import Board
from reactorl.dashboard.feed import Feed
from reactorl.dashboard.live import live_page
from reactorl.dashboard.server import Server
from reactorl.dashboard.state import State

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reactorl import Program, Sample, Watch

EVERY: Final = 0.25
"""Shortest interval between two samples, in seconds."""
SELDOM: Final = 200
"""A sample is followed by a pause of at least this many times its processor time, that
is, 0.5 % of a core. Wall-clock time would slow the page down on a busy machine."""
CURVES_EVERY: Final = 1.0
PATIENCE: Final = 1.0
"""Seconds that readers get for the final state."""
Phase: TypeAlias = Literal["running", "ended", "stopped", "failed"]
_ENDS: Final[dict[type | None, Phase]] = {
    None: "ended",
    SystemExit: "ended",
    KeyboardInterrupt: "stopped",
}


class Dashboard:
    """Serves a page that shows a run; a context manager.

    Pass ``watch`` to the run as its ``at_start``. A thread of its own samples counters
    that the run keeps anyway: results are the same with and without it. When the
    ``with`` statement ends, the page keeps its content; port and threads are released.

    Example:
        >>> with Dashboard(elaborate(Main), title="Main") as dashboard:
        ...     print(dashboard.link)
        ...     run(Main, at_start=dashboard.watch)

    Args:
        program: The program, for the diagram.
        title: The heading.
        facts: Names and values below the heading.
        depth: How many levels of reactors are open at first; None: what is readable.
        feed: Reports of the run besides counters.
        clock: Returns seconds, for the time limit of requests.

    Raises:
        OSError: No port is available.
    """

    def __init__(
        self,
        program: Program,
        *,
        title: str,
        facts: Sequence[tuple[str, str]] = (),
        depth: int | None = None,
        feed: Feed | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.feed = Feed() if feed is None else feed
        self._state = State(self.feed)
        self._board = Board()
        page = live_page(program, title=title, facts=facts, depth=depth)
        self._server = Server(self._board, page, clock)
        self._watch: Watch | None = None
        self._first: Sample | None = None
        self._phase: Phase = "running"
        self._note = ""
        self._listening, self._waker = socket.socketpair()
        self._thread = threading.Thread(
            target=self._work, name="reactorl-dashboard", daemon=True
        )
        self._closed = False

    @property
    def link(self) -> str:
        """The address of the page, with its secret."""
        return self._server.link

    def watch(self, watch: Watch) -> None:
        """Start to sample a run."""
        self._first = watch.sample()
        self._watch = watch

    def end(self, phase: Phase, note: str = "") -> None:
        """Set how the run ended; before the ``with`` statement ends."""
        self._phase, self._note = phase, note

    def __enter__(self) -> Self:
        """Start to sample and to serve."""
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Show the final state and stop."""
        if self._phase == "running":
            self._phase = _ENDS.get(kind, "failed")
        self.close()

    def close(self) -> None:
        """Stop, as at the end of the ``with`` statement."""
        if self._closed:
            return
        self._closed = True
        self._waker.send(b"!")
        if self._thread.ident is not None:
            self._thread.join()
        self._server.close(PATIENCE)
        self._waker.close()
        self._listening.close()

    # -- the thread -------------------------------------------------------------------

    def _work(self) -> None:
        curves_at = looked = 0.0
        pause = EVERY
        with selectors.DefaultSelector() as selector:
            selector.register(self._server, selectors.EVENT_READ)
            selector.register(self._listening, selectors.EVENT_READ)
            while True:
                due = looked + pause - time.monotonic()
                ready = {key.fileobj for key, _ in selector.select(max(due, 0.0))}
                if self._listening in ready:
                    self._show(curves=True, work=True, over=True)
                    return
                if self._server in ready:
                    self._server.handle_request()
                began = time.monotonic()
                if began - looked < pause:
                    continue
                curves = began - curves_at >= CURVES_EVERY
                curves_at = began if curves else curves_at
                used = time.thread_time()
                self._show(curves=curves, work=self._board.readers > 0)
                pause = max(EVERY, SELDOM * (time.thread_time() - used))
                looked = time.monotonic()

    def _show(self, *, curves: bool, work: bool, over: bool = False) -> None:
        state = self._state
        first, self._first = self._first, None
        if first is not None:
            state.begin(first)
        state.take(self._watch)
        shown: dict[str, object] = {"now": state.now(self._phase, self._note)}
        if work:
            shown["work"] = state.work()
        if curves:
            shown["charts"] = state.charts()
        log = state.log()
        if log is not None:
            shown["log"] = log
        self._board.show(over=over, **shown)
