# SPDX-License-Identifier: Apache-2.0
"""The current tag, read from threads that run no reaction."""

from __future__ import annotations

import threading

from reactorl import LogicalAction, Reactor, Tag, Timer, reaction, run, startup


def test_other_threads_read_only_tags_that_existed() -> None:
    # Even times have microstep 0 only, odd times have eight: (even, > 0) never exists.
    reactors: list[Reactor] = []
    begun, reading = threading.Event(), threading.Event()
    wrong: list[Tag] = []
    reads = 0

    class Steps(Reactor):
        tick = Timer(0, 1)
        again = LogicalAction[int]()

        @reaction(startup)
        def begin(self) -> None:
            reactors.append(self)
            begun.set()
            assert reading.wait(30)

        @reaction(tick, effects=[again])
        def first(self) -> None:
            if self.elapsed % 2:
                self.again.schedule(0, 7)

        @reaction(again, effects=[again])
        def next(self) -> None:
            if self.again.value > 1:
                self.again.schedule(0, self.again.value - 1)

    def read() -> None:
        nonlocal reads
        begun.wait()
        reading.set()
        last = Tag(0, 0)
        while True:
            try:
                tag = reactors[0].tag
            except RuntimeError:  # the run has ended
                return
            reads += 1
            if (tag.time % 2 == 0 and tag.microstep) or tag < last:
                wrong.append(tag)
            last = tag

    thread = threading.Thread(target=read)
    thread.start()
    run(Steps, fast=True, timeout=30_000, workers=1)
    thread.join()

    assert reads > 0
    assert wrong == []
