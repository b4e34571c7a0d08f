# SPDX-License-Identifier: Apache-2.0
"""Environments run in several threads only if that does not change their results."""

from __future__ import annotations

import hashlib
import logging
import pickle
import signal
import sys
import threading
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv
from gymnasium.wrappers import TimeLimit

from reactorl import ReactorlWarning
from reactorl._util.machine import has_gil
from reactorl.rl import ThreadSafetyError, VectorEnv
from reactorl.rl.envs import placement
from reactorl.rl.envs._preemption import Preemption
from reactorl.rl.envs.factory import Recipe, find_spec
from reactorl.rl.envs.placement import choose_placement
from reactorl.rl.envs.shard_factory import ShardFactory
from reactorl.rl.envs.thread_safety import cache, identity, probe
from reactorl.rl.envs.thread_safety.identity import Identity
from reactorl.rl.envs.thread_safety.known import look
from reactorl.rl.envs.thread_safety.probe import (
    representatives,
    run_probe,
    thread_safety,
)
from reactorl.rl.envs.thread_safety.verdict import Verdict
from tests.rl import unsafe_envs

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(probe, "_verdicts", {})
    # Processes are never chosen for their speed, which depends on the machine.
    monkeypatch.setattr(placement, "MIN_PROCESS_SECONDS", float("inf"))


def _recipe(env_id: str, **kwargs: Any) -> Recipe:
    return Recipe(find_spec(env_id), kwargs)


def _never(*_: object) -> Verdict:
    pytest.fail("the probe ran")


# -- what is known -------------------------------------------------------------------


@pytest.mark.parametrize(
    "maker",
    [
        _recipe("CartPole-v1"),
        _recipe("FrozenLake-v1", is_slippery=False),
        Recipe(
            find_spec("CartPole-v1"), {}, (partial(TimeLimit, max_episode_steps=7),)
        ),
        lambda: gym.make("Pendulum-v1"),
        lambda: TimeLimit(gym.make("CartPole-v1"), 7),
    ],
)
def test_classic_and_toy_text_environments_are_known_to_be_safe(
    maker: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "run_probe", _never)
    assert thread_safety([maker] * 3).kind == "safe"


def test_environments_that_draw_with_pygame_are_known_to_be_unsafe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(probe, "run_probe", _never)
    racing = thread_safety([_recipe("CarRacing-v3")])
    assert (racing.kind, racing.name) == ("differs", "CarRacing-v3")
    drawn = thread_safety([_recipe("CartPole-v1", render_mode="rgb_array")])
    assert drawn.kind == "differs"
    assert "pygame" in drawn.reason


def test_nothing_is_known_about_wrappers_and_classes_of_others() -> None:
    spec = find_spec("CartPole-v1")
    assert look(Recipe(spec, {}, (unsafe_envs.Plain,))).verdict() is None
    assert look(unsafe_envs.Plain).verdict() is None

    class Mine(type(gym.make("CartPole-v1").unwrapped)):  # type: ignore[misc]
        pass

    assert look(Mine).verdict() is None


def test_representatives_have_one_of_each_kind() -> None:
    plain, scratch = unsafe_envs.Plain, unsafe_envs.Scratch
    assert representatives([plain] * 5) == [plain, plain]
    assert representatives([plain, plain, scratch]) == [plain, scratch]
    made = [lambda i=i: i for i in range(9)]
    assert representatives(made) == [made[0], made[-1]]


# -- the probe -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["Plain", "Counting", "Raising", "Timing"])
def test_probe_finds_environments_safe(kind: str) -> None:
    assert run_probe([getattr(unsafe_envs, kind)] * 2).kind == "safe"


@pytest.mark.parametrize("kind", ["Scratch", "WrongInfo"])
def test_probe_finds_results_that_change_within_a_step(kind: str) -> None:
    verdict = run_probe([getattr(unsafe_envs, kind)] * 2)
    assert verdict.kind == "differs"
    assert "concurrent threads" in verdict.reason


def test_crash_of_the_probe_is_a_verdict() -> None:
    verdict = run_probe([unsafe_envs.Crashing] * 2)
    assert verdict.kind == "crashed"
    assert "SIGSEGV" in verdict.reason


@pytest.mark.parametrize(
    ("number", "kind"),
    [(signal.SIGINT, "safe"), (signal.SIGTERM, "failed"), (signal.SIGKILL, "failed")],
)
def test_signals_from_outside_say_nothing_about_the_environment(
    number: signal.Signals, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def started(*args: Any, start: Any = probe.start_child, **options: Any) -> Any:
        process = start(*args, **options)
        process.send_signal(number)  # long before its first line
        return process

    monkeypatch.setattr(probe, "start_child", started)
    verdict = run_probe([unsafe_envs.Plain] * 2)

    assert verdict.kind == kind
    if kind == "failed":
        assert number.name in verdict.reason
        assert not verdict.lasting


def test_environment_that_ignores_its_seed_cannot_be_found_safe() -> None:
    assert run_probe([unsafe_envs.Unrepeatable] * 2).kind == "unrepeatable"


def test_environment_that_cannot_be_sent_cannot_be_found_safe() -> None:
    lock = threading.Lock()

    def make() -> Any:
        with lock:
            return unsafe_envs.Plain()

    assert run_probe([make, make]).kind == "unsendable"


def test_probe_that_hangs_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "LIMIT_SECONDS", 0.01)
    assert run_probe([unsafe_envs.Plain] * 2).kind == "timeout"


@pytest.mark.parametrize(("shared", "kind"), [(False, "safe"), (True, "differs")])
def test_probe_runs_multi_agent_environments(*, shared: bool, kind: str) -> None:
    assert run_probe([partial(unsafe_envs.Moves, shared=shared)] * 2).kind == kind


def test_probe_finds_car_racing_without_knowing_it() -> None:
    pytest.importorskip("Box2D")
    pytest.importorskip("pygame")
    assert run_probe([_recipe("CarRacing-v3")] * 2).kind in ("differs", "crashed")


@pytest.mark.slow
def test_probe_finds_car_racing_every_time() -> None:
    pytest.importorskip("Box2D")
    pytest.importorskip("pygame")
    found = [run_probe([_recipe("CarRacing-v3")] * 2).kind for _ in range(20)]
    assert "safe" not in found


def test_preemption_pauses_threads_in_native_code_only_if_there_is_a_gil() -> None:
    if not Preemption.works:
        pytest.skip("this system has no timers of threads")
    preemption = Preemption(period=40, progress=100, longest=1_000)
    done = threading.Event()
    data = bytes(1 << 20)

    def hash_data() -> None:  # hashlib releases the GIL
        preemption.enter(gil=has_gil())
        while preemption.pauses < 5 and not done.wait(0):
            hashlib.sha256(data).digest()
        preemption.leave()
        done.set()

    threads = [threading.Thread(target=hash_data) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert preemption.pauses >= 5
    assert preemption.chances >= preemption.pauses


# -- identity and cache --------------------------------------------------------------


def test_identity_is_sure_for_installed_packages_only() -> None:
    assert Identity([_recipe("CartPole-v1")]).sure
    assert Identity([_recipe("CartPole-v1", sutton_barto_reward=True)]).sure
    assert Identity([Recipe(find_spec("CartPole-v1"), {}, (TimeLimit,))]).sure
    assert not Identity([unsafe_envs.Plain]).sure
    assert not Identity([lambda: gym.make("CartPole-v1")]).sure
    gym.register("Local-v0", "tests.rl.unsafe_envs:Plain")
    try:
        assert not Identity([_recipe("Local-v0")]).sure
    finally:
        del gym.registry["Local-v0"]


def test_identity_differs_by_what_a_function_makes() -> None:
    def make(kind: Any) -> Any:
        return lambda: kind()

    plain, again, other = map(
        make, (unsafe_envs.Plain, unsafe_envs.Plain, unsafe_envs.Scratch)
    )
    assert Identity([plain]).text == Identity([again]).text
    assert Identity([plain]).text != Identity([other]).text


def test_key_depends_on_arguments_and_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Identity([_recipe("CartPole-v1")]).key()
    assert one == Identity([_recipe("CartPole-v1")]).key()
    keys = {one, Identity([_recipe("CartPole-v1", sutton_barto_reward=True)]).key()}
    keys.add(Identity([_recipe("CartPole-v0")]).key())
    with monkeypatch.context() as patch:
        patch.setattr(sys, "version", "4.0")
        keys.add(Identity([_recipe("CartPole-v1")]).key())
    with monkeypatch.context() as patch:
        patch.setattr(identity, "_installed", lambda: ["gymnasium-9.dist-info"])
        keys.add(Identity([_recipe("CartPole-v1")]).key())
    assert len(keys) == 5


def test_verdict_is_kept_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # An installed environment about which nothing is known: it renders text.
    makers = [_recipe("FrozenLake-v1", render_mode="ansi")] * 2
    monkeypatch.setattr(probe, "run_probe", lambda _: Verdict("safe", "is the same"))
    found = thread_safety(makers)
    assert (found.kind, found.name) == ("safe", "FrozenLake-v1")
    [file] = (tmp_path / "reactorl").glob("*/*.json")

    probe._verdicts.clear()  # as in another process
    monkeypatch.setattr(probe, "run_probe", _never)
    assert thread_safety(makers) == found

    for damaged in (b"", b"{", b"[]", b'{"kind": "fine"}', b"\xff" * 9):
        file.write_bytes(damaged)
        probe._verdicts.clear()
        monkeypatch.setattr(probe, "run_probe", lambda _: Verdict("differs", "is bad"))
        assert thread_safety(makers).kind == "differs"
    assert cache.load_verdict(file.stem) == Verdict("differs", "is bad", found.name)


def test_cache_that_cannot_be_written_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "reactorl").write_text("a file where the directory would be")
    monkeypatch.setattr(probe, "run_probe", lambda _: Verdict("safe", "is the same"))
    makers = [_recipe("FrozenLake-v1", render_mode="ansi")] * 2
    assert thread_safety(makers).safe


def test_functions_are_probed_once_in_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[object] = []

    def run(makers: object) -> Verdict:
        runs.append(makers)
        return Verdict("safe", "is the same")

    monkeypatch.setattr(probe, "run_probe", run)
    for _ in range(3):
        assert thread_safety([unsafe_envs.Plain] * 4).name == "Plain"
    assert len(runs) == 1
    assert not list(tmp_path.glob("**/*.json"))


# -- placement -----------------------------------------------------------------------


def _steps(envs: Any) -> list[Any]:
    seen = [envs.reset(seed=3)[0]]
    envs.action_space.seed(3)
    for _ in range(12):
        seen += envs.step(envs.action_space.sample())[:4]
    envs.close()
    return seen


def test_auto_moves_unsafe_environments_to_processes_and_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO):
        envs = VectorEnv([unsafe_envs.Scratch] * 3, workers=2)
    assert envs.placement == "process"
    [line] = [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]
    assert "in worker processes, not in threads: Scratch gives other results" in line
    assert any("probe of thread safety" in r.getMessage() for r in caplog.records)
    found = _steps(envs)
    expected = _steps(SyncVectorEnv([unsafe_envs.Scratch] * 3))
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_auto_keeps_safe_environments_in_threads() -> None:
    envs = VectorEnv([unsafe_envs.Plain] * 3, workers=2)
    assert envs.placement == "thread"
    envs.close()


def test_auto_equals_sync_vector_env_for_car_racing() -> None:
    pytest.importorskip("Box2D")
    pytest.importorskip("pygame")
    envs = VectorEnv("CarRacing-v3", 3, workers=2)
    assert envs.placement == "process"
    found = _steps(envs)
    expected = _steps(SyncVectorEnv([lambda: gym.make("CarRacing-v3")] * 3))
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_environment_that_cannot_be_sent_runs_on_one_thread(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdict = Verdict("unsendable", "cannot run in another process", "Plain")
    monkeypatch.setattr(probe, "run_probe", lambda _: verdict)
    found = choose_placement("auto", [unsafe_envs.Plain] * 2, 2)
    assert found == ("thread", 1)
    assert "on one thread: Plain cannot run" in caplog.text


def test_one_worker_needs_no_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "run_probe", _never)
    makers = [unsafe_envs.Scratch] * 3
    assert choose_placement("auto", makers, 1) == ("thread", 1)
    assert choose_placement("process", makers, 2) == ("process", 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        racing = [_recipe("CarRacing-v3")]
        assert choose_placement("thread", racing, 2) == ("thread", 2)
        assert choose_placement("thread", racing * 3, 1) == ("thread", 1)


def test_threads_for_an_unsafe_environment_warn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    verdict = Verdict("differs", "gives other results")
    monkeypatch.setattr(probe, "run_probe", lambda _: verdict)
    makers = [unsafe_envs.Scratch] * 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert choose_placement("thread", makers, 2) == ("thread", 2)  # not known yet
    assert choose_placement("auto", makers, 2)[0] == "process"
    with pytest.warns(ReactorlWarning, match="Scratch is not safe in threads: it"):
        VectorEnv(makers, placement="thread", workers=2).close()
    with pytest.warns(ReactorlWarning, match="CarRacing-v3 is not safe in threads"):
        choose_placement("thread", [_recipe("CarRacing-v3")] * 2, 2)


def test_check_runs_the_probe_and_raises_for_threads() -> None:
    makers = [unsafe_envs.Scratch] * 2
    with pytest.raises(ThreadSafetyError, match="Scratch is not safe") as raised:
        VectorEnv(makers, placement="thread", workers=2, check=True)
    assert raised.value.env == "Scratch"
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)
    envs = VectorEnv(makers, workers=2, check=True)
    assert envs.placement == "process"
    envs.close()


def test_check_runs_the_probe_even_if_there_is_a_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(probe, "run_probe", lambda _: Verdict("differs", "is bad"))
    with pytest.raises(ThreadSafetyError, match=r"CartPole-v1 is not .*: it is bad"):
        VectorEnv("CartPole-v1", 2, workers=2, placement="thread", check=True)


def test_shards_of_training_follow_the_same_rule(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(probe, "run_probe", lambda _: Verdict("differs", "is bad"))
    for shards in (1, 2, 1_000):
        factory = ShardFactory(
            unsafe_envs.Scratch, "auto", num_shards=shards, concurrent=True
        )
        assert factory.placement == "process"
    assert ShardFactory(unsafe_envs.Scratch, "thread").placement == "thread"
    with pytest.warns(ReactorlWarning, match="Scratch is not safe in threads"):
        ShardFactory(unsafe_envs.Scratch, "thread", num_shards=2)
