# SPDX-License-Identifier: Apache-2.0
"""What a process with environments does: obey until its parent is gone.

It is started as a program of its own, not forked and not by ``multiprocessing``: it
never imports the user's main module, which therefore needs no guard, and inherits no
locks or threads. Functions come as values (cloudpickle).
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import traceback
import warnings
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

import gymnasium as gym

from reactorl.rl.envs.commands import Answer, Reset, Step
from reactorl.rl.envs.errors import EnvError
from reactorl.rl.envs.process.protocol import (
    ASSIGN,
    CLOSED,
    IDLE,
    ONE,
    REVIVE,
    STEP,
    Orders,
)
from reactorl.rl.envs.process.serialization import packed, unpacked
from reactorl.rl.envs.process.shared_memory import SharedMemory
from reactorl.rl.envs.shard import EnvShard
from reactorl.rl.envs.sub_env import Rules
from reactorl.rl.envs.timeout import HangWatch, no_guard

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl.rl.envs.commands import Actions, Command
    from reactorl.rl.envs.process.protocol import Loss, Place, Progress
    from reactorl.rl.envs.sub_env import Infos, SubEnv
    from reactorl.rl.envs.timeout import Guard


class ProcessShard(EnvShard):
    """The environments of this process, with results and actions in shared memory."""

    def __init__(self, orders: Orders) -> None:
        self._watch: HangWatch | None = None
        guard: Callable[[], Guard] = no_guard
        if orders.rules.timeout is not None:
            # Who cannot be broken off is ended by the parent, together with the rest.
            self._watch = HangWatch(orders.rules.timeout, tells=False)
            guard = self._watch.guard
        super().__init__(orders.makers, orders.rules, guard)
        self._has_objects = False
        self._progress: Progress | None = None
        self._cell = 0

    def assign(self, place: Place, fd: int) -> None:
        """Take up results and actions in shared memory."""
        memory = SharedMemory(fd, place.size)
        cut = place.cut(memory)
        memory.close()
        self._progress = cut.progress
        self._cell = place.cell
        if cut.results is not None and cut.actions is not None:
            self._arrays = cut.results
            self._actions = cut.actions.batch()
            self._has_objects = bool(self._arrays.observations.objects(0))
            for seat in self.seats:
                seat.assign(self._arrays)

    def step_shared(self, place: int) -> dict[int, Any]:
        """Step all with the actions in shared memory; observations land at a place."""
        self.land(place)
        # An environment may keep its action: it must not change with the memory.
        return self.step(self._actions.copy())

    def step(self, actions: Actions) -> dict[int, Any]:
        """Step all, and let the parent see which one is at work."""
        assert self._progress is not None
        cells, cell = self._progress.cells, self._cell
        steps, lives = self._progress.steps, self._progress.lives
        replies: dict[int, Any] = {}
        for seat in self.seats:
            index = seat.index
            cells[cell] = index
            try:
                reply: Infos | EnvError = seat.step(actions[index])
            except EnvError as failure:
                reply = failure
            steps[index] = seat.steps
            if reply:
                replies[index] = reply
                lives[index] = seat.lives
        cells[cell] = IDLE
        return replies

    def one(self, command: Command, seat: SubEnv) -> Any:  # noqa: ANN401
        """Let one obey, and let the parent see which one is at work."""
        progress = self._progress
        if progress is None:
            return _ready_to_go(super().one(command, seat))
        progress.cells[self._cell] = seat.index
        reply = super().one(command, seat)
        progress.steps[seat.index] = seat.steps
        progress.lives[seat.index] = seat.lives
        progress.cells[self._cell] = IDLE
        return _ready_to_go(reply)

    def revive(self, losses: dict[int, Loss]) -> dict[int, Any]:
        """Go on for environments that were lost."""
        replies: dict[int, Any] = dict(self.unmade)
        for seat in self.seats:
            loss = losses[seat.index]
            seat.bequeath(loss.seed, loss.lives, loss.steps, loss.last)
            seat.owe(loss.failure, is_over=loss.is_over)
            if not loss.at_once:
                continue
            try:
                replies[seat.index] = seat.go_on()
            except EnvError as failure:
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

    def without_objects_that_stay(
        self, replies: dict[int, Any], objects: dict[int, list[Any]]
    ) -> tuple[dict[int, Any], dict[int, list[Any]]]:
        """Say whose replies or observations cannot be sent to another process."""
        sent: dict[int, list[Any]] = {}
        told = dict(replies)
        for seat in self.seats:
            index = seat.index
            try:
                packed((replies.get(index), objects.get(index)))
            except Exception as error:
                what = f"what it returned cannot be sent to another process: {error}"
                told[index] = EnvError(index, seat.name, seat.steps, "", what)
            else:
                if index in objects:
                    sent[index] = objects[index]
        return told, sent

    def end(self, connection: Connection) -> None:
        """Close everything; the parent may still hear what is wrong with that."""
        try:
            self.close()
        except EnvError as failure:
            with suppress(OSError):
                connection.send_bytes(CLOSED + packed(failure))
        if self._watch is not None:
            self._watch.close()


def _ready_to_go(reply: Any) -> Any:  # noqa: ANN401
    """Return a reply whose error, if it has one, can be made again elsewhere."""
    if not isinstance(reply, Answer) or reply.error is None:
        return reply
    error = reply.error
    trace = "".join(traceback.format_exception(error))
    try:
        unpacked(packed(error))
    except Exception:
        plain = RuntimeError(f"{type(error).__name__}: {error}")
        for note in getattr(error, "__notes__", ()):
            plain.add_note(note)
        error = plain
    error.add_note(f"Its own traceback:\n{trace.rstrip()}")
    return Answer(None, error)


def serve(connection: Connection, door: socket.socket) -> None:
    """Obey requests until there are no more.

    Args:
        connection: Where they come from.
        door: The same as a socket, by which files come.
    """
    orders = _received_orders(connection.recv_bytes())
    for name, spec in orders.registry.items():
        gym.registry.setdefault(name, spec)
    # A module that registers environments may be imported after its entries came.
    again = ".*Overriding environment .* already in registry"
    warnings.filterwarnings("ignore", again, UserWarning)
    company = ProcessShard(orders)
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
        company.end(connection)


def _received_orders(request: bytes) -> Orders:
    """Return the orders; if they make no sense here, those that say so."""
    indices, orders = unpacked(request)
    try:
        return unpacked(orders)  # type: ignore[no-any-return]
    except Exception as error:
        reason = error

    def explain() -> gym.Env[Any, Any]:
        msg = (
            "the function that makes it does not arrive in another process "
            f"({type(reason).__name__}: {reason}); let it import what it needs inside, "
            "or use placement='thread'"
        )
        raise RuntimeError(msg) from reason

    return Orders(dict.fromkeys(indices, explain), Rules(), {})


def _reply(company: ProcessShard, request: bytes) -> bytes:
    kind, content = request[:1], request[1:]
    only: int | None = None
    observed = True
    if kind == STEP:
        replies = company.step_shared(content[0])
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
    try:
        return packed((replies, objects))
    except Exception:
        return packed(company.without_objects_that_stay(replies, objects or {}))


def main() -> None:
    """Serve the connection whose number is on the command line."""
    # Ctrl-C is the parent's business; without it this process ends anyway.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    fd = int(sys.argv[1])
    with socket.socket(fileno=os.dup(fd)) as door, Connection(fd) as connection:
        serve(connection, door)
