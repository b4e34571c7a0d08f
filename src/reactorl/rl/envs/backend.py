# SPDX-License-Identifier: Apache-2.0
"""Where environments live, and how they are told what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl import Tag
    from reactorl.rl.envs.arrays import Arrays
    from reactorl.rl.envs.commands import Command, Description, Reply, Step


class Host(Protocol):
    """Has all environments of a vector; only one thread at a time may use it."""

    @property
    def tag(self) -> Tag:
        """The tag of the last command, elapsed."""

    def describe(self) -> list[Description]:
        """Return what each environment is.

        Raises:
            EnvError: One could not be made.
        """

    def make_arrays(self, description: Description, *, lends: bool) -> Arrays:
        """Make arrays in which the environments leave their results from now on.

        Args:
            description: What they are.
            lends: Whether batches of observations are to be given away.
        """

    def obey(self, command: Command) -> Sequence[Reply]:
        """Let every environment obey, at the next tag; returns a reply each."""

    def step(self, command: Step) -> dict[int, Reply]:
        """Let every environment step, at the next tag; returns what some reply.

        In the order of environments. Most have nothing to say.
        """

    def close(self) -> None:
        """Close the environments and let go of everything; more than once is fine."""
