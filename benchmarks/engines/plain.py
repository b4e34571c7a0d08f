# SPDX-License-Identifier: Apache-2.0
"""A plain Python loop: the bodies of reactors, on objects with the same interface.

The workloads write the loop themselves, as one would without a runtime. A connection
without delay is one port that both sides hold; a delayed one is a copy.
"""

from __future__ import annotations

from functools import cache
from types import FunctionType
from typing import Any


class Port:
    """A value and whether it is present."""

    __slots__ = ("is_present", "value")

    def __init__(self) -> None:
        self.value: Any = None
        self.is_present = False

    def set(self, value: object) -> None:
        self.value = value
        self.is_present = True


class MultiPort(list[Port]):
    """A row of ports."""

    def values(self) -> list[Any]:
        return [port.value for port in self]


class Plain:
    """Attributes of a reactor that bodies use, besides ports and state."""

    bank_index = 0
    stopped = False

    def setup(self) -> None:
        """Initialize the state, where the reactor does."""

    def request_stop(self) -> None:
        self.stopped = True


@cache
def _plain_class(reactor: type) -> type:
    bodies = {k: v for k, v in vars(reactor).items() if isinstance(v, FunctionType)}
    return type(f"Plain{reactor.__name__}", (Plain,), bodies)


def plain(reactor: type, **members: object) -> Any:  # noqa: ANN401
    """Return an object with the bodies of a reactor class, without a runtime.

    Args:
        reactor: The class.
        members: Its ports and parameters.
    """
    made = _plain_class(reactor)()
    for name, value in members.items():
        setattr(made, name, value)
    made.setup()
    return made
