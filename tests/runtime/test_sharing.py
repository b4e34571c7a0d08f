"""Work is shared where that helps; a long reaction delays only what depends on it."""

from __future__ import annotations

import threading
import time

import pytest

from reactorl import (
    Input,
    MultiInput,
    Output,
    Reactor,
    Timer,
    bank,
    msec,
    param,
    reaction,
    run,
)


class Overlap:
    """Counts how many bodies are inside at once."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.inside = 0
        self.most = 0

    def __enter__(self) -> None:
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.inside -= 1


class Sleeper(Reactor):
    """Waits outside the interpreter, as reactions that release a GIL do."""

    overlap: Overlap = param()
    tick = Timer(0, msec(1))

    @reaction(tick)
    def wait(self) -> None:
        with self.overlap:
            time.sleep(0.004)


class Sleepers(Reactor):
    """Four that could wait at once."""

    overlap: Overlap = param()
    each = bank(Sleeper(overlap=overlap), width=4)


@pytest.mark.parametrize(("workers", "expected"), [(1, 1), (2, 2), (4, 4)])
def test_reactions_that_wait_outside_overlap(workers: int, expected: int) -> None:
    overlap = Overlap()

    result = run(
        Sleepers(overlap=overlap), workers=workers, fast=True, timeout=msec(30)
    )

    assert overlap.most == expected
    assert (result.shared_tags > 2) == (workers > 1)


class Answerer(Reactor):
    """Answers after a wait outside the interpreter."""

    tick = Timer(0, msec(1))
    answer = Output[int]()

    @reaction(tick, effects=[answer])
    def wait(self) -> None:
        time.sleep(0.004)
        self.answer.set(self.bank_index)


class Gatherer(Reactor):
    """Gathers answers; at every tenth tag it takes its time, as one that saves does."""

    answers = MultiInput[int]()
    gathered: list[list[int]] = param()

    @reaction(answers)
    def gather(self) -> None:
        self.gathered.append(self.answers.values())
        if len(self.gathered) % 10 == 0:
            time.sleep(0.1)


class Gathering(Reactor):
    """Four that could wait at once, and who waits for all of them."""

    gathered: list[list[int]] = param()
    each = bank(Answerer, width=4)
    gatherer = Gatherer(gathered=gathered)

    def build(self) -> None:
        self.connect(self.each.answer, self.gatherer.answers)


def test_what_runs_alone_at_the_end_does_not_make_sharing_seem_poor() -> None:
    gathered: list[list[int]] = []

    result = run(Gathering(gathered=gathered), workers=4, fast=True, timeout=msec(60))

    assert gathered == [[0, 1, 2, 3]] * 61
    assert result.shared_tags > 40


class Long(Reactor):
    """A long reaction at the lowest level."""

    log: list[tuple[int, str]] = param()
    tick = Timer(0, msec(1))

    @reaction(tick)
    def work(self) -> None:
        time.sleep(0.03)
        self.log.append((self.elapsed, "long"))


class Stage(Reactor):
    """One of a chain, at a deeper level than the one before."""

    log: list[tuple[int, str]] = param()
    x = Input[int]()
    y = Output[int]()

    @reaction(x, effects=[y])
    def work(self) -> None:
        time.sleep(0.001)
        self.log.append((self.elapsed, f"stage {self.bank_index}"))
        self.y.set(self.x.value)


class Source(Reactor):
    """Starts the chain at the tag of the long reaction."""

    y = Output[int]()
    tick = Timer(0, msec(1))

    @reaction(tick, effects=[y])
    def send(self) -> None:
        self.y.set(1)


class Beside(Reactor):
    """A long reaction beside an independent chain, at one tag."""

    log: list[tuple[int, str]] = param()
    long = Long(log=log)
    source = Source()
    chain = bank(Stage(log=log), width=5)

    def build(self) -> None:
        self.connect([self.source.y, self.chain.y], self.chain.x)


@pytest.mark.filterwarnings("ignore::reactorl.ReactorlWarning")
def test_a_long_reaction_delays_only_what_depends_on_it() -> None:
    log: list[tuple[int, str]] = []

    run(Beside(log=log), workers=2, fast=True, timeout=msec(19))

    rounds = [[what for tag, what in log if tag == msec(r)] for r in range(20)]
    stages = [f"stage {i}" for i in range(5)]
    assert all(sorted(done) == ["long", *stages] for done in rounds)
    # Once the costs are known, the whole chain runs while the long one does.
    assert [*stages, "long"] in rounds


class Counter(Reactor):
    """Does next to nothing."""

    tick = Timer(0, msec(1))

    @reaction(tick)
    def count(self) -> None: ...


class Counters(Reactor):
    """Many small reactions."""

    each = bank(Counter, width=16)


def test_small_work_is_not_handed_over() -> None:
    result = run(Counters, workers=4, fast=True, timeout=msec(500))

    # The start tag is shared on a free-threaded build, so that reactors settle.
    assert result.shared_tags < 25
