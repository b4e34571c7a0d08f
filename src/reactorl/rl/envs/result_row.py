# SPDX-License-Identifier: Apache-2.0
"""The row of the arrays into which one sub-environment writes its results."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from reactorl.rl.envs._stepping import ResultWriter
from reactorl.rl.envs.buffer_pool import HOME
from reactorl.rl.envs.validation import BadResultError

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl.rl.envs.arrays import Arrays
    from reactorl.rl.envs.observation_buffer import Put


class ResultRow:
    """Writes the observation, reward and flags of one sub-environment.

    Args:
        arrays: The arrays of all sub-environments.
        index: The row.
        keep_valid: Whether an observation that does not fit must leave the last valid
            one unchanged, because a restart needs it.
        ends: Whether the last observation of an episode is written, too.
    """

    def __init__(
        self, arrays: Arrays, index: int, *, keep_valid: bool, ends: bool
    ) -> None:
        self._slots = slots = arrays.observations
        self._index = index
        self._last: Any = None
        self._puts: list[Put] = []
        put = self.put = slots.writer(index)
        if keep_valid and not slots.is_whole:
            self.put = partial(_put_all_or_nothing, put, partial(slots.row, index))
        if arrays.spares:
            writers = [spare.writer(index) for spare in arrays.spares]
            self._puts = [partial(self._put_and_keep, each) for each in (put, *writers)]
            self.put = self._puts[HOME]
        # Each sub-environment has views of its own: threads that count references to
        # one array object would wait for each other.
        row = slice(index, index + 1)
        self._reward = arrays.rewards[row]
        self._terminated = arrays.terminations[row]
        self._truncated = arrays.truncations[row]
        rows = None if arrays.spares else slots.rows(index)
        self.writer: ResultWriter | None = None
        """The native writer, if all results of a row are in arrays."""
        self.take_first: Callable[[object], bool] = _not_taken
        """Writes the result of a reset natively; False if it cannot."""
        if rows is not None:
            results = self._reward, self._terminated, self._truncated
            self.writer = ResultWriter(rows, *results, ends=ends)
            self.take_first = self.writer.take_first

    def write(self, reward: Any, terminated: Any, truncated: Any) -> None:  # noqa: ANN401
        """Write all results but the observation.

        Raises:
            BadResultError: The reward is not a number.
        """
        try:
            self._reward[0] = reward
        except (TypeError, ValueError) as error:
            msg = f"reward must be a number, got {reward!r}; use a wrapper that sums it"
            raise BadResultError(msg) from error
        self._terminated[0] = terminated
        self._truncated[0] = truncated

    def clear_flags(self) -> None:
        """Write that the episode has not ended."""
        self._terminated[0] = False
        self._truncated[0] = False

    def use_buffer(self, buffer: int) -> None:
        """Write observations into this buffer from now on."""
        if self._puts:
            self.put = self._puts[buffer]

    def rewrite(self) -> None:
        """Write the last observation again, into the current buffer."""
        if self._last is not None:
            self.put(self._last)

    def _put_and_keep(self, put: Put, obs: Any) -> None:  # noqa: ANN401
        # The caller owns the buffer and may change it, so the original is kept.
        put(obs)
        self._last = obs

    def observation(self) -> Any:  # noqa: ANN401
        """Return a copy of the last observation."""
        return self._slots.row(self._index)

    def put_objects(self, held: Any) -> None:  # noqa: ANN401
        """Restore the parts of an observation that are not in arrays."""
        self._slots.put_objects(self._index, iter(held))


def _not_taken(result: object) -> bool:
    return False


def _put_all_or_nothing(put: Put, before: Callable[[], Any], value: object) -> None:
    last = before()
    try:
        put(value)
    except Exception:
        with suppress(Exception):  # there may not have been one
            put(last)
        raise
