# SPDX-License-Identifier: Apache-2.0
"""Stage: takes a number, passes the next one on."""

from __future__ import annotations

from benchmarks.runtime.engines.plain import Plain, Port, bodies
from reactorl import Input, Output, Reactor, reaction


class Stage(Reactor):
    """Adds one."""

    before = Input[int]()
    after = Output[int]()

    @reaction(before, effects=[after])
    def work(self) -> None:
        self.after.set(self.before.value + 1)


class PlainStage(Plain):
    """A stage without a runtime."""

    (work,) = bodies(Stage.work)

    def __init__(self, before: Port) -> None:
        self.before = before
        self.after = Port()
