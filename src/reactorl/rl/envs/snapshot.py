# SPDX-License-Identifier: Apache-2.0
"""Snapshots: the state of one environment in a checkpoint, and how it is restored.

In this order of preference:

``state``
    All state can be read: it is in Python objects, or in a simulator that saves it
    itself (ALE, MuJoCo). Restored in an environment that has been reset.
``episode``, ``history``
    Some cannot be read. A new environment repeats the recorded resets and actions,
    since the last reset or since the environment was made. All observations, rewards
    and flags must be the same as before.
``none``
    Neither is possible. The environment begins a new episode when the run is resumed,
    with a seed that is derived from its last one.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from reactorl.rl.checkpoint.env_restore import restore_env
from reactorl.rl.checkpoint.env_state import read_state, saved_env
from reactorl.rl.checkpoint.object_graph import class_name
from reactorl.rl.checkpoint.state_difference import first_difference, first_identifier
from reactorl.rl.envs.episode_recorder import (
    EpisodeRecorder,
    NotRecordedError,
    checksum,
    loaded_record,
)
from reactorl.rl.envs.errors import FAILURES
from reactorl.rl.envs.timeout import unguarded

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.envs.timeout import Guard

Env: TypeAlias = Any
"""Of Gymnasium or PettingZoo."""
Prepare: TypeAlias = "Callable[[Env], None]"
"""Resets an environment for the first time."""


class NotRestoredError(Exception):
    """A state could not be restored; the text says why."""


def take(env: Env, recorder: EpisodeRecorder | None) -> Data:
    """Return the snapshot of an environment as plain data.

    It reads the environment and calls nothing of it, so that training is not disturbed.

    Args:
        env: The environment.
        recorder: Its recorder, if it has one.

    Raises:
        NotRecordedError: Its state can neither be read nor be reached by a record.
    """
    try:
        if recorder is not None:
            return recorder.save()
        state = read_state(env)
    except NotRecordedError:
        raise
    except Exception as error:  # an environment may have any objects
        msg = f"reading its state failed: {error!r}"
        raise NotRecordedError(msg) from error
    if state.hidden:
        kind = class_name(type(state.hidden[0]))
        msg = f"it holds a {kind}, whose state cannot be read"
        raise NotRecordedError(msg)
    return state.nodes


def none(name: str, reason: str, seed: int | None, steps: int) -> Data:
    """Return the snapshot of an environment that cannot be restored.

    Args:
        name: Of the environment.
        reason: Why.
        seed: The seed of its last seeded reset.
        steps: Number of steps that it has begun.
    """
    digest = hashlib.blake2b(f"{seed}/resume/{steps}".encode(), digest_size=4).digest()
    derived = int.from_bytes(digest) >> 1
    return {"method": "none", "name": name, "reason": reason, "seed": derived}


def method_of(snapshot: Data) -> str:
    """Return how a snapshot is restored."""
    return str(snapshot["method"]) if isinstance(snapshot, dict) else "state"


def restored(
    make: Callable[[], Env],
    snapshot: Data,
    prepare: Prepare,
    guard: Guard = unguarded,
) -> tuple[Env, EpisodeRecorder | None]:
    """Return a new environment in the state of a snapshot, and its recorder.

    Args:
        make: Makes an environment.
        snapshot: From ``take``.
        prepare: Resets an environment for the first time.
        guard: Interrupts calls that exceed the timeout.

    Raises:
        NotRestoredError: That is impossible, or the record gave another result.
    """
    env = make()
    try:
        if method_of(snapshot) == "state":
            prepare(env)
            restore_env(env, snapshot)
            return env, None
        _repeat(env, snapshot, prepare, guard)
        return env, EpisodeRecorder.load(env, snapshot)
    except FAILURES as error:
        with suppress(Exception):
            env.close()
        if isinstance(error, NotRestoredError):
            raise
        raise NotRestoredError(reason_of(error)) from error


def reason_of(error: BaseException) -> str:
    """Return an exception as the reason why a state could not be restored."""
    kind = "" if type(error) is ValueError else f"{type(error).__name__}: "
    return f"restoring its state failed: {kind}{error}"


def _repeat(env: Env, snapshot: Data, prepare: Prepare, guard: Guard) -> None:
    """Repeat recorded resets and actions, then restore what can be read."""
    record = loaded_record(snapshot)
    if not record.is_whole:
        prepare(env)
    restore_env(env, record.before)
    found = 0
    for episode in record.episodes:
        found = checksum(guard(partial(env.reset, **episode.arguments))[:1], found)
        for action in episode.actions:
            found = checksum(guard(partial(env.step, action))[:4], found)
    if found != record.checksum:
        msg = (
            f"repeating its {record.steps} recorded actions gave other observations "
            "or rewards"
        )
        raise NotRestoredError(msg)
    reached = saved_env(env)
    handle = first_identifier(snapshot["state"], reached)
    if handle:
        msg = f"{handle} is different after its recorded actions were repeated"
        raise NotRestoredError(msg)
    # Only what depends on the clock differs now, such as the duration of an episode.
    if first_difference(snapshot["state"], reached):
        restore_env(env, snapshot["state"])
