# SPDX-License-Identifier: Apache-2.0
"""A feedback loop between two reactors, and why one connection needs a delay.

Without the delay each reactor would have to run before the other at one tag, and the
program would be rejected. With ``after=0`` the value arrives at the next microstep of
the same time.

Run it: ``python examples/ping_pong.py``
"""

from reactorl import (
    CausalityError,
    Input,
    Output,
    Reactor,
    param,
    reaction,
    run,
    shutdown,
    startup,
    state,
)


class Ping(Reactor):
    """Serves, and returns each ball until ``count`` have come back."""

    ball = Input[int]()
    out = Output[int]()
    count: int = param(3)

    @reaction(startup, effects=[out])
    def serve(self) -> None:
        """Send the first ball."""
        self.out.set(1)

    @reaction(ball, effects=[out])
    def hit(self) -> None:
        """Return the ball, unless that was the last one."""
        print(f"ping got {self.ball.value} at microstep {self.tag.microstep}")
        if self.ball.value < self.count:
            self.out.set(self.ball.value + 1)


class Pong(Reactor):
    """Returns every ball at the tag at which it arrives."""

    ball = Input[int]()
    out = Output[int]()
    hits: int = state(0)

    @reaction(ball, effects=[out])
    def hit(self) -> None:
        """Return the ball."""
        self.hits += 1
        self.out.set(self.ball.value)

    @reaction(shutdown)
    def report(self) -> None:
        """Print the number of hits."""
        print(f"pong hit {self.hits} balls")


class Game(Reactor):
    """Ping against Pong; the program ends when no event is left."""

    delayed: bool = param(default=True)
    ping = Ping(count=3)
    pong = Pong()

    def build(self) -> None:
        """Connect the two in both directions."""
        self.connect(self.ping.out, self.pong.ball)
        self.connect(self.pong.out, self.ping.ball, after=0 if self.delayed else None)


if __name__ == "__main__":
    result = run(Game, fast=True)
    print(f"ended at {result.final_tag}\n")

    try:
        run(Game(delayed=False), fast=True)
    except CausalityError as error:
        print("without the delay:", str(error).splitlines()[0])
        for hop in error.cycle:
            print(f"  {hop.reaction} sets {hop.source}")
