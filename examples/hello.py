# SPDX-License-Identifier: Apache-2.0
"""A first program: one reactor, three reactions, one timer.

In a fast run the runtime does not wait for the wall clock between tags, so these two
logical seconds take no real time.

Run it: ``python examples/hello.py``
"""

from reactorl import Reactor, Timer, msec, reaction, run, sec, shutdown, startup


class Hello(Reactor):
    """Prints at the start, twice a second, and at the end."""

    tick = Timer(offset=msec(500), period=msec(500))

    @reaction(startup)
    def begin(self) -> None:
        """Runs at the first tag."""
        print("hello")

    @reaction(tick)
    def count(self) -> None:
        """Runs at every tick."""
        print(f"  {self.elapsed // msec(1):4} ms")

    @reaction(shutdown)
    def end(self) -> None:
        """Runs at the last tag, after the reactions written before it."""
        print("bye")


if __name__ == "__main__":
    result = run(Hello, fast=True, timeout=sec(2))
    print(f"{result.reactions} reactions at {result.tags} tags")
