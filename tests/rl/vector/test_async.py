# SPDX-License-Identifier: Apache-2.0
"""send and recv: which results form a batch, and replay of batches."""

from __future__ import annotations

import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import pytest

from reactorl import ReplayError
from reactorl.rl import BatchLog, EnvError, VectorEnv

if TYPE_CHECKING:
    from pathlib import Path

Seen = list[tuple[list[int], bytes, list[float], list[bool]]]


def policy(observations: Any) -> Any:
    return (observations[:, 2] > 0).astype(np.int64)


def play(envs: VectorEnv, batches: int, seed: int = 1) -> Seen:
    """Play with a simple policy and return all that was seen."""
    seen: Seen = []
    envs.async_reset(seed=seed)
    for _ in range(batches):
        obs, rewards, terminations, _, infos = envs.recv()
        ids = infos["env_id"]
        seen.append(
            (ids.tolist(), obs.tobytes(), rewards.tolist(), terminations.tolist())
        )
        envs.send(policy(obs), ids)
    return seen


def one_run(**options: Any) -> tuple[Seen, BatchLog]:
    envs = VectorEnv("CartPole-v1", 6, batch_size=2, **options)
    try:
        return play(envs, 120), envs.batches
    finally:
        envs.close()


@pytest.fixture(scope="module")
def declared() -> Seen:
    return one_run(workers=1, placement="thread")[0]


@pytest.mark.parametrize("workers", [2, 3, 4])
def test_declared_batches_are_the_same_for_any_number_of_workers(
    workers: int, declared: Seen
) -> None:
    assert one_run(workers=workers, placement="thread")[0] == declared


def test_declared_batches_are_the_same_in_processes(declared: Seen) -> None:
    assert one_run(workers=2, placement="process")[0] == declared


def test_declared_batches_go_by_step_counts_and_then_by_index(declared: Seen) -> None:
    assert [batch for batch, *_ in declared[:6]] == [[0, 1], [2, 3], [4, 5]] * 2


def test_each_env_equals_the_env_alone(declared: Seen) -> None:
    for index in range(6):
        env = gym.make("CartPole-v1")
        obs, _ = env.reset(seed=1 + index)
        ended = False
        mine = [
            (np.frombuffer(data, np.float32).reshape(2, -1)[ids.index(index)], reward)
            for ids, data, rewards, _ in declared
            if index in ids
            for reward in [rewards[ids.index(index)]]
        ]
        for step, (found, reward) in enumerate(mine):
            if step > 0:
                action = int(policy(obs[None])[0])
                if ended:
                    (obs, _), due, ended = env.reset(), 0.0, False
                else:
                    obs, given, terminated, truncated, _ = env.step(action)
                    due, ended = float(given), terminated or truncated
                assert reward == due
            np.testing.assert_array_equal(found, obs)


@pytest.mark.parametrize("placement", ["thread", "process"])
def test_a_physical_run_can_be_replayed(placement: str, tmp_path: Path) -> None:
    seen, batches = one_run(workers=2, placement="thread", batching="physical")
    batches.save(tmp_path / "batches.json")

    again, taken = one_run(
        workers=2, placement=placement, replay=BatchLog.load(tmp_path / "batches.json")
    )

    assert again == seen
    assert taken == batches


class Gated(gym.Env[Any, Any]):
    """Steps only when its gate is open."""

    observation_space = gym.spaces.Discrete(1000)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, gate: threading.Event) -> None:
        self.gate = gate
        self.steps = 0

    def reset(self, **_: Any) -> Any:
        return 0, {}

    def step(self, action: Any) -> Any:
        self.gate.wait(60)
        self.steps += 1
        return self.steps, 1.0, False, False, {"steps": self.steps}


def test_physical_batches_do_not_wait_for_a_slow_environment() -> None:
    gates = [threading.Event() for _ in range(3)]
    envs = VectorEnv(
        [lambda g=gate: Gated(g) for gate in gates],
        batch_size=1,
        batching="physical",
        workers=3,
        placement="thread",
    )

    def receive(count: int) -> set[int]:
        return {int(envs.recv()[4]["env_id"][0]) for _ in range(count)}

    envs.async_reset()
    assert receive(3) == {0, 1, 2}
    gates[1].set()
    gates[2].set()
    envs.send(np.zeros(3, dtype=int))
    for _ in range(3):
        assert receive(2) == {1, 2}
        envs.send(np.zeros(2, dtype=int), [1, 2])
    gates[0].set()
    assert receive(3) == {0, 1, 2}
    envs.close()


def test_envs_step_while_the_caller_is_busy() -> None:
    gate = threading.Event()
    gate.set()
    made: list[Gated] = []

    def make() -> Gated:
        made.append(Gated(gate))
        return made[-1]

    envs = VectorEnv([make, make], batch_size=2, workers=2, placement="thread")
    envs.async_reset()
    envs.recv()
    envs.send(np.zeros(2, dtype=int))
    end = time.monotonic() + 60
    while any(env.steps == 0 for env in made) and time.monotonic() < end:
        time.sleep(0.001)
    assert [env.steps for env in made] == [1, 1]  # nobody has asked yet
    _, _, _, _, infos = envs.recv()
    assert infos["steps"].tolist() == [1, 1]
    envs.close()


def test_without_a_batch_size_all_step_together_when_received() -> None:
    envs = VectorEnv("CartPole-v1", 3, placement="thread")
    sync = gym.make_vec("CartPole-v1", 3, vectorization_mode="sync")
    due, _ = sync.reset(seed=5)

    envs.async_reset(seed=5)
    obs, rewards, _, _, infos = envs.recv()
    np.testing.assert_array_equal(obs, due)
    assert infos["env_id"].tolist() == [0, 1, 2]
    assert rewards.tolist() == [0, 0, 0]
    envs.send(np.array([1, 0, 1]), [2, 1, 0])
    obs, *_ = envs.recv()
    np.testing.assert_array_equal(obs, sync.step(np.array([1, 0, 1]))[0])
    envs.close()
    sync.close()


def test_step_and_call_work_with_a_batch_size_too() -> None:
    envs = VectorEnv("CartPole-v1", 4, batch_size=4, placement="thread")
    sync = gym.make_vec("CartPole-v1", 4, vectorization_mode="sync")
    np.testing.assert_array_equal(envs.reset(seed=3)[0], sync.reset(seed=3)[0])
    for _ in range(40):
        actions = sync.action_space.sample()
        for one, other in zip(envs.step(actions), sync.step(actions), strict=True):
            np.testing.assert_equal(one, other)
    assert envs.get_attr("length") == sync.get_attr("length")
    envs.close()
    sync.close()


class Grumpy(gym.Env[Any, Any]):
    observation_space = gym.spaces.Discrete(1000)
    action_space = gym.spaces.Discrete(2)

    def reset(self, **_: Any) -> Any:
        return 0, {}

    def step(self, action: Any) -> Any:
        if action == 1:
            msg = "no"
            raise ValueError(msg)
        return 1, 0.0, False, False, {}


@pytest.mark.parametrize("placement", ["thread", "process"])
def test_a_failure_is_raised_when_it_is_received(placement: Any) -> None:
    envs = VectorEnv([Grumpy] * 4, batch_size=2, placement=placement, workers=2)
    envs.async_reset()
    for _ in range(2):
        _, _, _, _, infos = envs.recv()
        envs.send(np.array([0, 1]), infos["env_id"])
    with pytest.raises(EnvError, match="ValueError: no") as raised:
        envs.recv()
    assert raised.value.index == 1
    assert raised.value.step == 1
    assert raised.value.tag == "(0, 3)"
    envs.close()


def test_a_restart_in_a_pool_ends_the_episode() -> None:
    envs = VectorEnv([Grumpy] * 2, batch_size=2, placement="thread", restart="recreate")
    envs.async_reset()
    envs.recv()
    envs.send(np.array([0, 1]))
    _, _, _, truncations, infos = envs.recv()
    assert truncations.tolist() == [False, True]
    assert infos["restart"].tolist() == [None, "recreate"]
    envs.close()


@pytest.mark.parametrize(
    ("act", "error", "match"),
    [
        (lambda e: e.recv(), RuntimeError, "a batch has 2 .* 0 have been sent"),
        (lambda e: e.send([0], [7]), ValueError, "env_id must be below 4, got 7"),
        (
            lambda e: e.send([0, 0], [1]),
            ValueError,
            r"actions must have 1 items, .*got 2",
        ),
        (lambda e: e.send([0, 0], [1, 1]), ValueError, "environment 1 has been sent"),
        (
            lambda e: (e.async_reset(), e.step([0] * 4)),
            RuntimeError,
            r"4 environments have been sent .*recv\(\) them first",
        ),
    ],
)
def test_bad_use_is_refused(act: Any, error: type[Exception], match: str) -> None:
    envs = VectorEnv("CartPole-v1", 4, batch_size=2, placement="thread")
    with pytest.raises(error, match=match):
        act(envs)
    envs.close()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"batch_size": 0}, "batch_size must be from 1 to num_envs=4, got 0"),
        ({"batch_size": 5}, "batch_size must be from 1 to num_envs=4, got 5"),
        ({"batch_size": 2, "batching": "lucky"}, "got 'lucky'"),
    ],
)
def test_bad_options_are_refused(options: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        VectorEnv("CartPole-v1", 4, **options)


def test_recordings_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ReplayError, match="got 6 in batches of 2"):
        VectorEnv("CartPole-v1", 4, batch_size=2, replay=BatchLog(6, 2))
    path = tmp_path / "batches.json"
    path.write_text("{}")
    with pytest.raises(ReplayError, match=r"batches\.json must be a batch log"):
        BatchLog.load(path)


def test_a_recording_that_ends_says_so() -> None:
    replay = BatchLog(2, 1, [(1,)])
    envs = VectorEnv("CartPole-v1", 2, batch_size=1, replay=replay, placement="thread")
    envs.async_reset(seed=1)
    assert envs.recv()[4]["env_id"].tolist() == [1]
    with pytest.raises(ReplayError, match="ends after 1 batches"):
        envs.recv()
    envs.close()


def test_no_thread_is_left_over() -> None:
    before = threading.active_count()
    envs = VectorEnv("CartPole-v1", 4, batch_size=2, workers=3, placement="thread")
    envs.async_reset(seed=1)
    envs.close()
    envs.close()
    assert threading.active_count() == before


@pytest.mark.parametrize("placement", ["thread", "process"])
@pytest.mark.parametrize("batch_size", [None, 2])
def test_rewards_are_zero_after_a_reset_between_episodes(
    placement: Any, batch_size: int | None
) -> None:
    envs = VectorEnv(
        "CartPole-v1", 2, workers=2, placement=placement, batch_size=batch_size
    )
    with closing(envs):
        envs.async_reset(seed=1)
        envs.recv()
        envs.send(np.array([0, 1]))
        assert (envs.recv()[1] == 1.0).all()

        envs.async_reset()

        assert (envs.recv()[1] == 0.0).all()
