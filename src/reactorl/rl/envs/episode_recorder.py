# SPDX-License-Identifier: Apache-2.0
"""Records resets and actions of environments whose state cannot be read.

A recorder stands between a sub-environment and its environment. In the first reset it
finds out whether it is needed: if all state can be read, it removes itself, and steps
cost what they cost without it.

A reset usually replaces everything, so the record begins with the last one, and holds
the state before it (random generators, statistics of wrappers). But an object that
outlives a reset, such as the world of ``BipedalWalker``, may carry state from one
episode to the next. Then the record begins when the environment was made, as long as it
does not exceed ``MAX_STEPS``.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reactorl.rl.checkpoint.env_state import read_state, saved_env
from reactorl.rl.checkpoint.object_graph import class_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reactorl.rl.checkpoint.registry import Data

MAX_STEPS: Final = 100_000
"""Steps of one environment that are recorded."""
_REBUILT: Final = frozenset({"gymnasium.envs.box2d.car_racing.CarRacing"})
"""Environments whose world outlives a reset without carrying state: there are no
contacts that its solver would see in another order, only sensors."""


class NotRecordedError(Exception):
    """There is no record from which the state could be reached; the text says why."""


@dataclass(slots=True)
class RecordedEpisode:
    """A reset, and the actions after it."""

    arguments: dict[str, Any]
    actions: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class Record:
    """How to reach the state of an environment."""

    is_whole: bool
    """Whether it begins with a new environment; else with ``before``."""
    before: Data
    """The state before the first reset."""
    episodes: list[RecordedEpisode] = field(default_factory=list)
    checksum: int = 0
    """Of all observations, rewards and flags."""

    @property
    def steps(self) -> int:
        """Number of steps."""
        return sum(len(episode.actions) for episode in self.episodes)


class EpisodeRecorder:
    """Steps and resets an environment, and records that.

    Args:
        env: The environment.
        is_new: Whether it has never been reset.
        unneeded: Called in the first reset if all state can be read; None: record in
            any case.
    """

    def __init__(
        self,
        env: Any,  # noqa: ANN401 - of Gymnasium or PettingZoo
        *,
        is_new: bool,
        unneeded: Callable[[], None] | None = None,
    ) -> None:
        self.env = env
        self._is_new = is_new
        self._unneeded = unneeded
        self._record: Record | None = None
        self._failure = "it has not been reset since recording began"
        self._resets = 0
        self._carries = False

    def reset(self, **arguments: Any) -> Any:  # noqa: ANN401
        """Reset the environment, and begin a recorded episode."""
        hidden = self._begin(arguments)
        found = self.env.reset(**arguments)
        self._note(found, 1)
        self._resets += 1
        if self._resets <= 2 and hidden is not None:
            self._inspect(hidden)
        return found

    def step(self, action: Any) -> Any:  # noqa: ANN401
        """Step the environment, and record the action."""
        record = self._record
        if record is not None:
            actions = record.episodes[-1].actions
            actions.append(own_copy(action))
            if len(actions) > MAX_STEPS:
                self._record = None
                self._failure = f"its episode has more than {MAX_STEPS:,} steps"
        result = self.env.step(action)
        self._note(result, 4)
        return result

    def _begin(self, arguments: dict[str, Any]) -> list[Any] | None:
        """Begin an episode; return the objects whose state cannot be read."""
        record = self._record
        self._record = None
        try:
            before = read_state(self.env)
        except Exception as error:  # an environment may have any objects
            self._failure = f"reading its state failed: {error!r}"
            return None
        begins_anew = (
            record is None
            or not record.is_whole
            or not (self._carries or self._resets < 2)
            or record.steps > MAX_STEPS
        )
        if record is None or begins_anew:
            record = Record(self._is_new and not self._resets, before.nodes)
        record.episodes.append(RecordedEpisode(own_copy(arguments)))
        self._record = record
        return before.hidden

    def _inspect(self, hidden: Sequence[Any]) -> None:
        """Find out whether recording is needed, and whether state outlives a reset."""
        after = read_state(self.env).hidden
        if not after and self._unneeded is not None:
            self._unneeded()
        core = class_name(type(getattr(self.env, "unwrapped", self.env)))
        known = {id(each) for each in hidden}
        if core not in _REBUILT and any(id(each) in known for each in after):
            self._carries = True

    def _note(self, result: Any, count: int) -> None:  # noqa: ANN401
        # Results that are not tuples are reported by the sub-environment.
        if self._record is not None and isinstance(result, tuple):
            self._record.checksum = checksum(result[:count], self._record.checksum)

    # -- checkpoints ------------------------------------------------------------------

    def save(self) -> Data:
        """Return the record, and the part of the state that can be read.

        Raises:
            NotRecordedError: There is no record.
        """
        record = self._record
        if record is None:
            raise NotRecordedError(self._failure)
        return {
            "method": "history" if record.is_whole else "episode",
            "before": record.before,
            "episodes": [
                [_pack(each.arguments), pack_actions(each.actions)]
                for each in record.episodes
            ],
            "checksum": record.checksum,
            "state": saved_env(self.env),
            "resets": self._resets,
            "carries": self._carries,
        }

    @classmethod
    def load(cls, env: Any, saved: Data) -> EpisodeRecorder:  # noqa: ANN401
        """Return the recorder of an environment that was restored from a record."""
        found = cls(env, is_new=False)
        found._record = loaded_record(saved)
        found._resets, found._carries = saved["resets"], saved["carries"]
        return found


def loaded_record(saved: Data) -> Record:
    """Return a saved record."""
    episodes = [
        RecordedEpisode(_unpack(arguments), unpack_actions(actions))
        for arguments, actions in saved["episodes"]
    ]
    whole = saved["method"] == "history"
    return Record(whole, saved["before"], episodes, saved["checksum"])


# -- actions and outcomes -------------------------------------------------------------


def own_copy(value: Any) -> Any:  # noqa: ANN401
    """Return an action or argument with copies of its arrays."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, dict):
        return {key: own_copy(part) for key, part in value.items()}
    if type(value) in (tuple, list):
        return type(value)(own_copy(part) for part in value)
    return value


def pack_actions(actions: Sequence[Any]) -> Data:
    """Return actions as plain data: in one array, if they are alike.

    Raises:
        NotRecordedError: They are not plain.
    """
    first: Any = actions[0] if actions else None
    kind = type(first)
    if isinstance(first, np.ndarray | np.generic):
        like = (kind, first.dtype, first.shape)
        if all(
            type(each) is kind and (type(each), each.dtype, each.shape) == like
            for each in actions
        ):
            is_scalar = isinstance(first, np.generic)
            return ("scalars" if is_scalar else "rows", np.stack(actions))
    return ("values", [_pack(each) for each in actions])


def unpack_actions(packed: Data) -> list[Any]:
    """Return the actions that ``pack_actions`` packed."""
    kind, found = packed
    if kind == "rows":
        return [row.copy() for row in found]
    return list(found) if kind == "scalars" else [_unpack(each) for each in found]


def _pack(value: Any) -> Data:  # noqa: ANN401
    """Return a value of plain data in containers; copies of arrays."""
    if isinstance(value, dict):
        return {key: _pack(part) for key, part in value.items()}
    if type(value) in (tuple, list):
        return type(value)(_pack(part) for part in value)
    is_plain = value is None or type(value) in (bool, int, float, str, bytes)
    if is_plain or (isinstance(value, np.generic) and value.dtype.kind in "biufcSU"):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufcSU":
        return value.copy()
    msg = f"an action or option is a {class_name(type(value))}, not plain data"
    raise NotRecordedError(msg)


_unpack = own_copy
"""Arrays of a checkpoint are read-only, and environments may write into actions."""


def checksum(outcome: Any, before: int) -> int:  # noqa: ANN401
    """Return a checksum of observations, rewards and flags, after others."""
    if isinstance(outcome, np.ndarray) and outcome.dtype.kind != "O":
        return zlib.crc32(np.ascontiguousarray(outcome).tobytes(), before)
    if isinstance(outcome, float | np.generic):
        return zlib.crc32(np.asarray(outcome).tobytes(), before)
    if isinstance(outcome, int | str):
        return zlib.crc32(str(outcome).encode(), before)
    if isinstance(outcome, dict):
        for key, part in outcome.items():
            before = checksum(part, zlib.crc32(repr(key).encode(), before))
        return before
    if isinstance(outcome, list | tuple | np.ndarray):
        for part in outcome:
            before = checksum(part, before)
        return before
    return zlib.crc32(class_name(type(outcome)).encode(), before)
