# SPDX-License-Identifier: Apache-2.0
"""A bank of stages in a row, each a logical millisecond after the one before.

Because of the delay the stages work on different items at one tag, so as many workers
as there are stages have something to do. What comes out does not depend on how many
there are: the digests of the traces are the same.

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
        """Send the next number, as long as there is one."""
        if self.sent < self.count:
            self.sent += 1
            self.out.set(self.sent)


class Stage(Reactor):
    """Multiplies by ten and adds its position in the bank."""

    x = Input[int]()
    y = Output[int]()

    @reaction(x, effects=[y])
    def work(self) -> None:
        """Handle one item."""
        self.y.set(self.x.value * 10 + self.bank_index)


class Sink(Reactor):
    """Prints what arrives, and when."""

    x = Input[int]()
    quiet: bool = param(default=False)

    @reaction(x)
    def show(self) -> None:
        """Handle one result."""
        if not self.quiet:
            print(f"{self.elapsed // msec(1)} ms: {self.x.value}")


class Pipeline(Reactor):
    """Source, stages, sink."""

    width: int = param(3)
    quiet: bool = param(default=False)
    source = Source()
    stages = bank(Stage, width=width)
    sink = Sink(quiet=quiet)

    def build(self) -> None:
        """Connect each to the next: both sides are lists of ports, joined in pairs."""
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
