# SPDX-License-Identifier: Apache-2.0
"""Lingua Franca and Python in one program: connected reactors of both.

``reactorl.lf.load`` returns the reactor classes of a ``.lf`` file, without Java or a
build. They are ordinary reactor classes: a reactor written in Python can contain them,
connect them, set their parameters and extend them. Here a source and a sink in Python
are connected to a bank of workers in LF, and the trace is bit-identical for any number
of workers.

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
    """Sends the next prime to each worker, every ten milliseconds."""

    width: int = param(3)
    tasks = MultiOutput[int](width)
    tick = Timer(0, msec(10))
    last: int = state(1)

    @reaction(tick, effects=[tasks])
    def send(self) -> None:
        """Find one prime per worker."""
        for channel in range(self.width):
            self.last += 1
            while any(self.last % d == 0 for d in range(2, self.last)):
                self.last += 1
            self.tasks[channel].set(self.last)


class Show(Reactor):
    """Prints the squares that the workers computed, with their indices."""

    done = MultiInput[tuple[int, int]]()
    quiet: bool = param(default=False)

    @reaction(done)
    def show(self) -> None:
        """Print the results of one tag."""
        found = ", ".join(f"worker {index}: {n}" for index, n in self.done.values())
        if not self.quiet:
            print(f"{self.elapsed // msec(1):2} ms  {found}")


class Main(Reactor):
    """Connects a bank of reactors in LF to a source and a sink in Python."""

    width: int = param(3)
    quiet: bool = param(default=False)
    primes = Primes(width=width)
    workers = bank(pipeline.Worker, width=width)
    show = Show(quiet=quiet)

    def build(self) -> None:
        """Connect them; ``task`` and ``done`` are the ports declared in LF."""
        self.connect(self.primes.tasks, self.workers.task)
        self.connect(self.workers.done, self.show.done, after=msec(5))


def main() -> None:
    """Run the program, then compare 1, 2 and 4 workers."""
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
