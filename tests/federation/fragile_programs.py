# SPDX-License-Identifier: Apache-2.0
"""Programs whose federates kill their own processes, once for each way to die."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from reactorl import (
    Input,
    Output,
    Reactor,
    Timer,
    Watchdog,
    msec,
    param,
    reaction,
    shutdown,
)


class Mortal(Reactor):
    """Dies where ``deaths`` says so, unless the directory has a mark that it did."""

    directory = param("")
    deaths: param[tuple[str, ...]] = param(())

    def setup(self) -> None:
        self.count = 0

    def dies(self, how: str) -> bool:
        """Mark a death; return whether it is the time for it."""
        mark = Path(self.directory) / how
        if how not in self.deaths or mark.exists():
            return False
        mark.touch()
        return True

    def die(self, how: str) -> None:
        if self.dies(how):
            os.kill(os.getpid(), signal.SIGKILL)


class Ticker(Mortal):
    out = Output[int]()
    timer = Timer(0, 1)

    @reaction(timer, effects=[out])
    def tick(self) -> None:
        self.count += 1
        self.out.set(self.count)
        self.die(f"ticker {self.count}")

    @reaction(shutdown)
    def end(self) -> None:
        self.die("ticker end")


class Reader(Mortal):
    x = Input[int]()
    total = 0

    def setup(self) -> None:
        super().setup()
        self.die("reader 0")

    @reaction(x)
    def see(self) -> None:
        count = self.x.value
        if self.dies(f"reader half {count}"):
            sys.stdout.write("count")
            sys.stdout.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        if f"fails {count}" in self.deaths:
            msg = "on purpose"
            raise ValueError(msg)
        if f"exits {count}" in self.deaths:
            sys.exit(5)
        print(f"count {count}")
        self.die(f"reader {count}")


class Fragile(Reactor):
    """A ticker and a reader that prints."""

    directory = param("")
    deaths: param[tuple[str, ...]] = param(())

    def build(self) -> None:
        if "setup" in self.deaths and sys.argv[0] == "-c":  # the process of a federate
            (Path(self.directory) / f"setup {os.getpid()}").touch()
            os._exit(1)
        given = {"directory": self.directory, "deaths": self.deaths}
        ticker = self.add("ticker", Ticker(**given))
        reader = self.add("reader", Reader(**given))
        self.connect(ticker.out, reader.x)


class Slow(Mortal):
    """Sends every two milliseconds."""

    out = Output[int]()
    timer = Timer(0, msec(2))

    @reaction(timer, effects=[out])
    def tick(self) -> None:
        self.count += 1
        self.out.set(self.count)
        self.die(f"ticker {self.count}")


class Clocked(Reactor):
    """The reader depends on the clock in some way, and one of both dies later."""

    kind = param("reads")
    victim = param("reader")
    directory = param("")

    def build(self) -> None:
        given = {"directory": self.directory, "deaths": (f"{self.victim} 5",)}
        ticker = self.add("ticker", Slow(**given))
        reader = self.add("reader", READERS[self.kind](**given))
        self.connect(ticker.out, reader.x)


class Reading(Mortal):
    x = Input[int]()

    @reaction(x)
    def see(self) -> None:
        if self.x.value == 3:
            self.physical_time()
        self.die(f"reader {self.x.value}")


class Hurried(Mortal):
    """Its deadline is never missed."""

    x = Input[int]()

    @reaction(x, deadline=msec(3_600_000))
    def see(self) -> None:
        self.die(f"reader {self.x.value}")


class Guarded(Mortal):
    """Its watchdog never expires."""

    x = Input[int]()
    dog = Watchdog(msec(3_600_000))

    @reaction(x, effects=[dog])
    def see(self) -> None:
        self.dog.start()
        self.die(f"reader {self.x.value}")

    @dog.handler
    def bark(self) -> None:
        pass


READERS = {"reads": Reading, "deadline": Hurried, "watchdog": Guarded}
