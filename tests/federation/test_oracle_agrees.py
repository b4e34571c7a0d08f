# SPDX-License-Identifier: Apache-2.0
"""A program in parts gives the oracle's trace, however it is cut and links are slow.

A failing case is a function of its seed if each federate has one worker.
"""

from __future__ import annotations

from typing import Any

import pytest

from reactorl import ReactorlWarning
from reactorl.testing import assert_same_trace
from reactorl.testing.generated import program_from_seed
from tests.federation.deliveries import Counts
from tests.federation.generated_cuts import random_cut, simulate
from tests.federation.networks import cut_network, draw_network, program_of
from tests.federation.simulation import Simulation
from tests.oracle import interpret
from tests.oracle.runs import by_oracle

pytestmark = pytest.mark.filterwarnings(
    f"ignore::{ReactorlWarning.__module__}.ReactorlWarning"
)

SLOW = 100_000


def check_network(seed: int, **options: Any) -> Counts:
    network = draw_network(seed)
    program = program_of(network)
    cut = cut_network(network, program, seed)
    simulation = Simulation(program, cut, seed=seed, timeout=network.timeout, **options)

    trace = simulation.run()

    assert_same_trace(trace, interpret(program, timeout=network.timeout))
    return simulation.counts


def check_program(seed: int, **options: Any) -> bool:
    generated = program_from_seed(seed)
    cut = random_cut(generated, seed)
    if cut is None:
        return False
    trace = simulate(generated, cut, seed=seed, **options).run()
    assert_same_trace(trace, by_oracle(generated))
    return True


# The last ones found defects once.
@pytest.mark.parametrize("seed", [*range(100), 124, 320, 365, 12501, 13109])
def test_networks_in_parts(seed: int) -> None:
    check_network(seed)


@pytest.mark.parametrize("workers", [1, 2, 3, 4])
def test_networks_in_parts_with_many_threads(workers: int) -> None:
    for seed in range(20):
        check_network(seed, workers=workers, shuffle=seed, serial=False)


@pytest.mark.parametrize("workers", [2, 4])
def test_networks_whose_links_are_slow(workers: int) -> None:
    for seed in range(20, 30):
        check_network(seed, workers=workers, shuffle=seed)


def test_networks_whose_federates_are_killed() -> None:
    kills = again = 0
    for seed in range(60):
        counts = check_network(seed, kills=3)
        kills += counts.kills
        again += counts.again
    assert kills > 30
    assert again > 30


@pytest.mark.parametrize("window", [0, 1, 5])
def test_networks_in_which_nobody_runs_far_ahead(window: int) -> None:
    for seed in range(15):
        check_network(seed, window=window)


@pytest.mark.parametrize("first", range(0, 100, 10))
def test_generated_programs_in_parts(first: int) -> None:
    done = sum(check_program(seed) for seed in range(first, first + 10))
    assert done > 0


@pytest.mark.parametrize("workers", [2, 4])
def test_generated_programs_in_parts_with_many_threads(workers: int) -> None:
    for seed in range(100, 130):
        check_program(seed, workers=workers, shuffle=seed, serial=False)


def test_everything_that_federates_say_occurs() -> None:
    total = Counts()
    for seed in range(30):
        counts = check_network(seed)
        for name, count in vars(counts).items():
            setattr(total, name, getattr(total, name) + count)
    assert min(total.values, total.promises, total.demands, total.floors) > 30


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_very_many_networks_and_programs_in_parts(part: int) -> None:
    each = SLOW // 10
    for seed in range(1_000_000 + part * each, 1_000_000 + (part + 1) * each):
        match seed % 5:
            case 0 | 1:
                check_network(seed)
            case 2:
                check_network(seed, workers=seed % 4 + 1, shuffle=seed, serial=False)
            case 3:
                check_network(seed, kills=3)
            case _:
                check_program(seed, workers=seed % 3 + 1, serial=seed % 2 == 0)
