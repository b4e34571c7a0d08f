# SPDX-License-Identifier: Apache-2.0
"""Names that bodies can use without an import: ``lf``, ``Tag``, ``MSEC`` etc."""

from __future__ import annotations

import copy
import os
import sys
from typing import TYPE_CHECKING, Any

from reactorl.lf.parse.time_units import TIME_UNITS
from reactorl.tag import FOREVER, Tag

if TYPE_CHECKING:
    from pathlib import Path

    from reactorl._decl.reactor import Context, Reactor

NEVER = -(2**64 - 1)
"""The value of LF's Python package; the literal ``never`` has another value."""
BILLION = 1_000_000_000


class LfTag(Tag):
    """A tag with the text form of LF."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Tag(time={self.time}, microstep={self.microstep})"

    __str__ = __repr__


class Time:
    """``lf.time``: times in nanoseconds."""

    def __init__(self, lf: Lf) -> None:
        self._lf = lf

    def logical(self) -> int:
        """Return the time of the current tag; constant while a reaction runs."""
        return self._lf._context().tag().time

    def logical_elapsed(self) -> int:
        """Return the logical time since the start."""
        context = self._lf._context()
        return context.tag().time - context.start_time()

    def physical(self) -> int:
        """Return the physical time."""
        return self._lf._context().physical_time()

    def physical_elapsed(self) -> int:
        """Return the physical time since the start."""
        context = self._lf._context()
        return context.physical_time() - context.start_time()

    def start(self) -> int:
        """Return the time of the first tag."""
        return self._lf._context().start_time()


class Lf:
    """The ``lf`` of one loaded program; refers to the run that calls it."""

    def __init__(
        self, source_directory: Path, package_directory: Path, *, decentralized: bool
    ) -> None:
        self.time = Time(self)
        self._source_directory = source_directory
        self._package_directory = package_directory
        self._decentralized = decentralized
        self._maxwait = FOREVER
        self._runs: list[Context] = []
        self._federation_id = "Unidentified Federation"

    # -- the current run -----------------------------------------------------------

    def begin(self, instance: Reactor) -> None:
        """Register the run of a reactor."""
        if not any(context is instance._context for context in self._runs):
            self._runs = [*self._runs, instance._context]

    def end(self, instance: Reactor) -> None:
        """Unregister the run of a reactor."""
        self._runs = [run for run in self._runs if run is not instance._context]

    def _context(self) -> Context:
        runs = self._runs
        if len(runs) == 1:
            return runs[0]
        for context in runs:
            session: Any = getattr(context, "_session", None)
            if session is not None and session.running() >= 0:
                return context
        if runs:
            return runs[-1]
        msg = "the program is not running, so there is no time"
        raise RuntimeError(msg)

    # -- functions for bodies ------------------------------------------------------

    def tag(self) -> LfTag:
        """Return the current tag."""
        return LfTag(*self._context().tag())

    @staticmethod
    def tag_compare(one: tuple[int, int], other: tuple[int, int]) -> int:
        """Return -1, 0 or 1 if a tag is before, equal to or after another."""
        return (one > other) - (one < other)

    def request_stop(self) -> None:
        """Make the next microstep the final tag."""
        self._context().request_stop()

    def stop(self) -> None:
        """End the calling federate; all federates run in one process, so all end."""
        self._context().request_stop()

    def tag_start_effective(self) -> LfTag:
        """Return the first tag."""
        return LfTag(self._context().start_time(), 0)

    def get_federation_id(self) -> str:
        """Return the federation's identifier."""
        return self._federation_id

    def get_fed_maxwait(self) -> int:
        """Return how long a federate waits for inputs, in nanoseconds."""
        self._require_decentralized("get_fed_maxwait")
        return self._maxwait

    def set_fed_maxwait(self, maxwait: int) -> None:
        """Set how long a federate waits for inputs; it has no effect in one process."""
        self._require_decentralized("set_fed_maxwait")
        self._maxwait = int(maxwait)

    def _require_decentralized(self, name: str) -> None:
        if not self._decentralized:
            msg = f"{name}() requires decentralized coordination of a federation"
            raise RuntimeError(msg)

    def source_directory(self) -> str:
        """Return the directory of the main ``.lf`` file."""
        return str(self._source_directory)

    def package_directory(self) -> str:
        """Return the project's root directory."""
        return str(self._package_directory)


def _length(nanoseconds: int) -> Any:  # noqa: ANN401
    def convert(count: float) -> int:
        return round(count * nanoseconds)

    return convert


_HELPERS = {
    "NSEC": "ns",
    "USEC": "us",
    "MSEC": "ms",
    "SEC": "s",
    "MINUTE": "min",
    "HOUR": "h",
    "DAY": "d",
    "WEEK": "wk",
}


def visible_names(lf: Lf) -> dict[str, Any]:
    """Return all names that code blocks can use without an import."""
    names: dict[str, Any] = {
        "lf": lf,
        "request_stop": lf.request_stop,
        "get_fed_maxwait": lf.get_fed_maxwait,
        "set_fed_maxwait": lf.set_fed_maxwait,
        "Tag": LfTag,
        "FOREVER": FOREVER,
        "NEVER": NEVER,
        "BILLION": BILLION,
        "instant_t": int,
        "interval_t": int,
        "os": os,
        "sys": sys,
        "copy": copy,
    }
    for name, unit in _HELPERS.items():
        helper = _length(TIME_UNITS[unit])
        helper.__name__ = helper.__qualname__ = name
        names[name] = names[f"{name}S"] = helper
    for name in ("Tag", "FOREVER", "NEVER", *(n for n in names if n.isupper())):
        setattr(lf, name, names[name])
    return names
