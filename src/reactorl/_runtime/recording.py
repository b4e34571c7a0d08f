# SPDX-License-Identifier: Apache-2.0
"""Recordings: the inputs of a run from the physical world, for replay.

A run is a function of its program, its seed, and of what is recorded here: events of
physical actions and physical connections (when they fired, and with what), deadlines
that were missed, the clock as bodies read it, and between which reactions the handler
of a watchdog ran.
"""

from __future__ import annotations

import base64
import json
import os
import pickle
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from reactorl._util.files import atomic_writer
from reactorl.errors import ReplayError
from reactorl.position import Position
from reactorl.tag import Tag

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION: Final = 1
_HEADER: Final = "reactorl recording"
_PLAIN: Final = (bool, int, float, str, type(None))


@dataclass(slots=True)
class Recording:
    """The physical inputs of one run. Tags are elapsed; names are full names."""

    program: str = ""  # digest of the program it was recorded from
    seed: int = 0
    events: list[tuple[Tag, str, Any]] = field(default_factory=list)
    missed: list[tuple[Tag, str]] = field(default_factory=list)
    clock: dict[str, list[int]] = field(default_factory=dict)  # by reaction
    alarms: dict[str, list[int]] = field(default_factory=dict)  # watchdog -> reactions
    end: Tag | None = None  # the final tag; None if the run did not reach it

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to ``path``, atomically."""
        body = {
            "program": self.program,
            "seed": self.seed,
            "events": [
                [*tag, name, _encode(value)] for tag, name, value in self.events
            ],
            "missed": [[*tag, name] for tag, name in self.missed],
            "clock": self.clock,
            "alarms": self.alarms,
            "end": self.end,
        }
        with atomic_writer(Path(path), "w") as file:
            file.write(f"{_HEADER} {VERSION}\n")
            json.dump(body, file, sort_keys=True)
            file.write("\n")

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, allow_pickle: bool = False
    ) -> Recording:
        """Read a recording.

        Args:
            path: A file written by ``save``.
            allow_pickle: Accept payloads other than plain scalars. Unpickling runs
                code that the file names: only for files you trust.

        Raises:
            ReplayError: The file is not a recording, is truncated, has another version,
                or has pickled payloads that are not allowed.
        """
        where = Position(os.fspath(path), 1)
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        if not lines or not lines[0].startswith(_HEADER):
            msg = "the file is not a recording"
            raise ReplayError(msg, where, "Record a run again.")
        if lines[0] != f"{_HEADER} {VERSION}":
            msg = f"recording version must be {VERSION}, got {lines[0]!r}"
            raise ReplayError(
                msg,
                where,
                "Record the run again.",
            )
        try:
            body = json.loads(lines[1])
            return cls(
                program=body["program"],
                seed=body["seed"],
                events=[
                    (Tag(time, step), name, _decode(value, where, allow=allow_pickle))
                    for time, step, name, value in body["events"]
                ],
                missed=[(Tag(time, step), name) for time, step, name in body["missed"]],
                clock=body["clock"],
                alarms=body["alarms"],
                end=None if body["end"] is None else Tag(*body["end"]),
            )
        except (IndexError, KeyError, ValueError, TypeError) as error:
            msg = f"the recording is truncated or damaged ({error})"
            raise ReplayError(
                msg,
                Position(where.file, 2),
                "Record the run again.",
            ) from error


def _encode(value: object) -> object:
    if isinstance(value, _PLAIN):
        return value
    data = pickle.dumps(value, protocol=4)
    return {"pickle": base64.b64encode(data).decode("ascii")}


def _decode(value: Any, where: Position, *, allow: bool) -> object:  # noqa: ANN401
    if not isinstance(value, dict):
        return value
    if not allow:
        msg = "the recording has pickled payloads"
        raise ReplayError(
            msg,
            where,
            "If you trust the file: Recording.load(path, allow_pickle=True).",
        )
    return pickle.loads(base64.b64decode(value["pickle"]))


class Tape(Protocol):
    """The physical inputs of a run: live, recorded, or replayed."""

    def read_clock(self, reaction: int, elapsed: int) -> int:
        """Return what ``reaction`` (-1: none) shall read instead of ``elapsed``."""

    def late(self, reaction: int, late: bool) -> bool:  # noqa: FBT001
        """Return whether ``reaction`` shall count as ``late``."""

    def deliver(self, trigger: int, time: int, microstep: int, value: object) -> None:
        """Record an event that is about to fire."""


class PlainTape:
    """Records nothing."""

    def read_clock(self, reaction: int, elapsed: int) -> int:
        """Return the clock."""
        return elapsed

    def late(self, reaction: int, late: bool) -> bool:  # noqa: FBT001
        """Return what the clock says."""
        return late

    def deliver(self, trigger: int, time: int, microstep: int, value: object) -> None:
        """Do nothing."""


class AnnouncingTape:
    """Says once that reactions depend on the clock, before the first one does.

    Args:
        tape: What records.
        announce: Called once; returns when it is known where it has to be.
    """

    def __init__(self, tape: Tape, announce: Callable[[], object]) -> None:
        self._tape = tape
        self._announced: Callable[[], object] | None = announce
        self._lock = threading.Lock()

    def read_clock(self, reaction: int, elapsed: int) -> int:
        """Announce a reading of a reaction."""
        if reaction >= 0:
            self.announce()
        return self._tape.read_clock(reaction, elapsed)

    def late(self, reaction: int, late: bool) -> bool:  # noqa: FBT001
        """Announce a deadline, also one that is kept: a repetition would miss it."""
        self.announce()
        return self._tape.late(reaction, late)

    def deliver(self, trigger: int, time: int, microstep: int, value: object) -> None:
        """Announce an event that is about to fire."""
        self.announce()
        self._tape.deliver(trigger, time, microstep, value)

    def announce(self) -> None:
        """Announce, unless that was done."""
        with self._lock:
            announced, self._announced = self._announced, None
            if announced is not None:
                announced()


class RecordingTape:
    """Records everything, called by workers concurrently; put in order afterwards."""

    def __init__(
        self,
        recording: Recording,
        trigger_name: Callable[[int], str],
        reaction_name: Callable[[int], str],
        now: Callable[[], Tag],
    ) -> None:
        self._recording = recording
        self._trigger_name = trigger_name
        self._reaction_name = reaction_name
        self._now = now
        self._lock = threading.Lock()

    def read_clock(self, reaction: int, elapsed: int) -> int:
        """Record a clock reading; those of one reaction come in order."""
        if reaction >= 0:
            name = self._reaction_name(reaction)
            with self._lock:
                self._recording.clock.setdefault(name, []).append(elapsed)
        return elapsed

    def late(self, reaction: int, late: bool) -> bool:  # noqa: FBT001
        """Record a missed deadline."""
        if late:
            with self._lock:
                self._recording.missed.append(
                    (self._now(), self._reaction_name(reaction))
                )
        return late

    def deliver(self, trigger: int, time: int, microstep: int, value: object) -> None:
        """Record an event; they come in the order of tags."""
        name = self._trigger_name(trigger)
        self._recording.events.append((Tag(time, microstep), name, value))


class ReplayingTape:
    """Replays a recording."""

    def __init__(
        self,
        recording: Recording,
        reaction_name: Callable[[int], str],
        now: Callable[[], Tag],
    ) -> None:
        self._missed = frozenset(recording.missed)
        self._clock = {name: iter(reads) for name, reads in recording.clock.items()}
        self._reaction_name = reaction_name
        self._now = now

    def read_clock(self, reaction: int, elapsed: int) -> int:
        """Return what the recorded run read here."""
        if reaction < 0:
            return elapsed
        name = self._reaction_name(reaction)
        try:
            return next(self._clock.get(name, iter(())))
        except StopIteration:
            msg = f"{name} reads the clock more often than in the recorded run"
            raise ReplayError(
                msg,
                None,
                "Replay with the program and the seed that were recorded.",
            ) from None

    def late(self, reaction: int, late: bool) -> bool:  # noqa: FBT001
        """Return what happened in the recorded run."""
        return (self._now(), self._reaction_name(reaction)) in self._missed

    def deliver(self, trigger: int, time: int, microstep: int, value: object) -> None:
        """Do nothing: the event came from the recording."""
