# SPDX-License-Identifier: Apache-2.0
"""A small program, run twice on two workers and once on one, to compare the digests.

``reactorl doctor`` runs this in another process, so that no failure, not even a crash
of the extension, ends the command::

    python -m reactorl.cli.doctor.selfcheck
"""

from __future__ import annotations

import json

from reactorl import (
    Input,
    MultiInput,
    Output,
    Reactor,
    Timer,
    bank,
    msec,
    reaction,
    run,
    state,
)


class Source(Reactor):
    """Counts milliseconds."""

    out = Output[int]()
    tick = Timer(0, msec(1))
    sent: int = state(0)

    @reaction(tick, effects=[out])
    def send(self) -> None:
        """Send the next number."""
        self.sent += 1
        self.out.set(self.sent)


class Worker(Reactor):
    """Adds random numbers."""

    x = Input[int]()
    y = Output[float]()

    @reaction(x, effects=[y])
    def work(self) -> None:
        """Do some work, more of it in some members of the bank."""
        value = float(self.x.value)
        for _ in range(50 * (1 + self.bank_index)):
            value += self.random.random()
        self.y.set(value)


class Sum(Reactor):
    """Adds up, in the order of the bank."""

    parts = MultiInput[float]()
    total: float = state(0.0)

    @reaction(parts)
    def gather(self) -> None:
        """Add the results of all workers."""
        for part in self.parts.values():
            self.total = self.total * 0.5 + part


class Check(Reactor):
    """One source, four workers, one sum."""

    source = Source()
    workers = bank(Worker, width=4)
    sum = Sum()

    def build(self) -> None:
        """Connect them."""
        self.connect(self.source.out, self.workers.x, broadcast=True)
        self.connect(self.workers.y, self.sum.parts)


def digests() -> list[str | None]:
    """Return the digests of three runs: two workers, two again, one."""
    return [
        run(
            Check, workers=w, seed=1, fast=True, timeout=msec(20), trace="values"
        ).digest
        for w in (2, 2, 1)
    ]


if __name__ == "__main__":
    print(json.dumps(digests()))
