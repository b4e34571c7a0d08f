# SPDX-License-Identifier: Apache-2.0
"""What every workload has: the same program in the form that each engine wants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import ThreadPoolExecutor

    from benchmarks.runtime.watch import Watch
    from reactorl import Reactor


class Share(Protocol):
    """What one free-running thread does."""

    def round(self) -> None:
        """Do this share of one round."""

    def seen(self) -> Sequence[object]:
        """Return what was computed last."""


class Workload:
    """A workload in one of its cases.

    A form that makes no sense for a workload is left out; the plan does not ask for it.
    The form for Xronos is in the module of the same name in ``in_xronos``.
    """

    name: str
    unit = "round"
    units_per_round = 1.0
    quantum = 1
    """Rounds are timed in multiples of this."""
    compared_rounds: int
    """After so many rounds all engines must have computed the same."""

    def ours(self, watch: Watch) -> Reactor:
        """Return the main reactor."""
        raise NotImplementedError

    def plain(self, watch: Watch) -> None:
        """Run as a plain loop until the watch has had enough."""
        raise NotImplementedError

    def futures(self, watch: Watch, pool: ThreadPoolExecutor) -> None:
        """Run as a loop that hands out what may overlap."""
        raise NotImplementedError

    def share(self, part: int, parts: int) -> Share:
        """Make, in the calling thread, the share of one of ``parts`` threads."""
        raise NotImplementedError

    def finish(self, watch: Watch) -> dict[str, Any]:
        """Return further numbers, after the run."""
        del watch
        return {}
