# SPDX-License-Identifier: Apache-2.0
"""The process of a federate on a node of a Ray cluster, seen from the driver."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

from reactorl._federation.launch.on_ray.cluster import import_ray
from reactorl._federation.launch.on_ray.keeper import End, Line
from reactorl._federation.launch.process import print_line
from reactorl._federation.link_errors import LinkError

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl._federation.launch.on_ray.keeper import Order

_KILLED_SECONDS: Final = 5.0


class KeptProcess:
    """The process of a federate that a keeper starts.

    Args:
        name: The federate.
        index: Its number.
        host: Its node, for people.
        keeper: The actor.
        order: What it has to start.
        modules: A reference to the modules that the federate needs.
        submit: Called before the first process is started: submits all of them.
        ended: Called by a thread when the process, or its keeper, is gone.
    """

    def __init__(
        self,
        name: str,
        index: int,
        host: str,
        keeper: Any,  # noqa: ANN401 - an actor
        order: Order,
        modules: Any,  # noqa: ANN401 - an object reference
        submit: Callable[[], object],
        ended: Callable[[KeptProcess], object],
    ) -> None:
        self.name = name
        self.index = index
        self.life = 1  # Ray starts all again, or none
        self.host = host
        self.output_error: OSError | None = None
        """Why what it printed could not be written to the streams of this process."""
        self._keeper = keeper
        self._order = order
        self._modules = modules
        self._submit_all = submit
        self._started: Any = None
        self._ended = ended
        self._pid = 0
        self._end: End | None = None
        self._killed = False
        self._silent = False
        self._thread = threading.Thread(
            target=self._watch, name=f"keeper of federate {name}", daemon=True
        )

    def submit(self) -> None:
        """Let the keeper start the process, and do not wait for that."""
        if self._started is None:
            self._started = self._keeper.start.remote(self._order, self._modules)

    def start(self) -> None:
        """Start the process.

        Raises:
            LinkError: It cannot be started.
        """
        ray = import_ray()
        self._submit_all()
        try:
            found: int | str = ray.get(self._started)
        except ray.exceptions.RayError as error:
            raise self._not_started(reason(error)) from error
        if isinstance(found, str):
            raise self._not_started(found)
        self._pid = found
        self._thread.start()

    def _not_started(self, why: str) -> LinkError:
        msg = f"starting federate {self.name} on {self.host} failed: {why.rstrip('.')}"
        remedy = "Check that reactorl is installed there."
        return LinkError(msg, remedy, peer=f"federate {self.name}")

    @property
    def started(self) -> bool:
        """Whether there is, or was, a process."""
        return bool(self._pid)

    @property
    def pid(self) -> int:
        """The process id, on its node."""
        return self._pid

    @property
    def status(self) -> int | None:
        """The exit status; negative: a signal; None: it runs, or its keeper is gone."""
        return None if self._end is None else self._end.status

    @property
    def last_words(self) -> str:
        """The last lines that it wrote to stderr."""
        return "" if self._end is None else self._end.words

    def how_it_ended(self) -> str:
        """Return how it ended, as the end of a sentence."""
        if self._end is None:
            return f"its process {self._pid} on {self.host} still runs"
        return f"{self._end.how} on {self.host}"

    def join(self, timeout: float | None = None) -> bool:
        """Wait for the end of the process; return whether it has ended."""
        if self._killed and timeout is None:
            timeout = _KILLED_SECONDS  # a node that is gone does not answer
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def kill(self) -> None:
        """End the process and its keeper at once."""
        if not self._killed:
            self._killed = True
            import_ray().kill(self._keeper, no_restart=True)

    # -- the thread -----------------------------------------------------------------

    def write_rest(self) -> None:
        """See ``Process``: lines come whole."""

    def _watch(self) -> None:
        ray = import_ray()
        while self._end is None:
            try:
                events = ray.get(self._keeper.events.remote())
            except Exception as error:  # also: this process has left the cluster
                how = f"its process {self._pid} was lost with its keeper: "
                self._end = End(None, how + reason(error))
                break
            for event in events:
                if isinstance(event, Line):
                    self._print(event)
                else:
                    self._end = event
        self._ended(self)

    def _print(self, line: Line) -> None:
        if self._silent:
            return
        try:
            print_line(self.name, line.text, line.stream)
        except BrokenPipeError:
            self._silent = True
        except OSError as error:  # e.g. a full disk, which is raised at the end
            self.output_error = self.output_error or error


def reason(error: BaseException) -> str:
    """Return the reason of an error of Ray, whose texts have many lines, as one."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, BaseException):  # raised by the keeper itself
        return f"{type(cause).__name__}: {cause}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    for line in lines:
        if line.startswith("The actor is dead because "):
            text = line.removeprefix("The actor is dead because ")
            return text.partition(". ")[0].rstrip(".")
    if any("No module named" in line for line in lines):
        return next(line for line in lines if "No module named" in line)
    return lines[0].rstrip(".") if lines else type(error).__name__
