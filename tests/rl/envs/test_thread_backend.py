# SPDX-License-Identifier: Apache-2.0
"""Each environment has a home worker, which makes and closes it."""

from __future__ import annotations

import os
import threading
import time
from collections import defaultdict
from functools import partial
from typing import Any

import pytest

from reactorl.rl import VectorEnv
from tests.rl.toy_envs import Toy

Seen = dict[int, list[tuple[str, int]]]


class Resident(Toy):
    """Notes on which thread it is made, stepped, reset and closed."""

    def __init__(self, index: int, seen: Seen) -> None:
        super().__init__(chatty=False)
        self.index, self.seen = index, seen
        self.note("make")

    def note(self, what: str) -> None:
        self.seen[self.index].append((what, threading.get_ident()))

    def reset(self, **given: Any) -> Any:
        self.note("reset")
        return super().reset(**given)

    def step(self, action: Any) -> Any:
        self.note("step")
        if self.index == action:
            time.sleep(0.002)  # so that others would take over its neighbours
        return super().step(action)

    def close(self) -> None:
        self.note("close")


def threads_by_env(*, workers: int, pin: bool, count: int = 8) -> Seen:
    seen: Seen = defaultdict(list)
    envs = VectorEnv(
        [partial(Resident, index, seen) for index in range(count)],
        placement="thread",
        workers=workers,
        pin=pin,
    )
    envs.reset(seed=1)
    for turn in range(30):
        envs.step([turn % 3] * count)
    envs.close()
    return seen


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_environments_are_closed_where_they_were_made(workers: int) -> None:
    seen = threads_by_env(workers=workers, pin=False)

    for notes in seen.values():
        (what, made), *_, (last, closed) = notes
        assert (what, last) == ("make", "close")
        assert made == closed
        assert [kind for kind, _ in notes].count("close") == 1


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_pinned_environments_never_leave_home(workers: int) -> None:
    seen = threads_by_env(workers=workers, pin=True)

    homes = {index: {thread for _, thread in notes} for index, notes in seen.items()}
    assert all(len(threads) == 1 for threads in homes.values())
    assert len(set.union(*homes.values())) == workers
    assert homes[0] == {threading.get_ident()}  # the caller is a worker, too


def test_each_environment_stays_in_its_process() -> None:
    envs = VectorEnv([Located] * 5, placement="process", workers=2)
    envs.reset(seed=1)
    before = envs.call("process")
    for _ in range(5):
        envs.step([0] * 5)

    assert envs.call("process") == before
    assert before[0] == before[1] != before[2] == before[3] == before[4]
    assert os.getpid() not in before
    assert envs.call("made_by") == before
    envs.close()


class Located(Toy):
    """Knows in which process it was made."""

    def __init__(self) -> None:
        super().__init__()
        self.made_by = os.getpid()

    def process(self) -> int:
        return os.getpid()
