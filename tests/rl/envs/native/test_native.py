# SPDX-License-Identifier: Apache-2.0
"""Native bodies give the bits of Gymnasium's own environments."""

from __future__ import annotations

from contextlib import closing
from copy import deepcopy
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from hypothesis import given, settings
from hypothesis import strategies as st

from reactorl.rl import EnvError, VectorEnv
from reactorl.rl.envs import arrays
from reactorl.rl.envs.native import choice, sources
from reactorl.rl.envs.native.choice import KINDS, are_native, unavailable
from reactorl.rl.envs.native.self_check import self_check
from tests.rl.comparing import assert_same, assert_same_run, play, play_sync
from tests.rl.envs.native.cases import CASES, kept_state, live, makers, sampled

MODES = list(AutoresetMode)

pytestmark = pytest.mark.filterwarnings("ignore:.*out of date")


def native(case: str, count: int, limit: int | None = None, **options: Any) -> Any:
    """Return a vector of native environments."""
    env_id, kwargs = CASES[case]
    if limit is not None:
        kwargs = {**kwargs, "max_episode_steps": limit}
    options = {"native": True, **options}
    return VectorEnv(env_id, count, env_kwargs=kwargs, **options)


def test_every_body_is_available_with_the_tested_gymnasium() -> None:
    assert self_check() == ""
    assert {entry: unavailable(kind) for entry, kind in KINDS.items()} == dict.fromkeys(
        KINDS, ""
    )


# -- steps and resets ------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES)
def test_native_steps_are_bit_identical(case: str, mode: AutoresetMode) -> None:
    # A limit that some episodes reach, and the limit of the id.
    for limit, steps in ((9, 60), (None, 260)):
        script: dict[str, Any] = {"steps": steps, "reset_at": [17, 18, 40]}
        sync = {"autoreset_mode": mode}
        theirs = play_sync(makers(case, 4, limit), sync=sync, **script)
        with closing(native(case, 4, limit, autoreset_mode=mode)) as envs:
            assert_same_run(play(envs, **script), theirs)


@settings(max_examples=60, deadline=None)
@given(
    case=st.sampled_from(sorted(CASES)),
    mode=st.sampled_from(MODES),
    seed=st.integers(0, 2**70),
    count=st.integers(1, 6),
    workers=st.integers(1, 3),
    limit=st.none() | st.integers(1, 30),
    reset_at=st.lists(st.integers(0, 50), max_size=4),
    copy=st.booleans(),
)
def test_any_seed_mode_and_number_of_workers(
    case: str,
    mode: AutoresetMode,
    seed: int,
    count: int,
    workers: int,
    limit: int | None,
    reset_at: list[int],
    copy: bool,  # noqa: FBT001
) -> None:
    script: dict[str, Any] = {"steps": 50, "seed": seed, "reset_at": reset_at}
    vector = {"autoreset_mode": mode, "copy": copy}
    theirs = play_sync(makers(case, count, limit), sync=vector, **script)
    with closing(native(case, count, limit, workers=workers, **vector)) as envs:
        assert_same_run(play(envs, **script), theirs)


@pytest.mark.parametrize("case", CASES)
def test_states_and_generators_are_those_of_python(case: str) -> None:
    with (
        closing(native(case, 3)) as envs,
        closing(SyncVectorEnv(makers(case, 3))) as sync,
    ):
        envs.reset(seed=5)
        sync.reset(seed=5)
        for actions in sampled(sync, 230):
            envs.step(actions)
            sync.step(actions)
        assert live(envs) == 3
        for ours, theirs in zip(envs.envs, sync.envs, strict=True):
            assert_same(kept_state(ours), kept_state(theirs))
        assert live(envs) == 0
        for actions in sampled(sync, 30):  # and they continue from there
            assert_same(envs.step(actions), sync.step(actions))


@pytest.mark.parametrize(
    ("case", "options"),
    [
        ("CartPole-v1", {"low": -0.2, "high": 0.1}),
        ("MountainCar-v0", {"low": -0.9, "high": -0.3}),
        ("MountainCarContinuous-v0", {"low": -0.9, "high": -0.3}),
        ("Acrobot-v1", {"low": -1, "high": 1}),
        ("Pendulum-v1", {"x_init": 0.3, "y_init": 2}),
    ],
)
def test_options_of_resets(case: str, options: dict[str, Any]) -> None:
    script: dict[str, Any] = {"steps": 60, "options": options, "reset_at": [20]}
    theirs = play_sync(makers(case, 3, 15), **script)
    with closing(native(case, 3, 15)) as envs:
        assert_same_run(play(envs, **script), theirs)


def test_many_environments_on_several_workers() -> None:
    for case in ("Blackjack-v1", "Pendulum-v1"):
        theirs = play_sync(makers(case, 520), steps=20)
        for workers in (1, 2):
            with closing(native(case, 520, workers=workers)) as envs:
                assert_same_run(play(envs, steps=20), theirs)


# -- actions ---------------------------------------------------------------------------


def _forms(actions: np.ndarray[Any, Any]) -> list[Any]:
    return [
        actions,
        np.stack([actions, actions], axis=-1)[..., 0],  # not contiguous
        list(actions),
        actions.tolist(),
        tuple(actions),
        actions.astype(np.int32),
        actions.astype(">i8"),
    ]


def test_actions_in_any_form() -> None:
    with (
        closing(native("CartPole-v1", 3)) as envs,
        closing(SyncVectorEnv(makers("CartPole-v1", 3))) as sync,
    ):
        assert_same(envs.reset(seed=1), sync.reset(seed=1))
        for turn in range(40):
            actions = np.array([turn % 2, 1, (turn // 2) % 2])
            form = _forms(actions)[turn % 7]
            assert_same(envs.step(form), sync.step(form), f"turn {turn}")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", ["Pendulum-v1", "MountainCarContinuous-v0"])
def test_continuous_actions_of_both_precisions(case: str, dtype: Any) -> None:
    random = np.random.default_rng(3)
    with (
        closing(native(case, 3)) as envs,
        closing(SyncVectorEnv(makers(case, 3))) as sync,
    ):
        assert_same(envs.reset(seed=1), sync.reset(seed=1))
        for turn in range(120):
            actions = random.uniform(-3, 3, (3, 1)).astype(dtype)
            if turn % 10 == 3:
                actions[0] = (-1, 1, 0, -2, 2)[turn // 10 % 5]
            assert_same(envs.step(actions), sync.step(actions), f"turn {turn}")


@pytest.mark.parametrize("case", ["CartPole-v1", "CliffWalking-v1", "Acrobot-v1"])
def test_invalid_actions_fail_as_in_python(case: str) -> None:
    failures = []
    for native_option in (True, False):
        with closing(native(case, 3, native=native_option, workers=1)) as envs:
            envs.reset(seed=1)
            for _ in range(5):
                envs.step(np.array([0, 1, 0]))
            with pytest.raises(EnvError) as raised:
                envs.step(np.array([0, 9, 0]))
            failure = raised.value
            failures.append((failure.index, failure.step, failure.what))
            envs.step(np.array([0, 1, 0]))
    assert failures[0] == failures[1]


@pytest.mark.parametrize("restart", ["reset", "recreate"])
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_restarts_are_those_of_python(restart: Any, mode: AutoresetMode) -> None:
    runs = []
    for native_option in (True, False):
        envs = native(
            "CartPole-v1", 3, native=native_option, restart=restart, autoreset_mode=mode
        )
        with closing(envs):
            found: list[Any] = [envs.reset(seed=1)]
            for turn in range(60):
                actions = np.array([turn % 2, 9 if turn % 13 == 7 else 1, 0])
                results = deepcopy(envs.step(actions))
                infos = results[-1]
                if "failure" in infos:
                    infos["failure"] = [str(each) for each in infos["failure"]]
                for key in ("final_info",):
                    if "failure" in infos.get(key, {}):
                        infos[key]["failure"] = list(map(str, infos[key]["failure"]))
                found.append(results)
            runs.append(found)
    assert_same(runs[0], runs[1])


# -- the Python environments -----------------------------------------------------------


@pytest.mark.parametrize(
    ("env_id", "render_mode"),
    [("CartPole-v1", "rgb_array"), ("FrozenLake-v1", "ansi"), ("Taxi-v4", "ansi")],
)
def test_images_and_texts_between_steps(env_id: str, render_mode: str) -> None:
    if render_mode == "rgb_array":
        pytest.importorskip("pygame")
    kwargs = {"render_mode": render_mode}
    made = [lambda: gym.make(env_id, **kwargs)] * 3
    with (
        closing(VectorEnv(env_id, 3, env_kwargs=kwargs, workers=1)) as envs,
        closing(SyncVectorEnv(made)) as sync,
    ):
        assert envs.is_native
        assert_same(envs.reset(seed=1), sync.reset(seed=1))
        for turn, actions in enumerate(sampled(sync, 40)):
            assert_same(envs.step(actions), sync.step(actions), f"turn {turn}")
            if turn % 10 in (5, 6):
                assert_same(envs.render(), sync.render())
        assert live(envs) == 3


def test_attributes_and_calls_between_steps() -> None:
    with (
        closing(native("CartPole-v1", 3)) as envs,
        closing(SyncVectorEnv(makers("CartPole-v1", 3))) as sync,
    ):
        assert_same(envs.reset(seed=1), sync.reset(seed=1))
        for turn, actions in enumerate(sampled(sync, 80)):
            assert_same(envs.step(actions), sync.step(actions), f"turn {turn}")
            if turn % 5 == 0:
                assert_same(envs.get_attr("state"), sync.get_attr("state"))
                assert_same(envs.np_random_seed, sync.get_attr("np_random_seed"))
            if turn == 30:
                for each in (envs, sync):
                    each.set_attr("gravity", [5.0, 20.0, 9.8])
            if turn == 50:  # drawing from them changes the next episodes
                for each in (envs, sync):
                    for generator in each.get_attr("np_random"):
                        generator.random()
        assert live(envs) == 3


def test_parameters_that_are_set_are_used_natively() -> None:
    with (
        closing(native("Acrobot-v1", 2)) as envs,
        closing(SyncVectorEnv(makers("Acrobot-v1", 2))) as sync,
    ):
        envs.reset(seed=1)
        sync.reset(seed=1)
        for name, value in (
            ("dt", 0.05),
            ("torque_noise_max", 0.5),
            ("book_or_nips", "nips"),
        ):
            envs.set_attr(name, value)
            sync.set_attr(name, value)
            for actions in sampled(sync, 30):
                assert_same(envs.step(actions), sync.step(actions), name)
            assert live(envs) == 2


def test_unknown_attributes_are_left_to_python_with_the_state() -> None:
    with (
        closing(native("CartPole-v1", 2)) as envs,
        closing(SyncVectorEnv(makers("CartPole-v1", 2))) as sync,
    ):
        envs.reset(seed=1)
        sync.reset(seed=1)
        for turn, actions in enumerate(sampled(sync, 60)):
            if turn == 20:
                envs.set_attr("wind", 3.0)
                sync.set_attr("wind", 3.0)
            assert_same(envs.step(actions), sync.step(actions), f"turn {turn}")
            assert live(envs) == (2 if 2 <= turn < 20 else 0)


@pytest.mark.parametrize(
    ("case", "name", "value"),
    [
        ("CartPole-v1", "masspole", np.float32(0.2)),  # products become float32
        ("CartPole-v1", "gravity", True),
        ("MountainCar-v0", "force", 2**60),
        ("Acrobot-v1", "AVAIL_TORQUE", [-1.0, 0.0]),
        ("Acrobot-v1", "dt", np.float32(0.1)),
        ("Pendulum-v1", "dt", "long"),
    ],
)
def test_unusual_parameters_are_left_to_python(
    case: str, name: str, value: Any
) -> None:
    runs = []
    for native_option in (True, False):
        with closing(native(case, 2, native=native_option, workers=1)) as envs:
            envs.reset(seed=1)
            found: list[Any] = []
            for turn, actions in enumerate(sampled(envs, 30)):
                if turn == 10:
                    envs.set_attr(name, [value, value])
                try:
                    found.append(envs.step(actions))
                except EnvError as failure:
                    found.append((failure.index, failure.step, failure.what))
            assert live(envs) == 0
            runs.append(found)
    assert_same(*runs)


@pytest.mark.parametrize(
    ("case", "name"), [("CartPole-v1", "total_mass"), ("Pendulum-v1", "l")]
)
def test_divisions_by_zero_are_left_to_python(case: str, name: str) -> None:
    failures = []
    for native_option in (True, False):
        with closing(native(case, 1, native=native_option)) as envs:
            envs.reset(seed=1)
            for actions in sampled(envs, 5):
                envs.step(actions)
            envs.set_attr(name, 0.0)
            with pytest.raises(EnvError) as raised:  # a warning is an error in tests
                envs.step(actions)
            failures.append(raised.value.what)
    assert failures[0] == failures[1]


def test_environments_that_are_handed_out_may_be_changed_at_any_time() -> None:
    with (
        closing(native("CartPole-v1", 2)) as envs,
        closing(SyncVectorEnv(makers("CartPole-v1", 2))) as sync,
    ):
        envs.reset(seed=1)
        sync.reset(seed=1)
        for turn, actions in enumerate(sampled(sync, 60)):
            assert_same(envs.step(actions), sync.step(actions), f"turn {turn}")
            if turn == 10:
                ours, theirs = envs.envs[0].unwrapped, sync.envs[0].unwrapped
                assert not envs.is_native
            if turn > 10:
                assert_same(ours.state, theirs.state)
            if turn == 25:
                ours.state[0] += 0.01
                theirs.state[0] += 0.01


def test_one_generator_for_all_is_left_to_python() -> None:
    with (
        closing(native("Blackjack-v1", 3)) as envs,
        closing(SyncVectorEnv(makers("Blackjack-v1", 3))) as sync,
    ):
        envs.reset(seed=1)
        sync.reset(seed=1)
        for each in (envs, sync):
            each.set_attr("np_random", np.random.default_rng(8))
        for turn, actions in enumerate(sampled(sync, 60)):
            assert_same(envs.step(actions), sync.step(actions), f"turn {turn}")


@pytest.mark.parametrize("bits", ["MT19937", "Philox", "SFC64", "PCG64DXSM"])
def test_other_bit_generators(bits: str) -> None:
    def generators() -> list[Any]:
        kind = getattr(np.random, bits)
        return [np.random.Generator(kind(i)) for i in range(3)]

    with (
        closing(native("Blackjack-v1", 3)) as envs,
        closing(SyncVectorEnv(makers("Blackjack-v1", 3))) as sync,
    ):
        envs.reset(seed=1)
        sync.reset(seed=1)
        envs.set_attr("np_random", generators())
        sync.set_attr("np_random", generators())
        for turn, actions in enumerate(sampled(sync, 60)):
            assert_same(envs.step(actions), sync.step(actions), f"turn {turn}")
        assert live(envs) == 3


def test_changed_tables_are_used() -> None:
    with (
        closing(native("FrozenLake-v1", 3)) as envs,
        closing(SyncVectorEnv(makers("FrozenLake-v1", 3))) as sync,
    ):
        envs.reset(seed=1)
        sync.reset(seed=1)
        for turn, actions in enumerate(sampled(sync, 60)):
            assert_same(envs.step(actions), sync.step(actions), f"turn {turn}")
            if turn == 20:
                for each in (envs, sync):
                    for table in each.get_attr("P"):
                        table[0][2] = [(1.0, 5, 7.5, True)]


# -- which environments are native -----------------------------------------------------


def test_ids_are_native_and_functions_are_not() -> None:
    with closing(VectorEnv("CartPole-v1", 2)) as envs:
        assert envs.is_native
    with closing(VectorEnv("CartPole-v1", 2, native=False)) as envs:
        assert not envs.is_native
    with closing(VectorEnv(makers("CartPole-v1", 2))) as envs:
        assert not envs.is_native  # a function may keep what it made
    with closing(VectorEnv(makers("CartPole-v1", 2), native=True)) as envs:
        assert envs.is_native


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"wrappers": [gym.wrappers.TimeAwareObservation]}, "TimeAwareObservation"),
        ({"wrappers": [gym.wrappers.RecordEpisodeStatistics]}, "RecordEpisode"),
        ({"env_kwargs": {"render_mode": "rgb_array_list"}}, "RenderCollection"),
        ({"check_nan": True}, "check_nan"),
    ],
)
def test_what_is_not_known_is_python(options: dict[str, Any], reason: str) -> None:
    with closing(VectorEnv("CartPole-v1", 2, **options)) as envs:
        assert not envs.is_native
    with pytest.raises(EnvError, match=reason):
        VectorEnv("CartPole-v1", 2, native=True, **options)


def test_native_must_be_known() -> None:
    with pytest.raises(ValueError, match="native must be 'auto', True or False"):
        VectorEnv("CartPole-v1", 2, native="yes")  # type: ignore[arg-type]


def test_another_source_text_is_python(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = "gymnasium.envs.classic_control.cartpole:CartPoleEnv"
    monkeypatch.setitem(sources.KNOWN, entry, frozenset({"0123456789abcdef"}))

    assert "not a known one" in unavailable(KINDS[entry])
    with closing(VectorEnv("CartPole-v1", 2)) as envs:
        assert not envs.is_native
    with pytest.raises(EnvError, match="not a known one"):
        VectorEnv("CartPole-v1", 2, native=True)


def test_a_replaced_method_is_python(monkeypatch: pytest.MonkeyPatch) -> None:
    from gymnasium.envs.classic_control.cartpole import CartPoleEnv

    original = CartPoleEnv.step

    def step(self: Any, action: Any) -> Any:
        found = original(self, action)
        return found[0], found[1] * 2, *found[2:]

    monkeypatch.setattr(CartPoleEnv, "step", step)
    with closing(VectorEnv("CartPole-v1", 2)) as envs:
        assert not envs.is_native
        envs.reset(seed=1)
        assert envs.step(np.array([0, 1]))[1].tolist() == [2.0, 2.0]


def test_a_failed_self_check_is_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "self_check", lambda: "the sine of a float64")

    with closing(VectorEnv("CartPole-v1", 2)) as envs:
        assert not envs.is_native
    with pytest.raises(EnvError, match="sine of a float64 differs"):
        VectorEnv("CartPole-v1", 2, native=True)


def test_a_subclass_is_python() -> None:
    from gymnasium.envs.classic_control import CartPoleEnv

    class Windy(CartPoleEnv):
        pass

    with pytest.raises(EnvError, match="no native"):
        VectorEnv([Windy], native=True)
    with closing(VectorEnv([CartPoleEnv], native=True)) as envs:
        assert envs.is_native


def test_different_environments_are_python() -> None:
    with pytest.raises(EnvError, match="not alike"):
        VectorEnv(
            [*makers("CartPole-v1", 1), *makers("MountainCar-v0", 1)],
            native=True,
            workers=1,
        )
    assert not are_native([*makers("CartPole-v1", 2)], "auto")


# -- other ways to step ----------------------------------------------------------------


@pytest.mark.parametrize("case", ["CartPole-v1", "Blackjack-v1", "Taxi-v4"])
@pytest.mark.parametrize("mode", MODES)
def test_native_steps_in_worker_processes(case: str, mode: AutoresetMode) -> None:
    script: dict[str, Any] = {"steps": 60, "reset_at": [17]}
    theirs = play_sync(makers(case, 4, 12), sync={"autoreset_mode": mode}, **script)
    envs = native(case, 4, 12, autoreset_mode=mode, placement="process", workers=2)
    with closing(envs):
        assert_same_run(play(envs, **script), theirs)


def test_batches_that_would_be_lent_are_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "LARGE", 16)
    theirs = play_sync(makers("CartPole-v1", 4), steps=30, reset_at=[9])
    with closing(native("CartPole-v1", 4)) as envs:
        ours = play(envs, steps=30, reset_at=[9])
        assert live(envs) == 4
    assert_same_run(ours, theirs)


def test_sent_and_received_steps() -> None:
    runs = []
    for native_option in (True, False):
        with closing(
            native("CartPole-v1", 4, native=native_option, batch_size=2)
        ) as envs:
            found: list[Any] = []
            envs.async_reset(seed=1)
            for _ in range(120):
                results = envs.recv()
                found.append(deepcopy(results))
                infos = results[-1]
                envs.send(np.array([1, 0]), infos["env_id"])
            for _ in range(2):
                envs.recv()
            runs.append(found)
    assert_same(runs[0], runs[1])
