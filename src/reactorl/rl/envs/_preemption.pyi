"""Pauses of threads. Use `reactorl.rl.envs.thread_safety`."""

from typing import Final


class Preemption:
    """Pauses threads at arbitrary instructions."""

    def __init__(self, *, period: int, progress: int, longest: int) -> None:
        """
        In microseconds: the mean time between two pauses, the processor time that the other threads use during a pause, and the longest pause.
        """

    def enter(self, *, gil: bool) -> None:
        """
        Let the calling thread be paused; if there is a GIL, where it is released.
        """

    def leave(self) -> None:
        """Let the calling thread run undisturbed again."""

    works: Final[bool] = ...
    """Whether this system has pauses."""

    @property
    def chances(self) -> int:
        """Number of times that a running thread was interrupted."""

    @property
    def pauses(self) -> int:
        """Number of those at which it was paused."""
