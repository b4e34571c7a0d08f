# SPDX-License-Identifier: Apache-2.0
"""A pipeline: a chain of stages in a bank, with a logical delay between them.

Because of the delay the stages process different items at one tag, so they can run on
as many workers as there are stages. The output does not depend on the number of
workers: the digests of the traces are equal.

Run it: ``python examples/pipeline.py``
"""

from reactorl import (
    Input,
    Output,
    Reactor,
    Timer,
    bank,
    msec,
    param,
    reaction,
    run,
    state,
)


class Source(Reactor):
    """Sends 1, 2, 3, ... every millisecond."""

    out = Output[int]()
    tick = Timer(0, msec(1))
    sent: int = state(0)
    count: int = param(4)

    @reaction(tick, effects=[out])
    def send(self) -> None:
        """Send the next number until ``count`` is reached."""
        if self.sent < self.count:
            self.sent += 1
            self.out.set(self.sent)


class Stage(Reactor):
    """Multiplies by ten and adds its position in the bank."""

    x = Input[int]()
    y = Output[int]()

    @reaction(x, effects=[y])
    def work(self) -> None:
        """Process one item."""
        self.y.set(self.x.value * 10 + self.bank_index)


class Sink(Reactor):
    """Prints each result with its time."""

    x = Input[int]()
    quiet: bool = param(default=False)

    @reaction(x)
    def show(self) -> None:
        """Print one result."""
        if not self.quiet:
            print(f"{self.elapsed // msec(1)} ms: {self.x.value}")


class Pipeline(Reactor):
    """Connects a source, the stages and a sink."""

    width: int = param(3)
    quiet: bool = param(default=False)
    source = Source()
    stages = bank(Stage, width=width)
    sink = Sink(quiet=quiet)

    def build(self) -> None:
        """Connect each stage to the next: the two lists of ports are paired up."""
        self.connect(
            [self.source.out, self.stages.y],
            [self.stages.x, self.sink.x],
            after=msec(1),
        )


if __name__ == "__main__":
    run(Pipeline, fast=True, timeout=msec(10))
    digests = {
        run(
            Pipeline(width=8, quiet=True),
            workers=workers,
            fast=True,
            timeout=msec(20),
            trace=True,
        ).digest
        for workers in (1, 2, 4, 8)
    }
    print(f"1, 2, 4, 8 workers: {len(digests)} digest")
