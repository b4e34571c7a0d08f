# SPDX-License-Identifier: Apache-2.0
"""What parts of a flow keep between rounds, and take up again.

Parts know how to tell their state as plain data: numbers, strings, arrays, in dicts and
lists. Whoever drives the program asks them between two rounds, when nothing runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Data: TypeAlias = Any
"""Plain data."""


class Keeper(Protocol):
    """A part with a state."""

    def save(self) -> Data:
        """Return the state as plain data; what it holds is not changed afterwards."""


class Records:
    """The parts of one run, and what each is to begin with.

    Args:
        saved: By the full name of the part; empty: all begin anew.
    """

    def __init__(self, saved: Mapping[str, Data] | None = None) -> None:
        self._saved = dict(saved or {})
        self._keepers: dict[str, Keeper] = {}

    def __repr__(self) -> str:
        # Part of what identifies a program: the same for all of its runs.
        return "Records()"

    def enter(self, name: str, keeper: Keeper) -> Data | None:
        """Note a part; return what it is to begin with, None if with nothing."""
        self._keepers[name] = keeper
        return self._saved.get(name)

    def saved(self, name: str) -> Data | None:
        """Return what a part is to begin with, None if with nothing."""
        return self._saved.get(name)

    def keeper(self, name: str) -> Keeper:
        """Return a part by its full name."""
        return self._keepers[name]

    def save(self) -> dict[str, Data]:
        """Return the state of all parts, by name."""
        return {name: self._keepers[name].save() for name in sorted(self._keepers)}


def random_state(random: Any) -> Data:  # noqa: ANN401
    """Return the state of a NumPy generator as plain data."""
    return random.bit_generator.state


def set_random_state(random: Any, state: Data) -> None:  # noqa: ANN401
    """Put a NumPy generator into a state."""
    random.bit_generator.state = state
