# SPDX-License-Identifier: Apache-2.0
"""A program that is driven round by round, and goes on where another run of it stopped.

Rounds are a fixed time apart: round k is at k periods, or has several tags that are.
The state between two rounds is plain data; a run that begins with it has its first
round at the time at which it would have been.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypedDict, TypeVar

from reactorl import drive
from reactorl.rl.checkpoint.registry import Records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from reactorl import Duration, Reactor, Result, Watch
    from reactorl.rl.checkpoint.registry import Data

_R = TypeVar("_R")


class RunOptions(TypedDict, total=False):
    """How to run; nothing here changes what comes of it."""

    workers: int | None
    """How many threads; None: what helps."""
    trace: bool | Literal["values"]
    """Whether to keep a trace, as for ``drive``."""
    saved: Mapping[str, Data] | None
    """The state of an earlier run of the same thing, to go on from."""
    timing: bool | int
    """Whether to measure times, as for ``drive``."""
    at_start: Callable[[Watch], object] | None
    """Called with a ``Watch`` when all parts are made, as for ``drive``."""
    at_end: Callable[[Result], object] | None
    """Called with the result, also after a failure, as for ``drive``."""


class Driven(ABC, Generic[_R]):
    """A program under way; a context manager. Subclasses say what a round gives.

    Args:
        main: Makes the main reactor, of what parts begin with and the number of the
            first tag.
        seed: Of the run.
        period: From one tag to the next.
        tags: How many of them a round has.
        rounds: How many there will be; None: as many as somebody asks for.
        fast: As for ``drive``.
        options: How to run.
    """

    def __init__(
        self,
        main: Callable[[Records, int], Reactor],
        *,
        seed: int,
        period: Duration,
        tags: int = 1,
        rounds: int | None = None,
        fast: bool = True,
        options: RunOptions,
    ) -> None:
        how = {key: value for key, value in options.items() if key != "saved"}
        saved = options.get("saved")
        self.done = 0 if saved is None else int(saved["round"])
        self.records = Records(None if saved is None else saved["parts"])
        self._period, self._rounds = period, rounds
        # The first tag is at its own time: what comes before is empty.
        self._skip = self.done * tags
        made = main(self.records, self._skip + 1)
        settings: dict[str, Any] = {"seed": seed, "fast": fast, "freeze": True, **how}
        self.session = drive(made, **settings)
        """The driven program."""
        self._tick = self.session.plug(after=period)

    def __enter__(self) -> Self:
        """Make all parts."""
        self.session.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:  # noqa: ANN401
        """End the program."""
        self.session.__exit__(*error)

    @abstractmethod
    def step(self) -> _R:
        """Do one round, and count it."""

    def rounds(self) -> Iterator[_R]:
        """Do the rounds that are left, one by one; yields what each gave."""
        while self._rounds is None or self.done < self._rounds:
            yield self.step()

    def save(self) -> dict[str, Data]:
        """Return the state of everything between two rounds, as plain data."""
        return {"round": self.done, "parts": self.records.save()}

    def _next(self) -> Mapping[str, Any]:
        """Do one tag; return the outputs of the main reactor that are present."""
        if not self._skip:
            return self._tick()
        after, self._skip = (self._skip + 1) * self._period, 0
        return self.session.plug(after=after)()
