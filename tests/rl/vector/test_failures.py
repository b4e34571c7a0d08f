# SPDX-License-Identifier: Apache-2.0
"""Failures name the environment, step and cause; restarts continue the run."""

from __future__ import annotations

import pickle
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from reactorl.rl import EnvError, VectorEnv
from tests.rl.comparing import assert_same, assert_same_run, play
from tests.rl.toy_envs import Reuser, Toy
from tests.rl.troubles import Trouble

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PLACEMENTS: list[Any] = ["thread", "process"]
STEP_KINDS = {
    "step": "ValueError: bad step",
    "exit": "SystemExit: 3",
    "generator exit": "GeneratorExit",
    "nan": "observation must not contain NaN",
    "nan reward": "reward must not contain NaN",
    "shape": r"shape \(2,\), got \(3,\)",
    "dtype": "dtype int64, got float64",
    "structure": "must be a dict of 'a', 'b'",
    "no dict": "must be a dict of 'a', 'b'",
    "reward": "much",
    "info": "info must be a dict, got list",
    "four values": "not enough values to unpack",
}


@pytest.fixture(params=PLACEMENTS, scope="module")
def envs(request: pytest.FixtureRequest) -> Iterator[VectorEnv]:
    """Four of them, by two workers, which every test tells how to fail."""
    found = VectorEnv([Trouble] * 4, workers=2, placement=request.param, check_nan=True)
    yield found
    found.close()


def tell(envs: VectorEnv, kind: str, at: int, *, index: int = 2) -> None:
    """Let one of them fail in that step from now on, the others behave."""
    kinds, ats = [""] * 4, [0] * 4
    kinds[index], ats[index] = kind, at
    envs.set_attr("kind", kinds)
    envs.set_attr("at", ats)
    envs.set_attr("steps", 0)


def step_until_it_fails(envs: VectorEnv) -> None:
    for _ in range(20):
        envs.step([0] * envs.num_envs)


# -- never: the error ------------------------------------------------------------------


@pytest.mark.parametrize("kind", STEP_KINDS)
def test_failed_step_raises_and_reset_continues(envs: VectorEnv, kind: str) -> None:
    tell(envs, kind, 1)
    envs.reset(seed=1)

    with pytest.raises(EnvError, match=STEP_KINDS[kind]) as raised:
        envs.step([0, 1, 2, 0])

    failure = raised.value
    text = str(failure)
    assert failure.index == 2
    assert failure.env == "Trouble"
    assert failure.step >= 1
    assert failure.tag == str(envs.tag)
    assert text.startswith(
        f"environment 2 (Trouble) failed in step {failure.step}, tag {envs.tag}: "
    )
    assert_same(vars(pickle.loads(pickle.dumps(failure))), vars(failure))
    envs.set_attr("kind", "")
    assert envs.reset(seed=1)[0]["a"].shape == (4, 2)
    envs.step([0, 1, 2, 0])


def test_the_original_traceback_is_there(envs: VectorEnv) -> None:
    tell(envs, "step", 1)
    envs.reset(seed=1)

    with pytest.raises(EnvError) as raised:
        envs.step([0, 1, 2, 0])

    assert raised.value.trace.count("deeply(depth - 1)") >= 1
    assert "troubles.py" in raised.value.trace
    assert "ValueError: bad step" in raised.value.trace
    again = pickle.loads(pickle.dumps(raised.value))
    assert "Its own traceback:" in str(again)
    assert "deeply" in str(again)
    if envs.placement == "thread":
        assert isinstance(raised.value.__cause__, ValueError)
    else:
        assert "deeply" in str(raised.value)


def test_first_failure_by_index_is_raised(envs: VectorEnv) -> None:
    envs.set_attr("kind", ["", "step", "nan", "step"])
    envs.set_attr("at", 1)
    envs.set_attr("steps", 0)
    envs.reset(seed=1)

    with pytest.raises(EnvError) as raised:
        envs.step([0, 0, 0, 0])

    assert raised.value.index == 1


@pytest.mark.parametrize(
    ("kind", "match"),
    [
        ("reset", "KeyError: 'cannot be reset'"),
        ("nan reset", "observation must not contain NaN"),
        ("info reset", "info must be a dict, got int"),
    ],
)
def test_failed_reset_raises(envs: VectorEnv, kind: str, match: str) -> None:
    tell(envs, kind, 0, index=3)

    with pytest.raises(EnvError, match=match) as raised:
        envs.reset(seed=1)

    assert raised.value.index == 3
    assert raised.value.tag
    envs.set_attr("kind", "")
    envs.reset(seed=1)


class OldGym(Toy):
    """Has the API of Gym before 0.26.

    Args:
        kind: Which of its methods has it.
    """

    def __init__(self, kind: str) -> None:
        super().__init__(chatty=False)
        self.kind = kind

    def reset(self, **arguments: Any) -> Any:
        result = super().reset(**arguments)
        return result[0] if self.kind == "reset" else result

    def step(self, action: Any) -> Any:
        observation, reward, terminated, _, info = super().step(action)
        if self.kind == "step":
            return observation, reward, terminated, info
        if self.kind == "own mistake":
            _, _ = (1, 2, 3)
        return observation, reward, terminated, False, info


class Seedless(Toy):
    """Its reset takes no arguments, as that of Gym before 0.26."""

    def reset(self) -> Any:  # type: ignore[override]
        return super().reset()


OLD: dict[str, Callable[[], Any]] = {
    "step": partial(OldGym, "step"),
    "reset": partial(OldGym, "reset"),
    "arguments of reset": Seedless,
}


@pytest.mark.parametrize("placement", ["thread", "process"])
@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("kind", OLD)
def test_environment_of_old_gym_is_recognized(
    kind: str, placement: Any, *, wrapped: bool
) -> None:
    def make() -> Any:
        env = OLD[kind]()
        return gym.wrappers.TimeLimit(env, 9) if wrapped else env

    envs = VectorEnv([make], placement=placement)
    text = r"API of Gym before 0\.26.*Wrap it in shimmy"
    try:
        if kind == "step":
            envs.reset(seed=1)
            with pytest.raises(EnvError, match=text):
                envs.step(envs.action_space.sample())
        else:
            with pytest.raises(EnvError, match=text):
                envs.reset(seed=1)
    finally:
        envs.close()


def test_mistake_of_an_environment_is_not_taken_for_old_gym() -> None:
    envs = VectorEnv([lambda: OldGym("own mistake")], placement="thread")
    envs.reset(seed=1)
    with pytest.raises(EnvError, match="too many values to unpack") as raised:
        envs.step(envs.action_space.sample())
    assert "API of Gym" not in str(raised.value)
    envs.close()


def test_steps_are_counted_without_autoresets() -> None:
    for placement in PLACEMENTS:
        makers = [partial(Trouble, longest=2), partial(Trouble, "step", 12, longest=2)]
        envs = VectorEnv(makers, placement=placement, workers=1)
        envs.reset(seed=1)
        for _ in range(11):
            envs.step([0, 0])  # some of these are resets

        with pytest.raises(EnvError, match="in step 12") as raised:
            step_until_it_fails(envs)

        assert raised.value.step == 12
        envs.close()


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize(
    ("kind", "match"),
    [("init", "OSError: cannot be made"), ("exit when made", "SystemExit: 3")],
)
def test_failed_construction_raises(placement: Any, kind: str, match: str) -> None:
    makers = [Trouble, partial(Trouble, kind), Trouble]

    with pytest.raises(EnvError, match=match) as raised:
        VectorEnv(makers, placement=placement, workers=1)

    assert raised.value.index == 1
    assert raised.value.step == 0
    assert "before its first step" in str(raised.value)
    assert "troubles.py" in raised.value.trace


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_failed_close_raises_after_all_are_closed(placement: Any) -> None:
    makers = [Trouble, partial(Trouble, "close"), Trouble]
    envs = VectorEnv(makers, placement=placement, workers=2)
    envs.reset(seed=1)

    with pytest.raises(EnvError, match="ConnectionError: cannot be closed") as raised:
        envs.close()

    assert raised.value.index == 1
    assert envs.closed
    envs.close()


def test_step_after_the_end_without_autoreset_raises() -> None:
    envs = VectorEnv([Trouble] * 2, autoreset_mode="Disabled", placement="thread")
    envs.reset(seed=1)

    with pytest.raises(EnvError, match=r"ended.*reset_mask"):
        step_until_it_fails(envs)
    envs.close()


def test_nan_is_allowed_without_check_nan() -> None:
    envs = VectorEnv([partial(Trouble, "nan", 1)] * 2, placement="thread")
    envs.reset(seed=1)

    assert np.isnan(envs.step([0, 0])[0]["a"]).sum() == 2
    envs.close()


# -- restarts --------------------------------------------------------------------------

MODES = list(AutoresetMode)


def makers_in_trouble() -> list[Any]:
    """Return functions that make five, four of which fail in steps of their own."""
    return [
        partial(Trouble, kind, 3 + 2 * index)
        for index, kind in enumerate(["step", "", "dtype", "nan", "second reset"])
    ]


def restarted(mode: AutoresetMode, restart: Any, **options: Any) -> Any:
    envs = VectorEnv(
        makers_in_trouble(),
        autoreset_mode=mode,
        restart=restart,
        check_nan=True,
        **options,
    )
    try:
        return play(envs, steps=40, reset_at=[17])
    finally:
        envs.close()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("restart", ["reset", "recreate"])
def test_restarts_are_the_same_for_any_workers_and_placement(
    mode: AutoresetMode, restart: str
) -> None:
    expected = restarted(mode, restart, placement="thread", workers=1)

    for workers in (2, 4):
        run = restarted(mode, restart, placement="thread", workers=workers)
        assert_same_run(run, expected)
    if restart == "recreate" or mode is AutoresetMode.NEXT_STEP:  # they take long
        run = restarted(mode, restart, placement="process", workers=2)
        assert_same_run(run, expected)


def logged(info: dict[str, Any]) -> dict[str, Any]:
    """Return the log of a restart, wherever the autoreset mode puts it."""
    return info.get("final_info", {}) if "failure" not in info else info


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("restart", ["reset", "recreate"])
def test_a_restart_cuts_the_episode_off_and_is_logged(
    mode: AutoresetMode, restart: str
) -> None:
    envs = VectorEnv(
        [partial(Trouble, longest=99), partial(Trouble, "dtype", 1, longest=99)],
        autoreset_mode=mode,
        restart=restart,  # type: ignore[arg-type]
        placement="thread",
    )
    first, _ = envs.reset(seed=1)
    envs.set_attr("length", 99)
    old = envs.envs[1]

    found, rewards, terminated, truncated, info = envs.step([1, 2])

    log = logged(info)
    assert truncated.tolist() == [False, True]
    assert not terminated.any()
    assert rewards[1] == 0.0
    assert log["restart"].tolist() == [None, restart]
    assert log["_restart"].tolist() == [False, True]
    assert log["failure"][1].startswith(
        f"environment 1 (Trouble) failed in step 1, tag {envs.tag}: "
    )
    assert (envs.envs[1] is old) == (restart == "reset")
    # The last good observation, whole: where it was, or as the final one.
    if mode is AutoresetMode.SAME_STEP:
        last = info["final_obs"][1]
        assert found["a"][1].tolist() != first["a"][1].tolist()
    else:
        last = {key: part[1] for key, part in found.items()}
    assert_same(last["a"], first["a"][1])
    assert int(last["b"]) == first["b"][1]
    if mode is AutoresetMode.NEXT_STEP:
        _, _, terminated, truncated, info = envs.step([1, 2])
        assert not truncated.any()
        assert "restart" not in info
    envs.close()


def test_recreated_environments_are_seeded_anew_each_time() -> None:
    seeds = []
    for _ in range(2):
        envs = VectorEnv(
            [partial(Trouble, "step", 1, longest=9)],
            restart="recreate",
            autoreset_mode="SameStep",
            placement="thread",
        )
        envs.reset(seed=5)
        mine = []
        for _ in range(4):
            envs.step([0])
            mine.append(envs.np_random_seed[0])
        envs.close()
        seeds.append(mine)

    assert seeds[0] == seeds[1]
    assert len({5, *seeds[0]}) == 5  # no life is lived twice


def test_reset_that_fails_twice_raises_for_any_restart() -> None:
    for restart in ("reset", "recreate"):
        envs = VectorEnv(
            [Trouble, partial(Trouble, "reset")],
            restart=restart,  # type: ignore[arg-type]
            placement="thread",
        )
        with pytest.raises(EnvError, match="cannot be reset") as raised:
            envs.reset(seed=1)
        assert raised.value.index == 1
        envs.close()


def test_environments_that_change_their_observation_are_restarted_too() -> None:
    class Fragile(Reuser):
        def step(self, action: Any) -> Any:
            if self.turn == 2:
                msg = "fragile"
                raise ValueError(msg)
            return super().step(action)

    runs = []
    for workers in (1, 2):
        envs = VectorEnv(
            [Fragile] * 3, restart="reset", placement="thread", workers=workers
        )
        runs.append(play(envs, steps=20))
        envs.close()

    assert_same_run(runs[1], runs[0])
    assert sum("restart" in found[-1] for _, found in runs[0]) > 2


# -- hanging: the only tests that wait -------------------------------------------------

LIMIT = 3.0  # seconds; so long that ordinary steps stay below it on a busy machine


@pytest.mark.parametrize("kind", ["spin", "spin and shrug"])
def test_hanging_python_code_is_interrupted(kind: str) -> None:
    makers = [partial(Trouble, longest=9), partial(Trouble, kind, 2, longest=99)]
    envs = VectorEnv(makers, placement="thread", timeout=LIMIT, workers=2)
    envs.reset(seed=1)
    envs.set_attr("length", 99)
    envs.step([0, 0])

    with pytest.raises(EnvError, match=r"HangError: took longer than 3 s") as raised:
        envs.step([0, 0])

    assert raised.value.index == 1
    assert raised.value.step == 2
    assert "misbehave" in raised.value.trace  # where it was
    envs.reset(seed=1)
    envs.step([0, 0])
    envs.close()


@pytest.mark.parametrize("restart", ["reset", "recreate"])
def test_env_that_hung_is_restarted(restart: Any) -> None:
    makers = [partial(Trouble, longest=99), partial(Trouble, "spin", 2, longest=99)]
    envs = VectorEnv(
        makers, placement="thread", timeout=LIMIT, workers=2, restart=restart
    )
    envs.reset(seed=1)
    envs.set_attr("length", 99)

    truncated = [envs.step([0, 0])[3].tolist() for _ in range(3)]

    assert truncated == [[False, False], [False, True], [False, False]]
    envs.close()


def test_a_process_that_hangs_in_c_is_killed_and_others_are_not() -> None:
    makers = [
        partial(Trouble, longest=99),
        partial(Trouble, "sleep", 3, longest=99),
        Trouble,
    ]
    envs = VectorEnv(makers, placement="process", timeout=LIMIT, workers=2)
    envs.reset(seed=1)
    envs.set_attr("length", 99)
    envs.step([0, 0, 0])
    envs.step([0, 0, 0])

    with pytest.raises(EnvError, match=r"longer than 3 s") as raised:
        envs.step([0, 0, 0])

    assert raised.value.index == 1
    assert raised.value.env == "Trouble"
    assert "it held environments 1 to 2" in str(raised.value)
    assert raised.value.step == 3
    envs.close()


def test_a_slow_process_is_not_a_hanging_one() -> None:
    # Each takes less than the limit, all together far more, by either kind of action.
    envs = VectorEnv(
        [Slow] * 6, placement="process", timeout=2.0, workers=1, restart="never"
    )
    envs.reset(seed=1)

    envs.step([0] * 6)
    envs.step(np.zeros(6, np.int64))

    envs.close()


class Slow(Trouble):
    def step(self, action: Any) -> Any:
        time.sleep(0.75)
        return super().step(action)
