# SPDX-License-Identifier: Apache-2.0
"""Backends: all sub-environments of a vector, in shards, in lock-step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from reactorl.rl.envs.errors import EnvError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reactorl import Tag
    from reactorl.rl.envs.arrays import Arrays
    from reactorl.rl.envs.commands import Command, Description, Reply, Step
    from reactorl.rl.envs.placement import Placement
    from reactorl.rl.envs.rules import Rules


class Backend(Protocol):
    """All sub-environments of a vector. One thread at a time may use it."""

    @property
    def tag(self) -> Tag:
        """The tag of the last command, elapsed."""

    def describe(self) -> list[Description]:
        """Return a description of each sub-environment.

        Raises:
            EnvError: One could not be made.
        """

    def make_arrays(self, description: Description, *, pooled: bool) -> Arrays:
        """Make the arrays into which the sub-environments write their results.

        Args:
            description: The spaces.
            pooled: Whether there may be spare observation buffers; see ``BufferPool``.
        """

    def execute(self, command: Command) -> Sequence[Reply]:
        """Execute a command in every sub-environment, at the next tag.

        Returns:
            A reply for each; None if there is nothing to report.
        """

    def step(self, command: Step) -> dict[int, Reply]:
        """Step every sub-environment, at the next tag.

        Returns:
            Replies by index, in order; most sub-environments have nothing to report.
        """

    def close(self) -> None:
        """Close the environments and free all resources; may be called again."""


def lockstep_backend(
    placement: Placement,
    makers: Sequence[Callable[[], Any]],
    rules: Rules,
    *,
    workers: int | None,
    pin: bool,
) -> Backend:
    """Return a backend that steps all sub-environments together.

    Args:
        placement: Where they live.
        makers: Make the environments.
        rules: Settings of all sub-environments.
        workers: Number of threads or processes; None: chosen automatically.
        pin: Whether a sub-environment stays on the thread that made it.
    """
    if placement == "process":
        from reactorl.rl.envs.process.backend import ProcessBackend

        return ProcessBackend(makers, rules, workers=workers)
    from reactorl.rl.envs.thread_backend import ThreadBackend

    return ThreadBackend(makers, rules, workers=workers, pin=pin)


def first_failure(replies: Sequence[Any]) -> None:
    """Raise the first failure among replies.

    Raises:
        EnvError: There is one.
    """
    for reply in replies:
        if isinstance(reply, EnvError):
            raise reply
