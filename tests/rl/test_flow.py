# SPDX-License-Identifier: Apache-2.0
"""Training flows: the same bits for any number of workers, and after a stop."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from reactorl import Reactor
from reactorl.rl.algorithms.dqn import DQN
from reactorl.rl.flow.algorithm import FlowError
from reactorl.rl.flow.flow import Flow, Round, Run
from reactorl.rl.flow.replay import Replay, ReplayConfig
from reactorl.rl.flow.rollout import Rollout

SMALL = Flow(
    "CartPole-v1",
    DQN(hidden=(16,), target_every=3),
    num_envs=8,
    rollouts=4,
    steps=6,
    rounds=8,
    replay=ReplayConfig(capacity=500, batch_size=8, updates=2, starts_at=60),
    evaluate_every=3,
    evaluation_episodes=4,
)
PRIORITISED = replace(SMALL, replay=replace(SMALL.replay, priority=0.6))
FLOWS = {
    "synchronous": SMALL,
    "prioritised": PRIORITISED,
    "lag 1": replace(SMALL, lag=1),
    "lag 3, prioritised": replace(PRIORITISED, lag=3),
}


def bits(weights: Any) -> bytes:
    return b"".join(layer[k].tobytes() for layer in weights for k in ("w", "b"))


def trained(flow: Flow, **options: Any) -> tuple[bytes, list[Round]]:
    with Run(flow, **options) as run:
        rounds = list(run.rounds())
        return bits(run.weights), rounds


@pytest.fixture(scope="module", params=FLOWS)
def expected(request: pytest.FixtureRequest) -> tuple[Flow, bytes, list[Round]]:
    flow = FLOWS[request.param]
    return flow, *trained(flow, workers=1)


@pytest.mark.parametrize("options", [{"workers": 2}, {"workers": 4, "trace": True}])
def test_weights_are_the_same_bits_for_any_number_of_workers(
    options: Any, expected: tuple[Flow, bytes, list[Round]]
) -> None:
    flow, weights, rounds = expected
    assert trained(flow, **options) == (weights, rounds)


@pytest.mark.parametrize("stop", [1, 4, 7])
def test_a_run_that_stopped_ends_with_the_same_bits(
    stop: int, expected: tuple[Flow, bytes, list[Round]]
) -> None:
    flow, weights, rounds = expected
    with Run(flow, workers=2) as run:
        first = [run.step() for _ in range(stop)]
        saved = run.save()
    with Run(flow, workers=1, saved=saved) as run:
        rest = list(run.rounds())
        assert bits(run.weights) == weights
        assert run.session.tag.time == flow.rounds * 1_000_000
    assert first + rest == rounds


def test_another_seed_gives_other_weights() -> None:
    assert trained(replace(SMALL, seed=2))[0] != trained(SMALL)[0]


def test_the_lag_counts() -> None:
    found = {bits_ for bits_ in (trained(replace(SMALL, lag=k))[0] for k in range(3))}
    assert len(found) == 3


def test_with_a_lag_weights_reach_rollouts_that_many_rounds_later() -> None:
    seen: dict[int, list[int]] = {}

    class Watching(Rollout):
        def note(self) -> None:
            seen.setdefault(self.plan.rounds, []).append(self.elapsed // 1_000_000)

        @property
        def current(self) -> Any:
            return self._current

        @current.setter
        def current(self, weights: Any) -> None:
            if hasattr(self, "_current"):
                self.note()
            self._current = weights

    for lag in (0, 1, 2):
        seen.clear()
        flow = replace(
            SMALL,
            lag=lag,
            num_envs=1,
            rollouts=1,
            steps=60,
            rounds=6,
            evaluate_every=0,
            parts={"rollout": Watching},
        )
        trained(flow)
        # Learning begins with the first round's steps: at round 1, or, if they take a
        # round to the learner, at round 2. What is learned takes max(lag, 1) rounds.
        assert seen[6][0] == {0: 2, 1: 3, 2: 4}[lag]


def test_rollouts_and_learner_depend_on_nothing_of_each_other_with_a_lag() -> None:
    def orders(lag: int) -> bool:
        program = replace(SMALL, lag=lag).program()
        names = {r.id: program.reaction_name(r.id) for r in program.reactions}
        (learn,) = (i for i, name in names.items() if name == "main.learner.learn")
        collect = {i for i, name in names.items() if name.endswith(".collect")}
        after = set(collect)
        while True:
            more = {o for i in after for o in program.order.downstream[i]} | after
            if more == after:
                return learn in after
            after = more

    assert orders(lag=0)
    assert not orders(lag=1)


def test_evaluation_changes_nothing() -> None:
    without = trained(replace(SMALL, evaluate_every=0))[0]
    assert without == trained(SMALL)[0]
    evaluations = [r.evaluation for r in trained(replace(SMALL, rounds=40))[1]]
    found = [e for e in evaluations if e is not None]
    assert found
    assert all(len(e.episodes) == 4 for e in found)
    assert found[0].round == 3


def test_a_part_can_be_replaced_by_a_reactor_of_ones_own() -> None:
    class Forgetful(Replay):
        """Draws nothing but the newest steps."""

        def keep(self) -> int:
            return self.ring.size

    weights, rounds = trained(replace(SMALL, parts={"replay": Forgetful}))
    assert weights == trained(SMALL)[0]
    assert len(rounds) == SMALL.rounds


def test_rounds_tell_what_happened() -> None:
    _, rounds = trained(replace(SMALL, rounds=20))
    assert [r.number for r in rounds] == list(range(1, 21))
    assert all(r.steps == 48 for r in rounds)
    assert rounds[0].metrics is None  # learning starts after 60 steps
    assert rounds[1].metrics is not None
    assert set(rounds[1].metrics) == {"losses/td_loss", "losses/q_values"}
    episodes = [e for r in rounds for e in r.episodes]
    assert all(e.score == e.length > 5 for e in episodes)
    assert len(episodes) > 10


class Words(gym.Env[Any, Any]):
    observation_space = gym.spaces.Text(5)
    action_space = gym.spaces.Discrete(2)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"env": "Nonsense-v0"}, "there is no environment 'Nonsense-v0'"),
        ({"env": "Pendulum-v1"}, r"DQN chooses among a few actions, not from Box"),
        ({"env": Words}, "observations of Text.* are no numbers. Put a wrapper"),
        ({"num_envs": 9}, "9 environments do not divide by 4"),
        ({"rounds": 0}, "rounds is 0"),
        ({"lag": -1}, "lag is -1 rounds"),
        ({"replay": None}, "DQN learns from a replay buffer, and there is none"),
        (
            {"lag": 20},
            r"room for 500 steps, and 21 rounds of 48 steps .* Make it 1008 or more",
        ),
        (
            {"replay": ReplayConfig(starts_at=1_000)},
            "learning starts after 1000 steps, and the training has 384",
        ),
        ({"parts": {"rolout": Rollout}}, "a flow has no part 'rolout'"),
        ({"parts": {"rollout": 3}}, "part 'rollout' is 3. A part is a reactor class"),
    ],
)
def test_what_does_not_fit_together_is_refused_at_once(
    change: dict[str, Any], match: str
) -> None:
    with pytest.raises(FlowError, match=match):
        Run(replace(SMALL, **change))


def test_the_program_is_an_ordinary_one() -> None:
    program = SMALL.program()
    assert {r.path for r in program.reactors} >= {
        "main.clock",
        "main.rollout[3]",
        "main.replay",
        "main.learner",
        "main.evaluation",
    }
    assert issubclass(program.reactors[0].cls, Reactor)


def test_weights_are_read_only() -> None:
    with Run(SMALL) as run:
        list(run.rounds())
        weights = run.weights
    with pytest.raises(ValueError, match="read-only"):
        weights[0]["w"][0, 0] = 1


def test_dqn_updates_equal_hand_computed_numbers() -> None:
    """One layer, two actions: everything can be written down."""
    algorithm = DQN(hidden=(), learning_rate=0.1, gamma=0.5, target_every=2)
    w = np.array([[1.0, 2.0], [0.5, -1.0]], np.float32)
    layers = [{"w": w, "b": np.zeros(2, np.float32)}]
    state = algorithm.begin(Flow("CartPole-v1", algorithm).spaces, seed=1)._replace(
        params=layers, target=layers
    )
    state = state._replace(optimiser=algorithm._optimiser.init(layers))
    batch = {
        "observations": np.array([[1.0, 0.0], [0.0, 1.0]], np.float32),
        "actions": np.array([0, 1]),
        "rewards": np.array([1.0, 0.0]),
        "next_observations": np.array([[0.0, 1.0], [1.0, 0.0]], np.float32),
        "terminations": np.array([False, True]),
    }
    # Values: [1, 2] and [0.5, -1]; chosen are 1 and -1. Of what follows, the first is
    # worth 0.5 (action 0 of the second), the second nothing, for it ended. So
    # 1 + 0.5 * 0.5 = 1.25 and 0 were right: errors are -0.25 and -1, and the loss is
    # the mean of 0.25^2 / 2 and 1^2 / 2. Adam's first step is 0.1 against the sign
    # of each gradient that is not zero.
    after, metrics, (errors,) = algorithm.update(state, [batch])
    np.testing.assert_allclose(errors, [-0.25, -1.0], rtol=1e-6)
    assert metrics["losses/td_loss"] == pytest.approx((0.03125 + 0.5) / 2)
    assert metrics["losses/q_values"] == pytest.approx(0.0)
    np.testing.assert_allclose(
        after.params[0]["w"], [[1.1, 2.0], [0.5, -0.9]], rtol=1e-5
    )
    np.testing.assert_allclose(after.params[0]["b"], [0.1, 0.1], rtol=1e-5)
    np.testing.assert_array_equal(after.target[0]["w"], w)
    twice, _, _ = algorithm.update(after, [batch])
    np.testing.assert_array_equal(twice.target[0]["w"], twice.params[0]["w"])


def test_without_double_learning_the_target_chooses_too() -> None:
    layers = [{"w": np.eye(2, dtype=np.float32), "b": np.zeros(2, np.float32)}]
    target = [{"w": np.array([[3, 1], [0, 0]], np.float32), "b": layers[0]["b"]}]
    batch = {
        "observations": np.array([[1.0, 0.0]], np.float32),
        "actions": np.array([0]),
        "rewards": np.array([0.0], np.float32),
        "next_observations": np.array([[1.0, 2.0]], np.float32),
        "goes_on": np.array([1.0], np.float32),
        "importance": np.array([1.0], np.float32),
    }
    for double, due in ((True, 1.0), (False, 3.0)):
        _, (_, _, errors) = DQN(double=double, gamma=1.0).loss(layers, target, batch)
        assert float(errors[0]) == 1.0 - due


def test_the_graph_shows_the_parts_and_the_lag() -> None:
    text = str(replace(SMALL, lag=2).graph())
    assert 'rollout ×4"]' in text  # noqa: RUF001
    assert "weights → late, after 2 ms" in text
    assert "trajectory → late, after 1 ms" in text


def test_run_trains_to_the_end() -> None:
    assert bits(SMALL.run(workers=2)) == trained(SMALL)[0]


def test_large_errors_count_by_their_square_or_by_their_size() -> None:
    layers = [{"w": np.zeros((1, 2), np.float32), "b": np.zeros(2, np.float32)}]
    batch = {
        "observations": np.zeros((1, 1), np.float32),
        "actions": np.array([0]),
        "rewards": np.array([3.0], np.float32),
        "next_observations": np.zeros((1, 1), np.float32),
        "goes_on": np.array([0.0], np.float32),
        "importance": np.array([1.0], np.float32),
    }
    for huber, due in ((False, 3**2 / 2), (True, 3 - 1 / 2)):
        loss, _ = DQN(huber=huber).loss(layers, layers, batch)
        assert float(loss) == due


def test_the_learning_rate_falls_to_nothing_in_a_straight_line() -> None:
    algorithm = DQN(hidden=(), learning_rate=0.1, decay=2)
    state = algorithm.begin(Flow("CartPole-v1", algorithm).spaces, seed=1)
    batch = {
        "observations": np.ones((1, 4), np.float32),
        "actions": np.array([0]),
        "rewards": np.array([100.0]),
        "next_observations": np.ones((1, 4), np.float32),
        "terminations": np.array([True]),
    }
    biases = [0.0]
    for _ in range(3):
        state, metrics, _ = algorithm.update(state, [batch])
        biases.append(float(state.params[0]["b"][0]))
    # Adam's steps are about as large as the learning rate: 0.1, 0.05, 0.
    assert np.diff(biases) == pytest.approx([0.1, 0.05, 0.0], rel=0.01)
    assert metrics["charts/learning_rate"] == 0.0


SCRIPT = """
import hashlib
import gymnasium as gym
from reactorl.rl.flow.flow import Run
from tests.rl.test_flow import SMALL
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

flow = replace(SMALL, env=lambda: gym.make("CartPole-v1"))
with Run(flow, workers={workers}, trace=True) as run:
    list(run.rounds())
print(run.session.result.digest)
"""


def test_traces_are_the_same_in_other_processes() -> None:
    found = set()
    for workers, seed in ((1, "1"), (2, "7")):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT.format(workers=workers)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=True,
            timeout=100,
        )
        found.add(done.stdout)
    assert len(found) == 1


@pytest.mark.parametrize("name", FLOWS)
def test_a_run_can_be_saved_again_before_it_goes_on(name: str) -> None:
    flow = FLOWS[name]
    with Run(flow) as run:
        for _ in range(4):
            run.step()
        saved = run.save()
    with Run(flow, saved=saved) as run:
        again = run.save()
    with Run(flow, saved=again) as run:
        list(run.rounds())
        assert bits(run.weights) == trained(flow)[0]
