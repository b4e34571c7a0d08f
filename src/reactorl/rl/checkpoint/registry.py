# SPDX-License-Identifier: Apache-2.0
"""The registry of reactors whose state a checkpoint holds.

Reactors return their state as plain data: numbers, strings and arrays in dicts and
lists. A run collects it between two iterations, when nothing executes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Set

Data: TypeAlias = Any
"""Plain data."""


class Checkpointable(Protocol):
    """A reactor with a state."""

    def save(self) -> Data:
        """Return the state as plain data; its arrays are not changed afterwards."""


class StateRegistry:
    """The reactors of one run that can be saved, and the state to restore in each.

    Args:
        saved: State by the full name of the reactor; None: start from scratch.
    """

    def __init__(self, saved: Mapping[str, Data] | None = None) -> None:
        self._saved = dict(saved or {})
        self._reactors: dict[str, Checkpointable] = {}
        self._sent: Set[str] = frozenset()

    def __getstate__(self) -> dict[str, Any]:
        # For the other processes of a federation: the states of a learner and of a
        # replay buffer are large, and none of their business.
        sent = {
            name: state
            for name, state in self._saved.items()
            if name.partition("[")[0] in self._sent
        }
        return {"_saved": sent, "_reactors": {}, "_sent": frozenset()}

    def send(self, names: Set[str]) -> None:
        """Let other processes get the states of some reactors, or of whole banks."""
        self._sent = names

    def __repr__(self) -> str:
        # Part of the identity of a program: the same for all of its runs.
        return "StateRegistry()"

    def enter(self, name: str, reactor: Checkpointable) -> Data | None:
        """Register a reactor; return the state to restore, None if there is none."""
        self._reactors[name] = reactor
        return self._saved.get(name)

    def saved(self, name: str) -> Data | None:
        """Return the state to restore in a reactor, None if there is none."""
        return self._saved.get(name)

    def reactor(self, name: str) -> Any:  # noqa: ANN401
        """Return a reactor by its full name."""
        return self._reactors[name]

    def find(self, name: str) -> Any:  # noqa: ANN401
        """Return a reactor by its full name, None if there is none."""
        return self._reactors.get(name)

    def save(self) -> dict[str, Data]:
        """Return the state of all reactors, by name."""
        return {name: self._reactors[name].save() for name in sorted(self._reactors)}


def random_state(random: Any) -> Data:  # noqa: ANN401
    """Return the state of a NumPy generator as plain data."""
    return random.bit_generator.state


def set_random_state(random: Any, state: Data) -> None:  # noqa: ANN401
    """Put a NumPy generator into a state."""
    random.bit_generator.state = state
