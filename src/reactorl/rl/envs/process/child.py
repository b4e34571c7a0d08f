# SPDX-License-Identifier: Apache-2.0
"""The program of a worker process: execute requests until the parent hangs up.

It is a program of its own, not forked and not started by ``multiprocessing``: it never
imports the user's main module, which therefore needs no guard, and inherits no locks or
threads. Functions are sent by value (cloudpickle).
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import threading
import time
import traceback
import warnings
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, Final

import gymnasium as gym

from reactorl._util.child_process import accept_signals
from reactorl._util.serialization import deserialize, serialize
from reactorl.rl.envs.commands import Answer, Load, Only, Reset, Save, Step, Verify
from reactorl.rl.envs.errors import EnvError
from reactorl.rl.envs.process.protocol import (
    ASSIGN,
    CLOSED,
    IDLE,
    REPLACE,
    STEP,
    WorkerConfig,
)
from reactorl.rl.envs.process.shared_memory import SharedMemory
from reactorl.rl.envs.rules import Rules
from reactorl.rl.envs.shard import LocalShard
from reactorl.rl.envs.timeout import HangWatch, no_guard

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reactorl.rl.envs.commands import Actions, Command
    from reactorl.rl.envs.process.protocol import Layout, Loss, Progress
    from reactorl.rl.envs.shard import Replies
    from reactorl.rl.envs.sub_env import Infos, SubEnv
    from reactorl.rl.envs.timeout import Guard

_ORPHAN_SECONDS: Final = 2.0
"""Time to close the environments after the death of the parent."""
_POLL_SECONDS: Final = 1.0


class ServedShard(LocalShard):
    """The shard of this process, with results and actions in shared memory."""

    def __init__(self, config: WorkerConfig) -> None:
        self._timeouts: HangWatch | None = None
        guard: Callable[[], Guard] = no_guard
        if config.rules.timeout is not None:
            # The parent kills this process if a call cannot be interrupted.
            self._timeouts = HangWatch(config.rules.timeout, logs=False)
            guard = self._timeouts.guard
        super().__init__(config.makers, config.rules, guard)
        self._has_objects = False
        self._progress: Progress | None = None
        self._number = 0

    def map(self, layout: Layout, fd: int) -> None:
        """Use shared memory for results, actions and progress."""
        memory = SharedMemory(fd, layout.size)
        shared = layout.cut(memory)
        memory.close()
        self._progress = shared.progress
        self._number = layout.worker
        if shared.results is not None and shared.actions is not None:
            self._arrays = shared.results
            self._actions = shared.actions.batch()
            self._has_objects = bool(self._arrays.observations.objects(0))
            self.assign(self._arrays)

    def step_shared(self, buffer: int) -> Replies:
        """Step all with the actions in shared memory."""
        self.use_buffer(buffer)
        # Environments may keep their action, so they get a row of a copy.
        return self.step(self._actions.copy())

    def step(self, actions: Actions) -> Replies:
        """Step all, and show the progress to the parent."""
        assert self._progress is not None
        current, number = self._progress.current, self._number
        steps, restarts = self._progress.steps, self._progress.restarts
        replies: Replies = {}
        for sub_env in self.sub_envs:
            index = sub_env.index
            current[number] = index
            try:
                reply: Infos | EnvError = self.step_one(sub_env, actions[index])
            except EnvError as failure:
                reply = failure
            steps[index] = sub_env.steps
            if reply:
                replies[index] = reply
                restarts[index] = sub_env.restarts.count
        current[number] = IDLE
        return replies

    def execute_one(self, command: Command, sub_env: SubEnv) -> Any:  # noqa: ANN401
        """Execute a command in one sub-environment, and show the progress."""
        progress = self._progress
        if progress is None:
            return _sendable(super().execute_one(command, sub_env))
        if not isinstance(command, Save | Verify | Load):  # these take many steps
            progress.current[self._number] = sub_env.index
        reply = super().execute_one(command, sub_env)
        progress.steps[sub_env.index] = sub_env.steps
        progress.restarts[sub_env.index] = sub_env.restarts.count
        progress.current[self._number] = IDLE
        return _sendable(reply)

    def replace(self, losses: dict[int, Loss]) -> Replies:
        """Continue for the sub-environments of a lost process."""
        replies: Replies = dict(self._unmade)
        for sub_env in self.sub_envs:
            loss = losses[sub_env.index]
            sub_env.replace_lost(loss.seed, loss.restarts, loss.steps, loss.last)
            sub_env.defer_restart(loss.failure, is_over=loss.is_over)
            if not loss.report_now:
                continue
            self._show(sub_env.index)
            try:
                replies[sub_env.index] = sub_env.step_deferred()
            except EnvError as failure:
                replies[sub_env.index] = failure
            self._show(IDLE)
        return replies

    def _show(self, index: int) -> None:
        """Show the parent which sub-environment runs."""
        assert self._progress is not None
        self._progress.current[self._number] = index

    def objects(self, command: Command | None) -> dict[int, list[Any]] | None:
        """Return the parts of observations that are not in arrays; None if all are.

        Args:
            command: The command that was executed; None: a step of all.
        """
        if not self._has_objects:
            return None
        slots = self._arrays.observations
        held = {
            sub_env.index: slots.objects(sub_env.index)
            for sub_env in self.sub_envs
            if command is None or command.includes(sub_env.index)
        }
        # A process that replaces another one has not observed anything yet.
        return {i: p for i, p in held.items() if any(part is not None for part in p)}

    def sendable(
        self, replies: Replies, objects: dict[int, list[Any]]
    ) -> tuple[Replies, dict[int, list[Any]]]:
        """Replace replies and observations that cannot be serialized by errors."""
        sent: dict[int, list[Any]] = {}
        checked = dict(replies)
        for sub_env in self.sub_envs:
            index = sub_env.index
            try:
                serialize((replies.get(index), objects.get(index)))
            except Exception as error:
                what = f"its result cannot be sent to another process: {error}"
                checked[index] = EnvError(index, sub_env.name, sub_env.steps, "", what)
            else:
                if index in objects:
                    sent[index] = objects[index]
        return checked, sent

    def end(self, connection: Connection) -> None:
        """Close all environments and send the first failure to the parent."""
        try:
            self.close()
        except EnvError as failure:
            with suppress(OSError):
                connection.send_bytes(CLOSED + serialize(failure))
        if self._timeouts is not None:
            self._timeouts.close()


def _sendable(reply: Any) -> Any:  # noqa: ANN401
    """Return a reply whose exception, if any, can be unpickled by the parent."""
    if not isinstance(reply, Answer) or reply.error is None:
        return reply
    error = reply.error
    trace = "".join(traceback.format_exception(error))
    try:
        deserialize(serialize(error))
    except Exception:
        plain = RuntimeError(f"{type(error).__name__}: {error}")
        for note in getattr(error, "__notes__", ()):
            plain.add_note(note)
        error = plain
    error.add_note(f"Its own traceback:\n{trace.rstrip()}")
    return Answer(None, error)


def serve(connection: Connection, sock: socket.socket) -> None:
    """Execute requests until the parent hangs up.

    Args:
        connection: The connection to the parent.
        sock: The same as a socket, over which file descriptors come.
    """
    config = _received_config(connection.recv_bytes())
    for name, spec in config.registry.items():
        gym.registry.setdefault(name, spec)
    # A module that registers environments may be imported after the registry came.
    again = ".*Overriding environment .* already in registry"
    warnings.filterwarnings("ignore", again, UserWarning)
    shard = ServedShard(config)
    try:
        while True:
            try:
                request = connection.recv_bytes()
            except (EOFError, OSError):
                return
            if request[:1] == ASSIGN:
                _, (fd, *_), _, _ = socket.recv_fds(sock, 1, 1)
                shard.map(deserialize(request[1:]), fd)
                connection.send_bytes(b"")
            else:
                connection.send_bytes(_reply(shard, request))
    finally:
        shard.end(connection)


def _received_config(request: bytes) -> WorkerConfig:
    """Return the configuration; one whose makers raise if it cannot be unpickled."""
    indices, config = deserialize(request)
    try:
        return deserialize(config)  # type: ignore[no-any-return]
    except Exception as error:
        reason = error

    def fail() -> gym.Env[Any, Any]:
        msg = (
            "its env_fn cannot be loaded in another process "
            f"({type(reason).__name__}: {reason}); import what it needs inside the "
            "function, or use placement='thread'"
        )
        raise RuntimeError(msg) from reason

    return WorkerConfig(dict.fromkeys(indices, fail), Rules(), {})


def _reply(shard: ServedShard, request: bytes) -> bytes:
    kind, content = request[:1], request[1:]
    command: Command | None = None
    observed = True
    if kind == STEP:
        replies = shard.step_shared(content[0])
    elif kind == REPLACE:
        replies = shard.replace(deserialize(content))
    else:
        command = deserialize(content)
        replies = shard.execute(command)
        inner = command.command if type(command) is Only else command
        observed = isinstance(inner, Step | Reset)
    keys = shard.rules.sent_infos
    if keys is not None:
        replies = _needed(replies, keys)
    objects = shard.objects(command) if observed else None
    if not replies and objects is None:
        return b""
    try:
        return serialize((replies, objects))
    except Exception:
        return serialize(shard.sendable(replies, objects or {}))


def _needed(replies: Replies, keys: frozenset[str]) -> Replies:
    """Return replies with these keys of infos only, without infos that are empty."""
    found: Replies = {}
    for index, reply in replies.items():
        if type(reply) is not tuple:
            found[index] = reply
            continue
        infos = [_kept(info, keys) for info in reply]
        infos = [info for info in infos if info]
        if infos:
            found[index] = tuple(infos)
    return found


def _kept(info: Mapping[str, Any], keys: frozenset[str]) -> dict[str, Any]:
    kept = {key: value for key, value in info.items() if key in keys}
    if isinstance(kept.get("final_info"), dict):  # of the last step of an episode
        kept["final_info"] = _kept(kept["final_info"], keys)
    return kept


def _die_with_parent(fd: int) -> None:
    """Kill this process some time after the death of its parent.

    A process that waits for a request sees the end of its connection and closes its
    environments. One that is in a long step would run on; this thread ends it.
    """
    parent = os.getppid()
    if hasattr(select, "poll"):
        hang_up = select.poll()
        hang_up.register(fd, 0)  # POLLHUP alone, which needs no flag
        while os.getppid() == parent:
            if hang_up.poll(_POLL_SECONDS * 1000):
                break
    else:  # some builds for macOS
        while os.getppid() == parent:
            time.sleep(_POLL_SECONDS)
    time.sleep(_ORPHAN_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)


def _ignore(_number: int, _frame: object) -> None:
    """Ignore a signal; unlike SIG_IGN, programs that are started do not inherit it."""


def _restore_signals(numbers: Sequence[int]) -> None:
    for number in numbers:
        signal.signal(number, signal.SIG_DFL)


def main() -> None:
    """Serve the connection whose file descriptor is on the command line."""
    # Ctrl-C is for the parent, which then ends this process. So is a SIGTERM of the
    # whole process group (timeout, systemd, Slurm), or the SIGHUP of a terminal that is
    # closed: the parent may need this process to finish its iteration. Processes that
    # an environment starts can be terminated.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    caught = [signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:  # not with nohup
        caught.append(signal.SIGHUP)
    for number in caught:
        signal.signal(number, _ignore)
    os.register_at_fork(after_in_child=partial(_restore_signals, caught))
    accept_signals()
    fd = int(sys.argv[1])
    watch = threading.Thread(target=_die_with_parent, args=(os.dup(fd),), daemon=True)
    watch.start()
    with socket.socket(fileno=os.dup(fd)) as sock, Connection(fd) as connection:
        serve(connection, sock)
