# SPDX-License-Identifier: Apache-2.0
"""A program that is driven iteration by iteration, and can be saved and resumed.

Tags are a fixed period apart: iteration k is at k periods, or has several tags. The
state between two iterations is plain data. A run that is resumed from it has its first
iteration at the time at which the other run would have had it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypedDict, TypeVar

from reactorl import drive
from reactorl.rl.checkpoint.registry import StateRegistry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from reactorl import Duration, Federation, Program, Reactor, Result, Watch
    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.flow.algorithm import Weights
    from reactorl.rl.flow.evaluation import PlayProgress

_R = TypeVar("_R", covariant=True)


class RunOptions(TypedDict, total=False):
    """How to run a task; none of these changes the results."""

    workers: int | None
    """Number of threads; None: as many as help."""
    trace: bool | Literal["values"]
    """Whether to record a trace, as for ``drive``."""
    saved: Mapping[str, Data] | None
    """The state to resume from, as returned by ``save``."""
    timing: bool | int
    """Whether to measure times, as for ``drive``."""
    federation: Federation | int | None
    """Where reactors run: how many processes share the rollouts, or a placement; None:
    all in this process."""
    restarts: int
    """How often a process begins again that is gone, from the state last saved."""
    shuffle: int
    """Seed for the order of concurrent reactions, as for ``drive``."""
    at_start: Callable[[Watch], object] | None
    """Called with a ``Watch`` when all reactors are set up, as for ``drive``."""
    at_end: Callable[[Result], object] | None
    """Called with the result, also after a failure, as for ``drive``."""


class DrivenRun(ABC, Generic[_R]):
    """A run of a program; a context manager. Subclasses define what a step gives.

    Args:
        main: Makes the main reactor from the registry and the number of the first tag.
        seed: Of the run.
        period: Logical time between two tags.
        tags: Number of tags in an iteration.
        limit: Number of iterations; None: no limit.
        fast: As for ``drive``.
        preload: Yields what is in flight; see ``drive``.
        options: How to run.
    """

    def __init__(
        self,
        main: Callable[[StateRegistry, int], Reactor],
        *,
        seed: int,
        period: Duration,
        tags: int = 1,
        limit: int | None = None,
        fast: bool = True,
        preload: Callable[[StateRegistry], Iterable[tuple[str, Any, int]]]
        | None = None,
        options: RunOptions,
    ) -> None:
        how: dict[str, Any] = {k: v for k, v in options.items() if k != "saved"}
        saved = options.get("saved")
        self.done = 0 if saved is None else int(saved["round"])
        """Number of iterations that are done."""
        self.registry = StateRegistry(None if saved is None else saved["parts"])
        self._period, self._limit = period, limit
        # Tags before the first one are skipped: no event is left there.
        self._skip = self.done * tags
        made = main(self.registry, self._skip + 1)
        settings: dict[str, Any] = {"seed": seed, "fast": fast, "freeze": True, **how}
        if preload is not None:
            settings["preload"] = tuple(preload(self.registry))
        federation = options.get("federation")
        if federation is None:
            settings.pop("restarts", None)
        self._main, self._tags = main, tags
        self._preload, self._federation = preload, federation
        self._elsewhere = federation is not None
        if federation is not None:
            settings["state"] = _saved_states
            self.registry.send(_placed(federation))
        self.session = drive(made, **settings)
        """The driven program."""
        self._tick = self.session.plug(after=period)

    def __enter__(self) -> Self:
        """Set up all reactors."""
        self.session.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:  # noqa: ANN401
        """Stop the program."""
        self.session.__exit__(*error)

    @property
    def program(self) -> Program:
        """The program."""
        return self.session.program

    @abstractmethod
    def step(self) -> _R:
        """Do one iteration, and count it."""

    @property
    def weights(self) -> Weights:
        """The current weights."""
        raise NotImplementedError

    @property
    def evaluation(self) -> PlayProgress | None:
        """The evaluation that is under way between two iterations, if one is."""
        reactor = self.registry.find("main.evaluation")
        found: PlayProgress | None = getattr(reactor, "progress", None)
        return found

    def iterations(self) -> Iterator[_R]:
        """Do the iterations that are left; yields what each gave."""
        while self._limit is None or self.done < self._limit:
            yield self.step()

    def save(self) -> dict[str, Data]:
        """Return the state between two iterations as plain data."""
        parts = self.registry.save()
        if self._elsewhere:
            for federate in self.session.states()[1:]:
                parts |= federate
            self._keep(parts)
        return {"round": self.done, "parts": dict(sorted(parts.items()))}

    def _keep(self, parts: Mapping[str, Data]) -> None:
        """Let processes that are lost begin again from this state."""
        assert self._federation is not None
        registry = StateRegistry(parts)
        preload = () if self._preload is None else tuple(self._preload(registry))
        # Not all states: those of the head are large, and not needed.
        placed = _placed(self._federation)
        sent = {
            name: state
            for name, state in parts.items()
            if name.partition("[")[0] in placed
        }
        again = StateRegistry(sent)
        again.send(placed)
        self.session.keep(self._main(again, self.done * self._tags + 1), preload)

    def _next(self) -> Mapping[str, Any]:
        """Run one tag; return the outputs of the main reactor that are present."""
        if not self._skip:
            return self._tick()
        after, self._skip = (self._skip + 1) * self._period, 0
        return self.session.plug(after=after)()


def _placed(federation: Federation | int) -> set[str]:
    """Return the names of the reactors and banks that a federation places."""
    placement = federation if isinstance(federation, int) else federation.placement
    if isinstance(placement, int):
        msg = f"federation must be a placement by names, got {placement}"
        raise TypeError(msg)
    return {name.partition("[")[0] for name in placement}


def _saved_states(main: Any) -> dict[str, Data]:  # noqa: ANN401
    """Return the states of the reactors of a process, by name."""
    found: dict[str, Data] = main.registry.save()
    return found
