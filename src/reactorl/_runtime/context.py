# SPDX-License-Identifier: Apache-2.0
"""What running reactors can query: time, deadlines, and the end of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl._runtime.federated import unexpected_stop
from reactorl.errors import ReactorlError
from reactorl.tag import Tag, nanoseconds

if TYPE_CHECKING:
    from reactorl import _core
    from reactorl._decl.reactor import Reactor
    from reactorl._program.program import Program
    from reactorl._runtime.federated import Federated
    from reactorl._runtime.recording import Tape


class RunContext:
    """One per run, shared by all its reactors."""

    def __init__(
        self,
        program: Program,
        session: _core.Session,
        tape: Tape,
        seed: int,
        federated: Federated | None = None,
    ) -> None:
        self.run_seed = seed
        self._program = program
        self._session = session
        self._tape = tape
        self._federated = federated
        self.instances: list[Reactor] = []

    def tag(self) -> Tag:
        """Return the current tag, absolute."""
        return Tag(*self._session.tag())

    def start_time(self) -> int:
        """Return the time of the first tag."""
        return self._session.start_time()

    def physical_time(self) -> int:
        """Return the physical clock; a replay gives what the recorded run read."""
        start = self._session.start_time()
        elapsed = self._session.physical_time() - start
        return start + self._tape.read_clock(self._session.running(), elapsed)

    def request_stop(self) -> None:
        """Make the next microstep the final tag."""
        if self._federated is not None:
            running = self._session.running()
            if running < 0:  # another thread: no tag is known that is next for all
                self._federated.port.request_stop()
                return
            if not self._federated.part.may_stop:
                raise unexpected_stop(self._program, running)
        self._session.request_stop()

    def check_deadline(self, invoke_handler: bool) -> bool:  # noqa: FBT001
        """Return whether the running reaction is late; optionally run its handler."""
        running = self._session.running()
        if running < 0:
            return False
        deadline = self._session.deadline(running)
        if deadline < 0:
            return False
        due = self._session.tag()[0] + deadline
        if deadline > 0 and self.physical_time() <= due:
            return False
        node = self._program.reactions[running]
        if invoke_handler and node.handler is not None:
            if not callable(node.handler):
                msg = "a native deadline handler cannot run inside of a body in Python"
                raise ReactorlError(
                    msg, node.where, "Call check_deadline(invoke_handler=False)."
                )
            node.handler(self.instances[node.reactor])
        return True

    def update_deadline(self, deadline: int) -> None:
        """Change the running reaction's deadline."""
        running = self._session.running()
        if running < 0:
            msg = "update_deadline() must be called in the body of a reaction"
            raise RuntimeError(msg)
        if deadline < 0:
            msg = f"deadline must not be negative, got {deadline} ns"
            raise ValueError(msg)
        self._session.change_deadline(running, nanoseconds(deadline))
