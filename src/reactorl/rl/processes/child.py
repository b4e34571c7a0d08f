# SPDX-License-Identifier: Apache-2.0
"""What a process with environments does: obey until its parent is gone.

It is started as a program of its own, not forked and not by ``multiprocessing``: it
never imports the user's main module, which therefore needs no guard, and inherits no
locks or threads. Functions come as values (cloudpickle).

A request is one byte that says what, and a pickle; so is the reply, whose pickle is
missing where there is nothing to say, as in most steps.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from contextlib import nullcontext
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, Final

import gymnasium as gym

from reactorl.rl.arrays import Arrays
from reactorl.rl.commands import Reset, Step
from reactorl.rl.company import Company
from reactorl.rl.failures import EnvFailure
from reactorl.rl.hang import HangWatch
from reactorl.rl.processes.memory import SharedMemory
from reactorl.rl.processes.packing import packed, unpacked
from reactorl.rl.slots import make_slots

if TYPE_CHECKING:
    from reactorl.rl.commands import Command
    from reactorl.rl.recipes import Maker
    from reactorl.rl.seat import Infos, Rules, Seat
    from reactorl.rl.slots import Array, Slots, Space

STEP: Final = b"s"  # with the actions that lie in shared memory
OBEY: Final = b"o"  # a command
ONE: Final = b"1"  # a command for one environment
ASSIGN: Final = b"a"  # where results belong
REVIVE: Final = b"r"  # go on for environments that a process took with it
IDLE: Final = -1
"""In the shared cell: no environment is at work."""


@dataclass(frozen=True, slots=True)
class Orders:
    """What a new process is told first."""

    makers: dict[int, Maker]
    rules: Rules
    registry: dict[str, Any]
    """Environments that may not be registered by whoever imports the same modules."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where results belong, and where actions come from."""

    size: int
    observation_space: Space
    action_space: Space
    count: int
    cell: int
    """Which of the shared cells is this process's own."""
    cells: int

    def arrays(self, allocate: Any) -> tuple[Arrays, Slots, Array]:  # noqa: ANN401
        """Cut the memory: results, actions, and who is at work in each process."""
        results = Arrays.of(self.observation_space, self.count, allocate)
        actions = make_slots(self.action_space, self.count, allocate)
        return results, actions, allocate((self.cells,), "int64")


@dataclass(frozen=True, slots=True)
class Loss:
    """How an environment was lost with its process."""

    seed: int | None
    lives: int
    failure: EnvFailure
    at_once: bool
    """Whether its episode ends at once; if not, with its next step."""


class RemoteCompany(Company):
    """The environments of this process, with results and actions in shared memory."""

    def __init__(self, orders: Orders) -> None:
        watch = self._watch = None
        if orders.rules.timeout is not None:
            watch = self._watch = HangWatch(orders.rules.timeout)
        guard = nullcontext if watch is None else watch.guard
        super().__init__(orders.makers, orders.rules, guard)
        self._has_objects = False
        self._cells: Any = None
        self._cell = 0

    def assign(self, place: Place, fd: int) -> None:
        """Take up results and actions in shared memory."""
        memory = SharedMemory(fd, place.size)
        self._arrays, actions, self._cells = place.arrays(memory)
        memory.close()
        self._cell = place.cell
        self._actions = actions.batch()
        self._is_scalar = getattr(self._actions, "ndim", 0) == 1
        self._has_objects = bool(self._arrays.observations.objects(0))
        for seat in self.seats:
            seat.assign(self._arrays)

    def step_shared(self) -> dict[int, Any]:
        """Step all with the actions in shared memory."""
        # An environment may keep its action: it must not change with the memory.
        actions = self._actions.copy()
        cells, cell = self._cells, self._cell
        replies: dict[int, Any] = {}
        for seat in self.seats:
            index = seat.index
            cells[cell] = index
            try:
                reply: Infos | EnvFailure = seat.step(actions[index])
            except EnvFailure as failure:
                reply = failure
            if reply:
                replies[index] = reply
        cells[cell] = IDLE
        return replies

    def one(self, command: Command, seat: Seat) -> Any:  # noqa: ANN401
        """Let one obey, and let the parent see which one is at work."""
        if self._cells is None:
            return super().one(command, seat)
        self._cells[self._cell] = seat.index
        reply = super().one(command, seat)
        self._cells[self._cell] = IDLE
        return reply

    def revive(self, losses: dict[int, Loss]) -> dict[int, Any]:
        """Go on for environments that were lost."""
        replies: dict[int, Any] = dict(self.unmade)
        for seat in self.seats:
            loss = losses[seat.index]
            seat.bequeath(loss.seed, loss.lives)
            if not loss.at_once:
                seat.owe(loss.failure)
                continue
            try:
                replies[seat.index] = seat.cut_off(loss.failure)
            except EnvFailure as failure:
                replies[seat.index] = failure
        return replies

    def objects(self, only: int | None = None) -> dict[int, list[Any]] | None:
        """Return what observations hold besides arrays; None if they never do."""
        if not self._has_objects:
            return None
        slots = self._arrays.observations
        held = {
            seat.index: slots.objects(seat.index)
            for seat in self.seats
            if only in (None, seat.index)
        }
        # A process that took another one's place has not observed anything yet.
        return {i: p for i, p in held.items() if any(part is not None for part in p)}

    def end(self) -> None:
        """Close everything; nobody is there any more to hear about failures."""
        try:
            self.close()
        except EnvFailure as failure:
            print(f"while closing: {failure}", file=sys.stderr)
        if self._watch is not None:
            self._watch.close()


def serve(connection: Connection, door: socket.socket) -> None:
    """Obey requests until there are no more.

    Args:
        connection: Where they come from.
        door: The same as a socket, by which files come.
    """
    orders: Orders = unpacked(connection.recv_bytes())
    for name, spec in orders.registry.items():
        gym.registry.setdefault(name, spec)
    company = RemoteCompany(orders)
    try:
        while True:
            try:
                request = connection.recv_bytes()
            except (EOFError, OSError):
                return
            if request[:1] == ASSIGN:
                _, (fd, *_), _, _ = socket.recv_fds(door, 1, 1)
                company.assign(unpacked(request[1:]), fd)
                connection.send_bytes(b"")
            else:
                connection.send_bytes(_reply(company, request))
    finally:
        company.end()


def _reply(company: RemoteCompany, request: bytes) -> bytes:
    kind, content = request[:1], request[1:]
    only: int | None = None
    observed = True
    if kind == STEP:
        replies = company.step_shared()
    elif kind == REVIVE:
        replies = company.revive(unpacked(content))
    elif kind == ONE:
        only, command = unpacked(content)
        seat = next(seat for seat in company.seats if seat.index == only)
        reply = company.one(command, seat)
        replies = {} if reply is None else {only: reply}
    else:
        command = unpacked(content)
        replies = company.obey(command)
        observed = isinstance(command, Step | Reset)
    objects = company.objects(only) if observed else None
    if not replies and objects is None:
        return b""
    return _packed_reply(replies, objects)


def _packed_reply(replies: dict[int, Any], objects: object) -> bytes:
    try:
        return packed((replies, objects))
    except Exception as error:
        what = f"what it returned cannot be sent to another process: {error}"
        failures = {}
        for index, reply in replies.items():
            try:
                packed(reply)
            except Exception:
                failures[index] = EnvFailure(index, "in a process", 0, "", what)
        return packed(({**replies, **failures}, None))


def main() -> None:
    """Serve the connection whose number is on the command line."""
    # Ctrl-C is the parent's business; without it this process ends anyway.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    fd = int(sys.argv[1])
    with socket.socket(fileno=os.dup(fd)) as door, Connection(fd) as connection:
        serve(connection, door)
