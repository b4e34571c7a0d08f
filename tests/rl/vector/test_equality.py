# SPDX-License-Identifier: Apache-2.0
"""VectorEnv is bit-identical to SyncVectorEnv."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import (
    ClipReward,
    FlattenObservation,
    FrameStackObservation,
    NormalizeObservation,
    RecordEpisodeStatistics,
    RescaleAction,
    TimeLimit,
    TransformObservation,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from reactorl.rl import VectorEnv
from reactorl.rl.envs import adaptive_dispatch as lengths
from tests.rl.comparing import assert_same, assert_same_run, play, play_sync
from tests.rl.toy_envs import ACTION_SPACES, Reuser, Toy, every_space, toys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reactorl.rl.envs.placement import Placement

MODES = list(AutoresetMode)
WORKERS = [1, 2, 4]
CLASSIC = ["CartPole-v1", "Pendulum-v1", "Acrobot-v1", "MountainCarContinuous-v0"]
TOY_TEXT = ["FrozenLake-v1", "Taxi-v4", "Blackjack-v1", "CliffWalking-v1"]


def check(
    makers: Sequence[Callable[[], Any]],
    workers: Sequence[int] = WORKERS,
    placement: Any = "thread",
    vector: dict[str, Any] | None = None,
    **script: Any,
) -> None:
    """Let both play the same, ours with each number of workers."""
    options = vector or {}
    theirs = play_sync(makers, sync=options, **script)
    for number in workers:
        envs = VectorEnv(makers, workers=number, placement=placement, **options)
        try:
            assert_same_run(play(envs, **script), theirs)
        finally:
            envs.close()


# -- in threads ------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("env_id", CLASSIC + TOY_TEXT)
def test_gymnasiums_own_environments(env_id: str, mode: AutoresetMode) -> None:
    makers = [partial(gym.make, env_id, max_episode_steps=7 + i) for i in range(5)]

    check(makers, vector={"autoreset_mode": mode}, steps=40, reset_at=[5, 19, 20])


@pytest.mark.parametrize("name", every_space())
def test_every_kind_of_space_in_every_autoreset_mode(name: str) -> None:
    makers = toys(5, every_space()[name])

    for mode in MODES:
        check(
            makers,
            workers=[2],
            vector={"autoreset_mode": mode},
            steps=25,
            reset_at=[4, 11],
        )


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("workers", WORKERS)
def test_everything_at_once(workers: int, copy: bool) -> None:  # noqa: FBT001
    makers = toys(7, every_space()["everything"])

    check(makers, workers=[workers], vector={"copy": copy}, steps=20, reset_at=[7])


@pytest.mark.parametrize("name", ACTION_SPACES)
def test_every_kind_of_action(name: str) -> None:
    check(toys(4, actions=ACTION_SPACES[name]), steps=20)


@pytest.mark.parametrize("mode", MODES)
def test_envs_that_modify_returned_objects(mode: AutoresetMode) -> None:
    check([Reuser] * 5, vector={"autoreset_mode": mode}, steps=40, reset_at=[3, 9])


def wrapped(index: int) -> gym.Env[Any, Any]:
    env: gym.Env[Any, Any] = gym.make("Pendulum-v1", max_episode_steps=9 + index)
    env = RescaleAction(env, np.float32(-1), np.float32(1))
    env = FrameStackObservation(NormalizeObservation(env), 3)
    env = ClipReward(RecordEpisodeStatistics(env), -1, 1)
    return FlattenObservation(env)


@pytest.mark.parametrize("mode", MODES)
def test_wrapped_environments(mode: AutoresetMode) -> None:
    # How long an episode took is not the same twice.
    def untimed(run: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
        for _, found in run:
            for info in (found[-1], found[-1].get("final_info", {})):
                for times in (info.get("episode", {}),):
                    times.pop("t", None)
        return run

    makers = [partial(wrapped, index) for index in range(5)]
    theirs = play_sync(makers, sync={"autoreset_mode": mode}, steps=30)

    for workers in WORKERS:
        envs = VectorEnv(
            makers, workers=workers, placement="thread", autoreset_mode=mode
        )
        ours = play(envs, steps=30)
        envs.close()

        assert_same_run(untimed(ours), untimed(theirs))


def test_an_id_with_arguments_and_wrappers() -> None:
    makers = [
        lambda: TimeLimit(ClipReward(gym.make("Pendulum-v1", g=3.0), -2, 0), 11)
    ] * 4
    theirs = play_sync(makers, steps=30)

    for workers in WORKERS:
        envs = VectorEnv(
            "Pendulum-v1",
            4,
            env_kwargs={"g": 3.0},
            wrappers=[
                lambda env: ClipReward(env, -2, 0),
                partial(TimeLimit, max_episode_steps=11),
            ],
            workers=workers,
        )
        assert_same_run(play(envs, steps=30), theirs)
        envs.close()


@pytest.mark.parametrize(
    "seed", [None, 0, 2**31, [3, 1, 4, 1, 5], [None, 7, None, 7, None]]
)
def test_seeds_and_options(seed: Any) -> None:
    script: dict[str, Any] = {"steps": 12, "options": {"level": 3}, "reset_at": [5]}
    makers = toys(5)

    if seed is None or None in np.atleast_1d(seed):
        # Seeded once before, because nothing else makes two of them equal.
        theirs, ours = SyncVectorEnv(makers), VectorEnv(makers, placement="thread")
        for envs in (theirs, ours):
            envs.reset(seed=99)
        assert_same_run(
            play(ours, seed=seed, **script), play(theirs, seed=seed, **script)
        )
        ours.close()
    else:
        check(makers, seed=seed, **script)


def test_the_callers_options_and_mask_stay_as_they_are() -> None:
    envs = VectorEnv(toys(3), placement="thread")
    envs.reset(seed=1)
    options = {"reset_mask": np.array([True, False, True]), "level": 1}

    envs.reset(options=options)

    assert list(options) == ["reset_mask", "level"]
    envs.close()


@pytest.mark.parametrize("workers", WORKERS)
def test_copies_are_the_callers_own(workers: int) -> None:
    envs = VectorEnv(toys(4), workers=workers, placement="thread")
    first, _ = envs.reset(seed=1)
    kept = first.copy()

    second, rewards, terminated, truncated, _ = envs.step(np.zeros(4, np.int64))
    arrays = [second, rewards, terminated, truncated]
    copies = [array.copy() for array in arrays]
    for _ in range(5):
        envs.step(np.ones(4, np.int64))

    assert_same(first, kept)
    assert_same(arrays, copies)
    envs.close()


FRAMES = spaces.Box(0, 255, (84, 84, 4), np.uint8)


@pytest.mark.parametrize("placement", ["thread", "process"])
@pytest.mark.parametrize("mode", MODES)
def test_large_observations_are_the_same(
    mode: AutoresetMode, placement: Placement
) -> None:
    check(
        toys(5, FRAMES),
        workers=[1, 2],
        placement=placement,
        vector={"autoreset_mode": mode},
        steps=12,
        reset_at=[4],
    )


def let_rounds_take(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the clock say so, and judge that soon."""
    clock = count(0, seconds)
    now = SimpleNamespace(perf_counter=partial(next, clock))
    monkeypatch.setattr(lengths, "time", now)
    monkeypatch.setattr(lengths, "JUDGED", 8)


@pytest.mark.parametrize("space", [None, FRAMES], ids=["small", "large"])
@pytest.mark.parametrize("mode", MODES)
def test_long_steps_that_are_handed_out_one_by_one(
    mode: AutoresetMode,
    space: spaces.Space[Any] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    let_rounds_take(1, monkeypatch)
    check(
        toys(9, space),
        workers=[2, 4],
        vector={"autoreset_mode": mode},
        steps=30,
        reset_at=[4, 7, 8, 20],
    )


@pytest.mark.parametrize(("seconds", "long"), [(1, True), (1e-6, False)])
def test_only_long_steps_are_handed_out_one_by_one(
    seconds: float,
    long: bool,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    let_rounds_take(seconds, monkeypatch)
    with closing(VectorEnv(toys(9), workers=2, placement="thread")) as envs:
        envs.reset(seed=1)
        for _ in range(8):
            envs.step([1] * 9)
        host: Any = envs._backend

        assert (host._step._way is not host._command) is long
        # What is received instead of returned comes the same way.
        envs.send(np.full(9, 2))
        assert envs.recv()[0].shape == (9, 3)


@pytest.mark.parametrize("name", ["float32", "dict", "tuple"])
def test_without_copy_the_same_arrays_come_back(name: str) -> None:
    makers = toys(4, every_space()[name])
    for envs in (SyncVectorEnv(makers, copy=False), VectorEnv(makers, copy=False)):
        arrays = []
        for observation in (envs.reset(seed=1)[0], envs.step([0, 1, 2, 0])[0]):
            parts = {"dict": dict.values, "tuple": list}.get(name, lambda x: [x])
            arrays.append([id(part) for part in parts(observation)])
        envs.close()

        assert arrays[0] == arrays[1]


def narrow(low: float) -> Toy:
    return Toy(spaces.Box(low, 1, (3,), np.float32))


@pytest.mark.parametrize(
    "mode",
    [
        "different",
        (spaces.Box(-9, 1, (4, 3), np.float32), spaces.Box(-9, 1, (3,), np.float32)),
    ],
)
def test_spaces_that_differ(mode: Any) -> None:
    makers = [partial(narrow, -index) for index in range(4)]

    check(makers, vector={"observation_mode": mode}, steps=20)
    ours = VectorEnv(makers, observation_mode=mode)
    theirs = SyncVectorEnv(makers, observation_mode=mode)
    assert ours.observation_space == theirs.observation_space
    assert ours.single_observation_space == theirs.single_observation_space
    ours.close()


def widened(kind: Any) -> gym.Env[Any, Any]:
    """Observe in another type than the space says, but one that may be cast."""
    env = Toy(spaces.Box(-50, 50, (3,), np.float32))
    return TransformObservation(env, lambda x: x.astype(kind), env.observation_space)


def test_observations_that_need_a_cast() -> None:
    check([partial(widened, np.float64), partial(widened, np.int32)], steps=15)


def test_actions_in_other_forms() -> None:
    streams: list[Any] = [
        [[0, 1, 2], (2, 1, 0), np.array([1, 1, 1], np.int32)],
        [np.array([0, 1, 2], np.uint8), [np.int64(1)] * 3, np.ones(3)],
    ]
    for stream in streams:
        check(toys(3), steps=3, actions=stream)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    count=st.integers(1, 9),
    mode=st.sampled_from(MODES),
    workers=st.sampled_from(WORKERS),
    stream=st.lists(st.integers(0, 2), min_size=1, max_size=30),
    resets=st.lists(st.integers(0, 30), max_size=3),
)
def test_any_seed_count_and_actions(
    seed: int,
    count: int,
    mode: AutoresetMode,
    workers: int,
    stream: list[int],
    resets: list[int],
) -> None:
    actions = [(np.arange(count) * 7 + first) % 3 for first in stream]

    check(
        toys(count, every_space()["dict"], longest=4),
        workers=[workers],
        vector={"autoreset_mode": mode},
        seed=seed,
        steps=len(actions),
        actions=actions,
        reset_at=resets,
    )


# -- in processes: few tests, many steps, because processes take long to start ---------


@pytest.mark.parametrize("mode", MODES)
def test_processes_with_everything(mode: AutoresetMode) -> None:
    makers: list[Any] = toys(
        5, every_space()["everything"], actions=ACTION_SPACES["dict"]
    )

    check(
        makers,
        workers=[2],
        placement="process",
        vector={"autoreset_mode": mode},
        steps=60,
        reset_at=[5, 6, 22],
        options={"level": 2},
    )


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_envs_in_processes_that_modify_returned_objects(
    mode: AutoresetMode,
) -> None:
    check(
        [Reuser] * 5,
        workers=[1],
        placement="process",
        vector={"autoreset_mode": mode, "copy": False},
        steps=80,
        reset_at=[3, 9],
    )


@pytest.mark.parametrize("workers", [1, 4])
def test_any_number_of_processes(workers: int) -> None:
    makers = [partial(gym.make, "CartPole-v1", max_episode_steps=9)] * 5

    check(makers, workers=[workers], placement="process", steps=200, reset_at=[7])


def test_processes_with_wrapped_environments_and_rows_of_actions() -> None:
    makers = [
        lambda: FrameStackObservation(gym.make("Pendulum-v1", max_episode_steps=30), 2)
    ] * 3

    check(makers, workers=[2], placement="process", steps=100)


def test_processes_take_actions_in_any_form() -> None:
    stream: list[Any] = [
        [0, 1, 2],
        np.array([0, 1, 2]),
        np.array([2, 1, 2], np.uint8),
        np.array([2, 0, 2]),
        (1, np.int64(1), 0),
    ]

    check(toys(3), workers=[1], placement="process", steps=5, actions=stream)


@pytest.mark.parametrize("env_id", TOY_TEXT)
def test_processes_with_toy_text(env_id: str) -> None:
    makers = [partial(gym.make, env_id, max_episode_steps=7 + i) for i in range(3)]

    check(makers, workers=[2], placement="process", steps=60, reset_at=[5, 19])


@pytest.fixture(
    scope="module",
    params=zip(WORKERS, MODES, strict=True),
    ids=lambda each: each[1].value,
)
def pair(request: pytest.FixtureRequest) -> Iterator[tuple[VectorEnv, Any]]:
    """Ours in processes, and theirs, which do the same examples one after the other."""
    workers, mode = request.param
    makers = toys(4, every_space()["dict"], longest=4)
    ours = VectorEnv(makers, workers=workers, placement="process", autoreset_mode=mode)
    theirs = SyncVectorEnv(makers, autoreset_mode=mode)
    yield ours, theirs
    ours.close()
    theirs.close()


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    stream=st.lists(st.integers(0, 2), min_size=1, max_size=30),
    resets=st.lists(st.integers(0, 30), max_size=3),
)
def test_any_seed_and_actions_in_processes(
    pair: tuple[VectorEnv, Any], seed: int, stream: list[int], resets: list[int]
) -> None:
    actions = [(np.arange(4) * 7 + first) % 3 for first in stream]
    script: dict[str, Any] = {
        "seed": seed,
        "steps": len(actions),
        "actions": actions,
        "reset_at": resets,
    }

    ours, theirs = (play(each, **script) for each in pair)

    assert_same_run(ours, theirs)
