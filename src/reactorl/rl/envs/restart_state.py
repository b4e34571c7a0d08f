# SPDX-License-Identifier: Apache-2.0
"""Restart bookkeeping of one sub-environment.

A replacement of a failed environment is seeded from the last seed and the number of
replacements since then, so that a run with restarts is reproducible as well.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reactorl.rl.envs.errors import EnvError


class RestartState:
    """Seeds of replacements, and a restart that has not been reported yet."""

    def __init__(self) -> None:
        self.seed: int | None = None
        """The seed of the last seeded reset."""
        self.count = 0
        """Replacements since that reset."""
        self._next_seed: int | None = None
        self._pending: EnvError | None = None
        self._pending_ends_episode = False

    def seeded(self, seed: int) -> None:
        """Start counting again: the environment is reset with a seed."""
        self.seed, self.count, self._next_seed = seed, 0, None

    def replaced(self, count: int) -> None:
        """Seed the next reset: the environment is the ``count``-th replacement."""
        self.count = count
        if self.seed is not None:
            text = f"{self.seed}/{count}".encode()
            digest = hashlib.blake2b(text, digest_size=4).digest()
            self._next_seed = int.from_bytes(digest) >> 1

    def take_seed(self) -> int | None:
        """Return the seed of a replacement's first reset, once."""
        seed, self._next_seed = self._next_seed, None
        return seed

    def defer(self, failure: EnvError, *, is_over: bool) -> None:
        """Report a restart with the next step or reset.

        Args:
            failure: The cause of the restart.
            is_over: Whether the episode had ended before. If not, the next step
                truncates it; if so, the next reset reports the restart.
        """
        self._pending = failure
        self._pending_ends_episode = not is_over

    def take_truncation(self) -> EnvError | None:
        """Return the deferred failure if it has to end the episode, once."""
        if self._pending is None or not self._pending_ends_episode:
            return None
        return self.take_pending()

    def take_pending(self) -> EnvError | None:
        """Return the deferred failure, once."""
        failure, self._pending = self._pending, None
        return failure

    @property
    def is_quiet(self) -> bool:
        """Whether there is nothing to report, and no seed for the next reset."""
        return self._pending is None and self._next_seed is None

    def save(self) -> list[Any]:
        """Return the state as plain data; a deferred failure is not part of it."""
        return [self.seed, self.count, self._next_seed]

    def load(self, saved: list[Any]) -> None:
        """Restore a saved state."""
        self.seed, self.count, self._next_seed = saved
