# SPDX-License-Identifier: Apache-2.0
"""What the simulation of a wire knows of messages and of federates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import threading

    from reactorl._federation.federate import Federate
    from reactorl._federation.messages import Message, Report
    from reactorl._runtime.recording import Recording


class DeadlockError(AssertionError):
    """Everybody waits and nothing is on its way."""


@dataclass
class Counts:
    """What was delivered."""

    values: int = 0
    promises: int = 0
    demands: int = 0
    floors: int = 0
    reports: int = 0
    again: int = 0  # values that came twice
    kills: int = 0


@dataclass
class Life:
    """One life of a federate."""

    federate: Federate
    number: int
    put: int = 0  # messages given to its core
    taken: int = 0  # messages that it had taken in when it waited last
    waiting: bool = False
    ended: bool = False
    whole: bool = False  # it reached the final tag
    error: BaseException | None = None
    thread: threading.Thread | None = None
    report: Report | None = None
    record: Recording | None = None


@dataclass(order=True)
class Delivery:
    """A message on its way."""

    time: int
    order: int
    source: int = field(compare=False)
    target: int = field(compare=False)
    lives: tuple[int, int] = field(compare=False)
    what: Message | Report = field(compare=False)
