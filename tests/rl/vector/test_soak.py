# SPDX-License-Identifier: Apache-2.0
"""A long run with everything at once: nothing is lost, memory stays flat.

Ten minutes; ``REACTORL_SOAK_SECONDS`` says otherwise.
"""

from __future__ import annotations

import gc
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reactorl.rl import VectorEnv
from tests.rl.toy_envs import Toy, every_space
from tests.rl.troubles import Trouble

SECONDS = float(os.environ.get("REACTORL_SOAK_SECONDS", "600"))
ROUNDS = 10


class Failing(Trouble):
    """Fails every now and then, for as long as it lives."""

    def __init__(self) -> None:
        super().__init__("step", 40)


def resident_kib(pid: int | str = "self") -> int:
    """Return the memory that a process holds."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError


@pytest.mark.slow
@pytest.mark.timeout(SECONDS * 2 + 120)
@pytest.mark.parametrize("placement", ["thread", "process"])
def test_memory_stays_flat(placement: Any) -> None:
    vectors = [
        VectorEnv("CartPole-v1", 15, placement=placement, workers=2),
        VectorEnv(
            [lambda: Toy(every_space()["everything"])] * 4,
            placement=placement,
            workers=2,
            autoreset_mode="SameStep",
        ),
        VectorEnv(
            [Failing] * 4,
            placement=placement,
            workers=2,
            restart="recreate",
            timeout=60.0,
        ),
    ]
    for envs in vectors:
        envs.reset(seed=1)
        envs.action_space.seed(1)
    memory: list[int] = []
    steps = restarts = 0

    for round_ in range(ROUNDS):
        end = time.monotonic() + SECONDS / 2 / ROUNDS
        while time.monotonic() < end:
            for envs in vectors:
                *_, info = envs.step(envs.action_space.sample())
                steps += 1
                restarts += int(np.sum(info.get("_restart", 0)))
        if round_ % 3 == 0:  # vectors come and go, too
            for _ in range(3):
                short = VectorEnv("CartPole-v1", 3, placement=placement, workers=2)
                short.reset(seed=1)
                short.close()
        gc.collect()
        processes = [p for e in vectors for p in getattr(e._backend, "pids", [])]
        memory.append(resident_kib() + sum(map(resident_kib, processes)))

    for envs in vectors:
        envs.close()
    assert steps > 100
    assert restarts > 10
    # The first rounds fill caches and heaps.
    assert memory[-1] - memory[3] < 3_000, memory
