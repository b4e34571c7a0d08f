# SPDX-License-Identifier: Apache-2.0
"""In the steady state of a program nothing is sent besides values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from reactorl import (
    Federation,
    Input,
    MultiInput,
    Output,
    Reactor,
    Timer,
    bank,
    elaborate,
    msec,
    reaction,
    state,
)
from reactorl._program.cut import cut_program
from reactorl.testing import assert_same_trace
from tests.federation.simulation import Simulation
from tests.oracle import interpret

if TYPE_CHECKING:
    from tests.federation.deliveries import Counts


class Clock(Reactor):
    tick = Output[int]()
    timer = Timer(0, msec(1))

    @reaction(timer, effects=[tick])
    def go(self) -> None:
        self.tick.set(1)


class Rollout(Reactor):
    """Uses the newest weights that are there when an iteration begins."""

    tick = Input[int]()
    weights = Input[int]()
    batch = Output[int]()
    known = state(0)

    @reaction(weights)
    def update(self) -> None:
        self.known = self.weights.value

    @reaction(tick, effects=[batch])
    def collect(self) -> None:
        self.batch.set(self.known + self.bank_index)


class Learner(Reactor):
    batches = MultiInput[int]()
    weights = Output[int]()

    @reaction(batches, effects=[weights])
    def learn(self) -> None:
        self.weights.set(sum(self.batches.values()) % 1000)


class Flow(Reactor):
    """Rollouts, and a learner whose weights arrive one iteration later."""

    clock = Clock()
    rollouts = bank(Rollout(), width=4)
    learner = Learner()

    def build(self) -> None:
        self.connect(self.clock.tick, self.rollouts.tick, broadcast=True)
        self.connect(self.rollouts.batch, self.learner.batches)
        self.connect(
            self.learner.weights, self.rollouts.weights, broadcast=True, after=msec(1)
        )


class Ping(Reactor):
    out = Output[int]()
    back = Input[int]()
    timer = Timer(0, msec(1))

    @reaction(timer, effects=[out])
    def send(self) -> None:
        self.out.set(1)

    @reaction(back)
    def hear(self) -> None:
        assert self.back.value == 2


class Pong(Reactor):
    x = Input[int]()
    y = Output[int]()

    @reaction(x, effects=[y])
    def work(self) -> None:
        self.y.set(self.x.value + 1)


class PingPong(Reactor):
    ping = Ping()
    pong = Pong()

    def build(self) -> None:
        self.connect(self.ping.out, self.pong.x)
        self.connect(self.pong.y, self.ping.back)


ROLLOUTS = Federation(
    {"main.rollouts[1:3]": "a", "main.rollouts[3]": "b"}, replicas=["main.clock"]
)
PONG = Federation({"main.pong": "there"})


def counts(
    main: type[Reactor], placement: Federation, rounds: int, seed: int, **how: Any
) -> Counts:
    program = elaborate(main)
    cut = cut_program(program, placement)
    timeout = msec(rounds)
    simulation = Simulation(program, cut, seed=seed, timeout=timeout, **how)
    assert_same_trace(simulation.run(), interpret(program, timeout=timeout))
    return simulation.counts


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("main", "placement", "values"), [(Flow, ROLLOUTS, 5), (PingPong, PONG, 2)]
)
def test_only_values_are_sent(
    main: type[Reactor], placement: Federation, values: int, seed: int
) -> None:
    """A longer run differs from a shorter one by values alone."""
    short = counts(main, placement, 20, seed)
    long = counts(main, placement, 60, seed)

    assert long.values - short.values == 40 * values
    assert long.promises + long.demands + long.floors < 20
    assert long.promises <= short.promises + 2
    assert (long.demands, long.floors) == (short.demands, short.floors)
