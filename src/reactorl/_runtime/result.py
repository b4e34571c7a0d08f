# SPDX-License-Identifier: Apache-2.0
"""The result of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from reactorl import trace as traces
from reactorl._runtime.timing import structure_of

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from reactorl._program.program import Program
    from reactorl._runtime.options import Options
    from reactorl._runtime.recording import Recording
    from reactorl.tag import Tag
    from reactorl.trace import Timing, Trace


@dataclass(frozen=True, slots=True)
class ReactionTime:
    """How often a reaction ran and how long that took; short ones are sampled."""

    reaction: str
    runs: int
    mean: float
    """Mean seconds per run, of those that were timed."""

    @property
    def total(self) -> float:
        """Estimated seconds in all runs."""
        return self.runs * self.mean


@dataclass
class Result:
    """The result of a run. Everything but the times is the same for one seed."""

    program: Program
    options: Options
    final_tag: Tag
    """The last tag, elapsed since the start."""
    start_time: int
    tags: int
    """How many tags were handled."""
    events: int
    """How many events fired: timers, actions, delayed connections."""
    reactions: int
    """How many times a body or deadline handler ran."""
    seconds: float
    """Wall-clock seconds from the first tag to the last."""
    shared_tags: int
    """At how many tags several workers took part."""
    recording: Recording | None
    _times: Callable[[], list[ReactionTime]] = field(repr=False)
    _trace: Callable[[], Trace] | None = field(repr=False)
    _timing: Callable[[], Timing] | None = field(repr=False, default=None)

    @cached_property
    def times(self) -> list[ReactionTime]:
        """Time per reaction, the largest total first."""
        return sorted(self._times(), key=lambda t: (-t.total, t.reaction))

    @cached_property
    def trace(self) -> Trace:
        """The trace: what happened, tag by tag.

        Raises:
            ValueError: The run was not traced.
        """
        if self._trace is None:
            msg = "this run was not traced; use run(..., trace=True)"
            raise ValueError(msg)
        return self._trace()

    @cached_property
    def digest(self) -> str | None:
        """A fingerprint of the trace: equal runs have equal digests. None: no trace."""
        return None if self._trace is None else traces.digest(self.trace)

    @cached_property
    def timing(self) -> Timing:
        """How long reactions and tags took, measured; differs from run to run.

        Raises:
            ValueError: Times were not measured.
        """
        if self._timing is None:
            msg = "times were not measured; use run(..., timing=True)"
            raise ValueError(msg)
        return self._timing()

    def save_trace(
        self,
        path: str | os.PathLike[str],
        *,
        scene: str | None = None,
        trace: bool = True,
        timing: bool = True,
    ) -> None:
        """Write a file that ``reactorl.trace.load`` reads, and ``reactorl trace``.

        It has the trace, if the run was traced, and the times, if they were measured.

        Args:
            path: Where to; a name that ends in ``.gz`` is compressed.
            scene: The program's picture, for ``reactorl trace --html``:
                ``reactorl.diagram.scene(result.program).to_json()``.
            trace: Whether the trace goes into the file.
            timing: Whether the times do.

        Raises:
            ValueError: There would be nothing in it.
        """
        traced = trace and self._trace is not None
        times = self.timing if timing and self._timing is not None else None
        if not traced and times is None:
            msg = "this run was neither traced nor timed; use run(..., trace=True)"
            raise ValueError(msg)
        saved = traces.SavedTrace(
            trace=self.trace if traced else traces.Trace(()),
            program=self.program.digest,
            seed=self.options.seed,
            options={
                "fast": self.options.fast,
                "timeout": self.options.timeout,
                "keepalive": self.options.keepalive,
            },
            kept=traced,
            structure=structure_of(self.program),
            scene=scene,
            timing=times,
        )
        traces.save(path, saved)

    def summary(self, most: int = 10) -> str:
        """Return a short account: the end, counts, and the busiest reactions."""
        lines = [
            f"ended at elapsed tag {self.final_tag} after {self.seconds:.3f} s: "
            f"{self.tags} tags, {self.events} events, {self.reactions} reactions, "
            f"{self.options.workers} workers ({self.shared_tags} tags shared)"
        ]
        lines += [
            f"  {t.total:9.4f} s  {t.runs:9d} x {t.mean * 1e6:9.1f} us  {t.reaction}"
            for t in self.times[:most]
        ]
        return "\n".join(lines)
