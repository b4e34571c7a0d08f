# SPDX-License-Identifier: Apache-2.0
"""Large batches are lent, and their buffers reused when no array shows them."""

from __future__ import annotations

import gc
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import SyncVectorEnv

from reactorl.rl import VectorEnv
from reactorl.rl.envs.arrays import SPARES
from reactorl.rl.envs.buffer_pool import HOME, BufferPool
from tests.rl.comparing import assert_same
from tests.rl.toy_envs import toys

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl.rl.envs.placement import Placement

FRAMES = spaces.Box(0, 255, (84, 84, 4), np.uint8)
COUNT = 5
ACTIONS = np.array([0, 1, 2, 0, 1])
PLACEMENTS = pytest.mark.parametrize("placement", ["thread", "process"])


def vector(**options: Any) -> VectorEnv:
    return VectorEnv(toys(COUNT, FRAMES), **{"workers": 2, **options})


def where(batch: np.ndarray[Any, Any]) -> int:
    return int(batch.__array_interface__["data"][0])


@PLACEMENTS
def test_a_batch_that_is_gone_is_written_again(placement: Placement) -> None:
    with closing(vector(placement=placement)) as envs:
        envs.reset(seed=1)
        places = [where(envs.step(ACTIONS)[0]) for _ in range(20)]

    assert len(set(places)) == 1


@PLACEMENTS
def test_keeping_one_batch_uses_two_buffers(placement: Placement) -> None:
    with closing(vector(placement=placement)) as envs:
        before, _ = envs.reset(seed=1)
        places = set()
        for _ in range(20):
            after = envs.step(ACTIONS)[0]
            assert where(after) != where(before)
            places.add(where(after))
            before = after

    assert len(places) == 2


@PLACEMENTS
def test_batches_that_are_kept_stay_however_many(placement: Placement) -> None:
    theirs = SyncVectorEnv(toys(COUNT, FRAMES))
    wanted = [theirs.reset(seed=1)[0]]
    wanted += [theirs.step(ACTIONS)[0] for _ in range(3 * SPARES)]
    with closing(vector(placement=placement)) as envs:
        kept = [envs.reset(seed=1)[0]]
        kept += [envs.step(ACTIONS)[0] for _ in range(3 * SPARES)]
        for _ in range(10):
            envs.step(ACTIONS)

    # Also when the environments, their processes and their memory are gone.
    assert_same(kept, wanted)


HOLDERS: dict[str, Callable[[Any], Any]] = {
    "a row": lambda batch: batch[3],
    "a view of a view": lambda batch: batch[1:].reshape(-1)[5:],
    "memory": memoryview,
    "another type": lambda batch: batch.view(np.int8),
}


@PLACEMENTS
@pytest.mark.parametrize("name", HOLDERS)
def test_view_keeps_its_buffer_lent(name: str, placement: Placement) -> None:
    with closing(vector(placement=placement)) as envs:
        envs.reset(seed=1)
        batch = envs.step(ACTIONS)[0]
        place = where(batch)
        part = HOLDERS[name](batch)
        kept = np.array(part)
        del batch
        for _ in range(20):
            assert where(envs.step(ACTIONS)[0]) != place
        assert np.array_equal(part, kept)
        del part

        assert where(envs.step(ACTIONS)[0]) == place


@PLACEMENTS
def test_writing_to_a_batch_does_not_change_others(placement: Placement) -> None:
    theirs = SyncVectorEnv(toys(COUNT, FRAMES))
    theirs.reset(seed=1)
    with closing(vector(placement=placement)) as envs:
        envs.reset(seed=1)
        for _ in range(12):
            ours = envs.step(ACTIONS)[0]
            assert_same(ours, theirs.step(ACTIONS)[0])
            ours[:] = 7
            ours.flags.writeable = False


@PLACEMENTS
def test_reset_mask_keeps_observation_of_unmasked_envs(
    placement: Placement,
) -> None:
    theirs = SyncVectorEnv(toys(COUNT, FRAMES))
    theirs.reset(seed=1)
    with closing(vector(placement=placement)) as envs:
        envs.reset(seed=1)
        held = []
        for turn in range(3 * SPARES):
            ours = envs.step(ACTIONS)[0]
            theirs.step(ACTIONS)
            ours[:] = 7
            if turn > SPARES:
                held.append(ours)  # until no place is free but the home
            mask = np.arange(COUNT) % 3 == turn % 3
            again = envs.reset(seed=turn, options={"reset_mask": mask.copy()})[0]
            wanted = theirs.reset(seed=turn, options={"reset_mask": mask.copy()})[0]
            assert_same(again, wanted, f"reset {turn}")


def test_reset_mask_before_the_first_reset_gives_zeros() -> None:
    mask = np.array([True, False, True, False, False])
    with closing(vector()) as envs:
        ours = envs.reset(seed=1, options={"reset_mask": mask.copy()})[0]

    assert [bool(row.any()) for row in ours] == mask.tolist()


@pytest.mark.parametrize(
    "options", [{"copy": False}, {"restart": "reset"}, {"batch_size": 3}]
)
def test_buffers_are_not_lent_with_restarts(
    options: dict[str, Any],
) -> None:
    with closing(vector(**options)) as envs:
        envs.async_reset(seed=1)
        envs.recv()

        assert envs._buffers.free() == HOME


def test_small_batches_are_copied() -> None:
    with closing(VectorEnv("CartPole-v1", num_envs=3)) as envs:
        assert envs.reset(seed=1)[0].base is None


def test_a_batch_comes_back_from_any_thread() -> None:
    lending = BufferPool([np.zeros(8), np.zeros(8)])
    batches = [lending.lend(lending.free()) for _ in range(2)]
    assert lending.free() == HOME

    thread = threading.Thread(target=batches.clear)
    thread.start()
    thread.join()
    gc.collect()

    assert lending.free() == 1


def test_buffer_is_lent_once_while_another_thread_releases() -> None:
    lending = BufferPool([np.zeros(1) for _ in range(3)])
    dropped: list[Any] = []
    done = threading.Event()

    def drop() -> None:
        while not done.is_set():
            if dropped:
                dropped.pop()

    thread = threading.Thread(target=drop)
    thread.start()
    for turn in range(3000):
        place = lending.free()
        if place != HOME:
            batch = lending.lend(place)
            batch[0] = turn
            assert batch[0] == turn
            dropped.append(batch)
            del batch
    done.set()
    thread.join()
    dropped.clear()

    assert lending.free() == 1
