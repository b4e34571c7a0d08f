"""A long run: a million tags, eight workers, nothing lost, memory flat."""

from __future__ import annotations

import gc
from pathlib import Path

from reactorl import (
    Input,
    LogicalAction,
    MultiInput,
    Output,
    Reactor,
    bank,
    param,
    reaction,
    run,
    startup,
)

TAGS = 1_000_000


def resident_kib() -> int:
    """Return the memory that this process holds."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError


class Client(Reactor):
    """Sends every third number back, through an action of its own."""

    x = Input[int]()
    y = Output[int]()
    later = LogicalAction[int]()

    @reaction(later, effects=[y])
    def answer(self) -> None:
        self.y.set(self.later.value)

    @reaction(x, effects=[later])
    def take(self) -> None:
        if self.x.value % 3 == self.bank_index:
            self.later.schedule(0, self.x.value)


class Server(Reactor):
    """Counts what it sends and what comes back; notes memory on the way."""

    rounds: int = param()
    memory: list[int] = param()
    out = Output[int]()
    back = MultiInput[int]()
    tick = LogicalAction[int](min_delay=1)

    def setup(self) -> None:
        self.sent = 0
        self.received = 0

    @reaction(back)
    def count(self) -> None:
        self.received += len(self.back.values())

    @reaction(startup, tick, effects=[out, tick])
    def send(self) -> None:
        self.out.set(self.sent)
        self.sent += 1
        if self.sent % (self.rounds // 8) == 0:
            self.memory.append(resident_kib())
        if self.sent < self.rounds:
            self.tick.schedule()

    def teardown(self) -> None:
        assert (self.sent, self.received) == (self.rounds, self.rounds)


class Soak(Reactor):
    """Two tags per round: numbers go out, answers come back a microstep later."""

    rounds: int = param()
    memory: list[int] = param()
    server = Server(rounds=rounds, memory=memory)
    clients = bank(Client, width=3)

    def build(self) -> None:
        self.connect(self.server.out, self.clients.x, broadcast=True)
        self.connect(self.clients.y, self.server.back)


def test_a_million_tags_lose_nothing_and_leak_nothing() -> None:
    memory: list[int] = []

    result = run(Soak(rounds=TAGS // 2, memory=memory), workers=8, fast=True)

    assert result.tags == TAGS + 1  # the final one follows
    # The first eighth fills caches; a leak of eight bytes per tag would show.
    assert memory[-1] - memory[0] < 2_000, memory


def test_shared_tags_leak_nothing_either() -> None:
    memory: list[int] = []

    result = run(Soak(rounds=20_000, memory=memory), workers=8, fast=True, shuffle=3)

    assert result.shared_tags > 10_000
    assert memory[-1] - memory[0] < 2_000, memory


def test_repeated_runs_leak_nothing() -> None:
    memory: list[int] = []
    for _ in range(8):
        for _ in range(100):
            run(Soak(rounds=16, memory=[]), workers=2, fast=True, trace=True)
        gc.collect()  # without a GIL it comes ever more rarely by itself
        memory.append(resident_kib())

    # Threads come and go, so heaps breathe at first, for some hundred runs. After
    # that three KiB per run would show.
    assert memory[-1] - memory[4] < 1_000, memory
