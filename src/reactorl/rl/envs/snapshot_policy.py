# SPDX-License-Identifier: Apache-2.0
"""Saves and loads all sub-environments of a task: which snapshots are verified.

All sub-environments of a task are alike, so it is enough to verify one snapshot of each
method: in the 1st, 4th, 16th, ... save of a shard, another sub-environment each time.
If it fails, the method is not used any more: the snapshots say why, and environments
whose state was read so far are recorded from their next reset on.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

from reactorl.rl.envs.commands import Load, Only, Save, Verify
from reactorl.rl.envs.snapshot import method_of, none

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.envs.commands import Command

    Execute = Callable[[Command], dict[int, Any]]
    """Lets a shard execute a command; raises its failures."""

_log: Final = logging.getLogger(__name__)
_FACTOR: Final = 4
MAX_VERIFIED_STEPS: Final = 20_000
"""Longer records are verified only once: it would take too long."""


class SnapshotPolicy:
    """The snapshots of one task: how many were saved, and which methods failed.

    One thread at a time: a run is saved between two iterations.
    """

    def __init__(self) -> None:
        self._distrusted: dict[str, str] = {}
        self._counts: dict[str, int] = {}

    def save(self, execute: Execute, indices: Sequence[int]) -> dict[int, Data]:
        """Save the sub-environments of a shard, and verify some of the snapshots."""
        saved = _results(execute(Save(dict(self._distrusted))), indices)
        methods = {index: method_of(saved[index]["env"]) for index in indices}
        for method in sorted({*methods.values()} - {"none"}):
            alike = tuple(index for index in indices if methods[index] == method)
            if self._fails(method, execute, alike, saved):
                again = Only(Save(dict(self._distrusted)), alike)
                saved |= _results(execute(again), alike)
        return saved

    def _fails(
        self, method: str, execute: Execute, alike: Sequence[int], saved: Data
    ) -> bool:
        """Verify a snapshot, if it is time to; return whether it cannot be restored."""
        count = self._counts[method] = self._counts.get(method, 0) + 1
        index = alike[(count - 1) % len(alike)]
        if not _is_due(count) or (count > 1 and _is_long(saved[index]["env"])):
            return False
        verify = Only(Verify({index: saved[index]}), (index,))
        reason = execute(verify)[index].result()
        if reason:
            self._distrusted[method] = reason
        return bool(reason)


def load(execute: Execute, saved: dict[int, Data]) -> dict[int, int]:
    """Load sub-environments of a shard, which have been reset.

    Returns:
        The seeds with which some must be reset again, by index: their state could not
        be restored.
    """
    reasons = _results(execute(Load(saved)), list(saved))
    lost = {index: reason for index, reason in reasons.items() if reason}
    for reason in dict.fromkeys(lost.values()):
        which = [str(index) for index in lost if lost[index] == reason]
        _log.warning(
            "%s cannot be resumed exactly and begin%s a new episode: %s",
            f"environment{'s' if len(which) > 1 else ''} {', '.join(which)}",
            "" if len(which) > 1 else "s",
            reason,
        )
    return {index: _new_seed(saved[index]) for index in lost}


def _new_seed(saved: Data) -> int:
    """Return the seed for a sub-environment that could not be restored."""
    taken = saved["env"]
    if method_of(taken) != "none":
        taken = none("", "", saved["restarts"][0], 0)
    return int(taken["seed"])


def _results(replies: dict[int, Any], indices: Sequence[int]) -> dict[int, Any]:
    return {index: replies[index].result() for index in indices}


def _is_due(count: int) -> bool:
    """Return whether a number is a power of ``_FACTOR``."""
    while count % _FACTOR == 0:
        count //= _FACTOR
    return count == 1


def _is_long(snapshot: Data) -> bool:
    if not isinstance(snapshot, dict):
        return False
    steps = sum(len(actions[1]) for _, actions in snapshot["episodes"])
    return steps > MAX_VERIFIED_STEPS
