# SPDX-License-Identifier: Apache-2.0
"""Lingua Franca and Python in one program: reactors of both, connected.

``reactorl.lf.load`` returns the reactor classes of a ``.lf`` file (here one of those
beside this file; no Java, no build). They are classes like any other: contained by a
reactor written in Python, connected to others, given parameters, extended. Notice that
the bank of LF's workers is fed by a source in Python, that a subclass in Python reads
what LF's body has set, and that the runs are the same for any number of workers.

Run it: ``python examples/lf_and_python.py``
"""

from pathlib import Path

import reactorl.lf
from reactorl import (
    MultiInput,
    MultiOutput,
    Reactor,
    Timer,
    bank,
    msec,
    param,
    reaction,
    run,
    state,
)

pipeline = reactorl.lf.load(Path(__file__).parent / "lf" / "pipeline.lf")


class Primes(Reactor):
    """Sends the next prime to each worker, every ten milliseconds. Written here."""

    width: int = param(3)
    tasks = MultiOutput[int](width)
    tick = Timer(0, msec(10))
    last: int = state(1)

    @reaction(tick, effects=[tasks])
    def send(self) -> None:
        """Find as many primes as there are workers."""
        for channel in range(self.width):
            self.last += 1
            while any(self.last % d == 0 for d in range(2, self.last)):
                self.last += 1
            self.tasks[channel].set(self.last)


class Show(Reactor):
    """Prints what LF's workers made of it: who, and the square. Written here, too."""

    done = MultiInput[tuple[int, int]]()
    quiet: bool = param(default=False)

    @reaction(done)
    def show(self) -> None:
        """Handle the results of a tag."""
        found = ", ".join(f"worker {who}: {n}" for who, n in self.done.values())
        if not self.quiet:
            print(f"{self.elapsed // msec(1):2} ms  {found}")


class Main(Reactor):
    """A source and a sink in Python, around a bank of reactors in LF."""

    width: int = param(3)
    quiet: bool = param(default=False)
    primes = Primes(width=width)
    workers = bank(pipeline.Worker, width=width)
    show = Show(quiet=quiet)

    def build(self) -> None:
        """Connect them; what is called ``task`` and ``done`` there is so here."""
        self.connect(self.primes.tasks, self.workers.task)
        self.connect(self.workers.done, self.show.done, after=msec(5))


def main() -> None:
    """Run it, and then on more workers."""
    run(Main, fast=True, timeout=msec(25))
    digests = {
        run(
            Main(width=8, quiet=True),
            workers=workers,
            fast=True,
            timeout=msec(100),
            trace="values",
        ).digest
        for workers in (1, 2, 4)
    }
    print(f"1, 2, 4 workers: {len(digests)} digest")


if __name__ == "__main__":
    main()
