# SPDX-License-Identifier: Apache-2.0
"""Home workers: where reactors begin and end, and where they stay if told to."""

from __future__ import annotations

import threading
import time

import pytest

from reactorl import (
    Input,
    MultiOutput,
    Output,
    Reactor,
    bank,
    drive,
    param,
    reaction,
    shutdown,
    startup,
)
from reactorl._util.machine import has_gil


class Resident(Reactor):
    """Notes on which thread it runs."""

    go = Input[int]()
    out = Output[int]()
    seen: list[list[int]] = param()
    bank_index: int = param(0)

    def note(self) -> None:
        self.seen[self.bank_index].append(threading.get_ident())

    @reaction(startup)
    def begin(self) -> None:
        self.note()

    @reaction(go, effects=[out])
    def work(self) -> None:
        self.note()
        # One of them is much slower: others would take over its neighbours' work.
        if self.bank_index == self.go.value % 6:
            time.sleep(0.002)
        self.out.set(self.bank_index)

    @reaction(shutdown)
    def end(self) -> None:
        self.note()


class House(Reactor):
    go = Input[int]()
    out = MultiOutput[int](6)
    seen: list[list[int]] = param()
    residents = bank(Resident(seen=seen), width=6)

    def build(self) -> None:
        self.connect(self.go, self.residents.go, broadcast=True)
        self.connect(self.residents.out, self.out)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_reactors_that_stay_home_never_change_the_thread(workers: int) -> None:
    seen: list[list[int]] = [[] for _ in range(6)]

    with drive(House(seen=seen), workers=workers, stay_home=True) as house:
        for turn in range(20):
            assert house.step(go=turn).out == [0, 1, 2, 3, 4, 5]

    assert [len(each) for each in seen] == [22] * 6
    assert all(len(set(each)) == 1 for each in seen)
    assert len({each[0] for each in seen}) == workers
    assert seen[0][0] == threading.get_ident()  # the caller is worker 0


@pytest.mark.skipif(has_gil(), reason="with a GIL the home has no use")
def test_reactors_end_where_they_began() -> None:
    seen: list[list[int]] = [[] for _ in range(6)]

    with drive(House(seen=seen), workers=2) as house:
        for turn in range(5):
            house.step(go=turn)

    assert all(each[0] == each[-1] for each in seen)
    assert len({each[0] for each in seen}) == 2
