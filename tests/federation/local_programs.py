# SPDX-License-Identifier: Apache-2.0
"""Programs for federates that are started as processes; they do what users may do."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

from reactorl import Input, Output, PhysicalAction, Reactor, Timer, param, reaction
from tests.federation.networked import Ticker


class Reader(Reactor):
    x = Input[int]()

    @reaction(x)
    def see(self) -> None:
        self.act(self.x.value)

    def act(self, count: int) -> None:
        pass


class Ticking(Reactor):
    """A ticker and a reactor that does something when it has counted to 3."""

    kind = param("Reader")

    def build(self) -> None:
        self.ticker = self.add("ticker", Ticker())
        self.reader = self.add("reader", globals()[self.kind]())
        self.connect(self.ticker.out, self.reader.x)


class Printer(Reader):
    def act(self, count: int) -> None:
        print(f"count {count}")
        print(f"count {count} to stderr", file=sys.stderr)


class Killed(Reader):
    def act(self, count: int) -> None:
        if count == 3:
            print("these are my last words", file=sys.stderr)
            os.kill(os.getpid(), signal.SIGKILL)


class Exiting(Reader):
    def act(self, count: int) -> None:
        if count == 3:
            sys.exit(7)


class Vanishing(Reader):
    """Leaves without a word to anyone."""

    def act(self, count: int) -> None:
        if count == 3:
            os._exit(5)


class FailingAtTheEnd(Reader):
    """Its process fails after the run: a thread of its own ends it with a status."""

    def setup(self) -> None:
        main = threading.main_thread()

        def wait() -> None:
            main.join()
            os._exit(9)

        threading.Thread(target=wait).start()


class Forking(Reader):
    """Starts a process that has the connections of this one, and is killed."""

    def act(self, count: int) -> None:
        if count == 3:
            if os.fork() == 0:
                time.sleep(20)
                os._exit(0)
            os.kill(os.getpid(), signal.SIGKILL)


class Different(Reactor):
    """Is another program in each process."""

    def build(self) -> None:
        self.ticker = self.add("ticker", Ticker())
        reader = self.add(f"reader{os.getpid()}", Reader())
        self.connect(self.ticker.out, reader.x)


class Unbuildable(Reactor):
    """Can be built in one process only."""

    home = param(0)

    def build(self) -> None:
        if os.getpid() != self.home:
            msg = "no licence for another process"
            raise OSError(msg)
        self.ticker = self.add("ticker", Ticker())
        self.reader = self.add("reader", Reader())
        self.connect(self.ticker.out, self.reader.x)


class Sensor(Reactor):
    """Its values come from a thread."""

    out = Output[int]()
    event = PhysicalAction[int]()
    start = Timer(0)

    @reaction(start, effects=[event])
    def begin(self) -> None:
        self.thread = threading.Thread(target=self.sense)
        self.thread.start()

    def sense(self) -> None:
        for value in range(5):
            self.event.schedule(0, value)
            time.sleep(0.002)

    @reaction(event, effects=[out])
    def pass_on(self) -> None:
        self.out.set(self.event.value)

    def teardown(self) -> None:
        self.thread.join()


class Stopper(Reader):
    def act(self, count: int) -> None:
        if count == 4:
            self.request_stop()


class Sensing(Reactor):
    sensor = Sensor()
    reader = Stopper()

    def build(self) -> None:
        self.connect(self.sensor.out, self.reader.x)
