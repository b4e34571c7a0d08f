# SPDX-License-Identifier: Apache-2.0
"""Trials of Ray Tune have the results of trainings, also when Tune moves them."""

from __future__ import annotations

import json
import logging
import math
import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

from reactorl.rl import (
    CheckpointError,
    Flow,
    FlowError,
    QLearning,
    RunDirectory,
    Trainer,
    read_checkpoint,
)
from reactorl.rl.checkpoint.fingerprint import weights_digest

pytest.importorskip("ray.tune", reason="needs Ray, which is for Pythons with a GIL")

import ray
from ray import tune

from reactorl.rl import tune_trainable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STEPS = 1_024
EVERY = 128
OURS = (
    "global_step",
    "charts/episodic_return",
    "charts/episodic_length",
    "eval/mean_return",
    "weights_digest",
    "done",
)


def frozen_lake(config: dict[str, Any]) -> Flow:
    settings = {"learning_rate": 0.2, "total_timesteps": STEPS, **config}
    seed = settings.pop("seed", 1)
    algorithm = QLearning(num_envs=4, num_steps=16, **settings)
    return Flow(
        "FrozenLake-v1",
        algorithm,
        seed=seed,
        eval_every=256,
        rollouts=2,
        env_kwargs={"reward_schedule": (1, -1, 0)},  # holes teach from the start
    )


def digest_of(config: dict[str, Any]) -> str:
    """Return the digest of a training without Tune."""
    return weights_digest(frozen_lake(config).run())


def trial(config: dict[str, Any], **options: Any) -> Any:
    """Return a trial in this process."""
    return tune_trainable(frozen_lake, report_every=EVERY, **options)(config=config)


def results(trainable: Any, count: int = 1_000) -> list[dict[str, Any]]:
    """Return our part of the next results, with NaN as text, which equals itself."""
    found: list[dict[str, Any]] = []
    while len(found) < count and not (found and found[-1]["done"]):
        result = trainable.train()
        found.append({name: result[name] for name in OURS})
    return json.loads(json.dumps(found).replace("NaN", '"none"'))  # type: ignore[no-any-return]


def test_a_trial_gives_the_weights_of_a_training() -> None:
    one = trial({"gamma": 0.9})
    found = results(one)
    one.stop()

    assert [each["global_step"] for each in found] == list(range(EVERY, 1_025, EVERY))
    assert [each["done"] for each in found] == [False] * 7 + [True]
    assert found[-1]["weights_digest"] == digest_of({"gamma": 0.9})
    assert found[-1]["weights_digest"] != digest_of({"gamma": 0.8})
    assert isinstance(found[-1]["eval/mean_return"], float)
    assert found[0]["charts/episodic_length"] > 1


def test_reported_returns_are_means_of_the_last_100_episodes() -> None:
    config = {"total_timesteps": 4 * STEPS}
    one = trial(config)
    episodes: list[Any] = []
    with frozen_lake(config).start() as run:
        for _ in range(32):
            found = one.train()
            for _ in range(2):
                episodes += run.step().episodes
            last = episodes[-100:]
            lengths = [episode.length for episode in last]
            assert found["charts/episodic_length"] == sum(lengths) / len(lengths)
    one.stop()
    assert len(episodes) > 100
    assert found["timesteps_this_iter"] == EVERY


@pytest.mark.parametrize("after", [1, 3, 8])
def test_a_restored_trial_has_the_results_of_one_that_was_not_stopped(
    after: int, tmp_path: Path
) -> None:
    whole = trial({})
    expected = results(whole)
    whole.stop()
    first = trial({})
    assert results(first, after) == expected[:after]
    first.save(str(tmp_path))
    assert results(first) == expected[after:] or after == 8  # saving changes nothing
    first.stop()

    second = trial({})
    results(second, 2)  # of another run in the same process
    second.restore(str(tmp_path))

    assert results(second) == (expected[after:] or expected[-1:])
    second.stop()


def test_a_checkpoint_is_the_directory_of_a_run(tmp_path: Path) -> None:
    one = trial({})
    results(one, 3)
    one.save(str(tmp_path))
    one.stop()

    assert RunDirectory.open(tmp_path).config["command"] == ["ray.tune"]
    options = {"final_episodes": 2, "progress": False}
    result = Trainer.from_directory(tmp_path, **options).fit()
    assert result.digest == digest_of({})


def test_a_trial_is_saved_before_its_first_step(tmp_path: Path) -> None:
    one, two = trial({}), trial({})
    one.save(str(tmp_path))
    results(two, 2)
    two.restore(str(tmp_path))

    assert results(two) == results(one)
    one.stop()
    two.stop()


def test_a_restored_trial_is_saved_before_its_next_step(tmp_path: Path) -> None:
    one, two = trial({}), trial({})
    results(one, 3)
    one.save(str(tmp_path / "a"))
    two.restore(str(tmp_path / "a"))
    two.save(str(tmp_path / "b"))
    one.stop()
    two.stop()

    first = (tmp_path / "a" / "checkpoint").read_bytes()
    assert (tmp_path / "b" / "checkpoint").read_bytes() == first


def test_a_process_is_used_for_another_trial() -> None:
    one = trial({"seed": 3})
    results(one, 2)

    assert one.reset({"seed": 4})

    assert results(one)[-1]["weights_digest"] == digest_of({"seed": 4})
    one.stop()


def test_a_checkpoint_of_another_configuration_is_refused(tmp_path: Path) -> None:
    one = trial({"learning_rate": 0.5})
    results(one, 2)
    one.save(str(tmp_path))
    one.stop()

    other = trial({"learning_rate": 0.4}, mutable=["gamma"])
    with pytest.raises(CheckpointError, match=r"learning_rate is 0\.4 here and 0\.5"):
        other.restore(str(tmp_path))


def test_mutable_hyperparameters_may_differ_from_the_checkpoint(tmp_path: Path) -> None:
    one = trial({"learning_rate": 0.5})
    before = results(one, 2)
    one.save(str(tmp_path))
    one.stop()

    digests = []
    for rate in (0.5, 0.1, 0.1):
        other = trial({"learning_rate": rate}, mutable=["learning_rate"])
        other.restore(str(tmp_path))
        digests.append(results(other)[-1]["weights_digest"])
        other.stop()

    assert digests[0] == digest_of({"learning_rate": 0.5})
    assert digests[1] == digests[2] != digest_of({"learning_rate": 0.1})
    assert before[-1]["weights_digest"] not in digests
    path = tmp_path / "checkpoint"
    task = frozen_lake({"learning_rate": 0.1})
    assert read_checkpoint(path, task, may_differ=["learning_rate"]).data["round"] == 4


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(FlowError, match="report_every must be at least 1, got 0"):
        tune_trainable(frozen_lake, report_every=0)
    with pytest.raises(FlowError, match=r"mutable must be .* got \['lr'\]"):
        trial({}, mutable=["gamma", "lr"])


def test_an_error_of_a_training_ends_the_program_and_the_trial() -> None:
    def failing(config: dict[str, Any]) -> Flow:
        algorithm = QLearning(total_timesteps=STEPS)
        return Flow(BrokenLake, algorithm, eval_every=0, placement="thread")

    one = tune_trainable(failing)(config={})
    with pytest.raises(Exception, match="the ice broke"):
        one.train()
    one.stop()


def BrokenLake() -> Any:
    """Make an environment that fails after some steps."""
    import gymnasium as gym

    class Broken(gym.Wrapper[Any, Any, Any, Any]):
        count = 0

        def step(self, action: Any) -> Any:
            self.count += 1
            if self.count > 20:
                msg = "the ice broke"
                raise ValueError(msg)
            return super().step(action)

    return Broken(gym.make("FrozenLake-v1"))


# -- a sweep ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    # Ray and Tune replace handlers, and leave theirs in place.
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)
    handlers = {number: signal.getsignal(number) for number in numbers}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_CHDIR_TO_TRIAL_DIR", "0")
        ray.init(
            address="local",
            num_cpus=2,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
            object_store_memory=100 << 20,
        )
        yield
        ray.shutdown()
    for number, handler in handlers.items():
        signal.signal(number, handler)


class KillOnce(tune.Callback):  # type: ignore[misc]
    """Kills the process of a trial after its third result."""

    def __init__(self) -> None:
        self.killed: list[str] = []

    def on_trial_result(self, **found: Any) -> None:
        trial, result = found["trial"], found["result"]
        if not self.killed and result["training_iteration"] == 3:
            self.killed.append(trial.trial_id)
            os.kill(result["pid"], signal.SIGKILL)


def test_a_sweep_whose_trial_was_killed_gives_the_weights_of_trainings(
    cluster: None, tmp_path: Path
) -> None:
    kill = KillOnce()
    tuner = tune.Tuner(
        tune_trainable(frozen_lake, report_every=EVERY),
        param_space={"learning_rate": tune.grid_search([0.1, 0.5]), "seed": 7},
        tune_config=tune.TuneConfig(metric="eval/mean_return", mode="max"),
        run_config=tune.RunConfig(
            storage_path=str(tmp_path),
            verbose=0,
            callbacks=[kill],
            failure_config=tune.FailureConfig(max_failures=1),
            checkpoint_config=tune.CheckpointConfig(checkpoint_frequency=1),
        ),
    )
    found = tuner.fit()

    assert not found.errors
    assert len(kill.killed) == 1
    assert len(found) == 2
    for each in found:
        assert each.metrics["weights_digest"] == digest_of(each.config)
        assert each.metrics["timesteps_total"] == STEPS
        assert not math.isnan(each.metrics["eval/mean_return"])
        path = RunDirectory.open(tmp_path / each.checkpoint.path).checkpoint
        assert read_checkpoint(path, frozen_lake(each.config)).data["round"] == 16
