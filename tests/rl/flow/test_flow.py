# SPDX-License-Identifier: Apache-2.0
"""Flow: checks, the program it makes, the policy lag, replaced parts."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import jax
import numpy as np
import pytest

from reactorl import Reactor
from reactorl.rl import DQN, PPO, FlowError, Replay, Rollout, Trajectory
from reactorl.rl.flow import flow as module
from tests.rl.contract.tasks import DQN_TASK, PPO_TASK
from tests.rl.trained import bits, lasting, trained, tuned


def test_lag_changes_the_weights() -> None:
    found = {trained(tuned(DQN_TASK, lag=k))[0] for k in range(3)}
    assert len(found) == 3


def test_with_a_lag_weights_reach_rollouts_that_many_iterations_later() -> None:
    seen: list[int] = []

    class Watching(Rollout):
        @property
        def current(self) -> Any:
            return self._current

        @current.setter
        def current(self, weights: Any) -> None:
            if hasattr(self, "_current"):
                seen.append(self.elapsed // 1_000_000)
            self._current = weights

    small = replace(DQN_TASK, rollouts=0)
    small = lasting(tuned(small, num_envs=1, num_steps=60), 6)
    for lag in (0, 1, 2):
        seen.clear()
        task = replace(
            tuned(small, lag=lag),
            eval_every=0,
            parts={"rollout": Watching},
        )
        trained(task)
        # The learner starts in iteration 1, with a lag in iteration 2; its weights
        # arrive max(lag, 1) iterations later.
        assert seen[0] == {0: 2, 1: 3, 2: 4}[lag]


def test_with_a_lag_rollouts_and_learner_are_independent_within_an_iteration() -> None:
    def learner_waits(lag: int) -> bool:
        program = tuned(DQN_TASK, lag=lag).program()
        names = {r.id: program.reaction_name(r.id) for r in program.reactions}
        (learn,) = (i for i, name in names.items() if name == "main.learner.learn")
        after = {i for i, name in names.items() if name.endswith(".collect")}
        while True:
            more = {o for i in after for o in program.order.downstream[i]} | after
            if more == after:
                return learn in after
            after = more

    assert learner_waits(lag=0)
    assert not learner_waits(lag=1)


def test_a_replaced_part_does_its_own_work() -> None:
    class NewestOnly(Replay):
        """Forgets all transitions but those of the newest trajectory."""

        forgotten = 0

        def setup(self) -> None:
            super().setup()
            add = self.store.add

            def add_alone(rollout: int, trajectory: Any) -> Any:
                NewestOnly.forgotten += self.store.size
                self.store.clear()
                return add(rollout, trajectory)

            self.store.add = add_alone  # type: ignore[method-assign]

    weights, iterations = trained(replace(DQN_TASK, parts={"replay": NewestOnly}))

    assert NewestOnly.forgotten > 0
    assert weights != trained(DQN_TASK)[0]
    assert len(iterations) == DQN_TASK.iterations


def test_iterations_report_steps_episodes_and_metrics() -> None:
    _, iterations = trained(lasting(tuned(DQN_TASK, anneal_lr=False), 20))
    assert [r.number for r in iterations] == list(range(1, 21))
    assert all(r.steps == 48 for r in iterations)
    assert iterations[0].metrics is None  # learning starts after 60 steps
    assert iterations[1].metrics is not None
    assert set(iterations[1].metrics) == {"losses/td_loss", "losses/q_values"}
    episodes = [e for r in iterations for e in r.episodes]
    assert all(e.episode_return == e.length > 5 for e in episodes)
    assert len(episodes) > 10


class Words(gym.Env[Any, Any]):
    observation_space = gym.spaces.Sequence(gym.spaces.Text(5))
    action_space = gym.spaces.Discrete(2)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"env": "Nonsense-v0"}, "environment 'Nonsense-v0' could not be found"),
        ({"env": "Pendulum-v1"}, "action space must be Discrete for DQN, got Box"),
        ({"env": Words}, "observation space must be Box.*got Sequence.*Use a wrapper"),
        (
            {"rollouts": 3},
            "num_envs must be divisible by rollouts, got num_envs=8, rollouts=3",
        ),
        ({"eval_episodes": 0}, "eval_episodes must be at least 1, got 0"),
        ({"eval_every": -1}, "eval_every must be 0 or more steps, got -1"),
        (
            {"algorithm": {"lag": 20}},
            r"replay capacity must be at least 1008 .*got 500. Enlarge the replay",
        ),
        (
            {"algorithm": {"learning_starts": 1_000}},
            "learning must start within 384 steps of training, got .* step 1000",
        ),
        ({"parts": {"rolout": Rollout}}, "parts must have keys among .*'rolout'"),
        ({"parts": {"rollout": 3}}, "part 'rollout' must be a reactor class, got 3"),
    ],
)
def test_invalid_flows_raise(change: dict[str, Any], match: str) -> None:
    algorithm = change.pop("algorithm", {})
    with pytest.raises(FlowError, match=match):
        replace(tuned(DQN_TASK, **algorithm), **change).start()


@pytest.mark.parametrize(
    ("num_envs", "rollouts"), [(8, 4), (9, 3), (10, 2), (7, 1), (1, 1)]
)
def test_rollouts_by_default_divide_num_envs(num_envs: int, rollouts: int) -> None:
    task = DQN(num_envs=num_envs).task("CartPole-v1")
    assert task.num_rollouts == rollouts


def test_a_run_makes_one_environment_for_the_spaces_and_elaborates_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[Any] = []
    inits: list[int] = []

    def make() -> Any:
        made.append(gym.make("CartPole-v1"))
        return made[-1]

    init = DQN.init
    monkeypatch.setattr(
        DQN, "init", lambda self, *args: inits.append(1) or init(self, *args)
    )
    # With placement="auto" one more would be made, to measure how long a step takes.
    task = replace(DQN_TASK, env=make, placement="thread")
    task.check()
    with task.start() as run:
        task.graph(run.program)
        run.step()

    assert len(inits) == 1
    assert len(made) == 1 + 8 + 2  # for the spaces, for rollouts, for evaluation


@pytest.mark.parametrize("lag", [0, 2])
def test_program_has_clock_rollouts_replay_learner_evaluation_only(lag: int) -> None:
    program = tuned(DQN_TASK, lag=lag).program()
    assert {r.path for r in program.reactors} == {
        "main",
        "main.clock",
        *(f"main.rollout[{k}]" for k in range(4)),
        "main.replay",
        "main.learner",
        "main.evaluation",
    }
    assert issubclass(program.reactors[0].cls, Reactor)


def test_graph_shows_the_delays_of_a_lag() -> None:
    text = str(tuned(DQN_TASK, lag=2).graph())
    assert 'rollout ×4"]' in text  # noqa: RUF001
    assert "weights, after 2 ms" in text
    assert "after 1 ms" in text


def test_weights_are_read_only() -> None:
    weights = DQN_TASK.run(workers=2)
    assert bits(weights) == trained(DQN_TASK)[0]
    with pytest.raises(ValueError, match="read-only"):
        jax.tree.leaves(weights)[0].flat[0] = 1


def test_rollouts_step_the_same_environments_for_any_number_of_rollouts() -> None:
    """Environment k is reset with the seed plus k, whoever has it."""

    def first_observations(rollouts: int) -> Any:
        with replace(PPO_TASK, rollouts=rollouts).start() as run:
            run.step()
            parts = run.save()["parts"]
        sent = [
            Trajectory.deserialize(parts[f"main.rollout[{k}]"]["sent"])
            for k in range(rollouts)
        ]
        return np.concatenate([t.columns["observations"][0] for t in sent])

    expected = [gym.make("CartPole-v1").reset(seed=1 + k)[0] for k in range(8)]
    for rollouts in (1, 2, 4, 8):
        np.testing.assert_array_equal(first_observations(rollouts), expected)


SCRIPT = """
import gymnasium as gym
from dataclasses import replace
from tests.rl.contract.tasks import DQN_TASK

task = replace(DQN_TASK, env=lambda: gym.make("CartPole-v1"))
with task.start(workers={workers}, trace=True) as run:
    list(run.iterations())
print(run.session.result.digest)
"""


def test_traces_are_the_same_in_other_processes() -> None:
    found = set()
    for workers, seed in ((1, "1"), (2, "7")):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT.format(workers=workers)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(module.__file__).parents[4],
            capture_output=True,
            text=True,
            check=True,
            timeout=200,
        )
        found.add(done.stdout)
    assert len(found) == 1


class BadReward(gym.Wrapper[Any, Any, Any, Any]):
    def step(self, action: Any) -> Any:
        observation, _, *rest = super().step(action)
        return observation, None, *rest  # becomes NaN in an array, as in Gymnasium


def test_rewards_that_are_not_finite_stop_the_training() -> None:
    task = replace(DQN_TASK, env=lambda: BadReward(gym.make("CartPole-v1")))

    match = "reward must be finite, got nan of environment 0 in step 1 of iteration 1"
    with pytest.raises(FlowError, match=match):
        task.run()


def test_observations_that_are_not_finite_stop_the_training() -> None:
    class BadSensor(gym.Wrapper[Any, Any, Any, Any]):
        """An observation is infinite in the sixth step, the last of an iteration."""

        steps = 0

        def step(self, action: Any) -> Any:
            observation, *rest = super().step(action)
            self.steps += 1
            if self.steps == 6:
                observation = observation.copy()
                observation[1] = np.inf
            return observation, *rest

    task = replace(DQN_TASK, env=lambda: BadSensor(gym.make("CartPole-v1")))

    match = "observation must be finite, got inf of environment 0 in step 6 of iter"
    with pytest.raises(FlowError, match=match):
        task.run()


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"gamma": 2.0}, r"gamma must be in \[0, 1\], got 2"),
        ({"gamma": float("nan")}, "gamma must be a number, got nan"),
        ({"learning_rate": float("nan")}, "learning_rate must be a number, got nan"),
        ({"learning_rate": float("inf")}, "learning_rate must be finite, got inf"),
        ({"ent_coef": -float("inf")}, "ent_coef must be finite, got -inf"),
        ({"num_envs": 10**11}, "num_envs must be at most 1000000, got 100000000000"),
        ({"hidden": (8, 0)}, r"hidden must be sizes of at least 1, got \(8, 0\)"),
    ],
)
def test_hyper_parameters_out_of_range_are_refused(settings: Any, match: str) -> None:
    with pytest.raises(FlowError, match=match):
        PPO(**settings)
