# SPDX-License-Identifier: Apache-2.0
"""The smallest program that does something: one reactor, three reactions, one timer.

In a fast run logical time jumps from tag to tag, so these two seconds take none.

Run it: ``python examples/hello.py``
"""

from reactorl import Reactor, Timer, msec, reaction, run, sec, shutdown, startup


class Hello(Reactor):
    """Says something at the start, twice a second, and at the end."""

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
