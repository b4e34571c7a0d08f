# SPDX-License-Identifier: Apache-2.0
"""Q-learning with a table: numbers by hand, the same bits everywhere, and scores."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from reactorl.rl.algorithms.q_learning import QLearning
from reactorl.rl.flow.algorithm import FlowError, Spaces
from reactorl.rl.flow.encoding import Encoder
from reactorl.rl.flow.flow import Flow, Round, Run
from reactorl.rl.flow.replay import ReplayConfig

TAXI = next(name for name in ("Taxi-v3", "Taxi-v4") if name in gym.registry)
"""Whichever of them this Gymnasium has; what differs is off by default."""

LAKE = Flow(
    "FrozenLake-v1",
    QLearning(learning_rate_decay=0.01, initial_value=1.0),
    num_envs=8,
    rollouts=4,
    steps=6,
    rounds=8,
    evaluate_every=3,
    evaluation_episodes=4,
)
FLOWS = {
    "FrozenLake": LAKE,
    "Taxi": replace(LAKE, env=TAXI),
    "Blackjack, lag 2": replace(LAKE, env="Blackjack-v1", lag=2),
}


def trained(flow: Flow, **options: Any) -> tuple[bytes, list[Round]]:
    with Run(flow, **options) as run:
        rounds = list(run.rounds())
        return run.state.table.tobytes() + run.state.visits.tobytes(), rounds


@pytest.fixture(scope="module", params=FLOWS)
def expected(request: pytest.FixtureRequest) -> tuple[Flow, bytes, list[Round]]:
    flow = FLOWS[request.param]
    return flow, *trained(flow, workers=1)


@pytest.mark.parametrize("options", [{"workers": 2}, {"workers": 4, "trace": True}])
def test_tables_are_the_same_bits_for_any_number_of_workers(
    options: Any, expected: tuple[Flow, bytes, list[Round]]
) -> None:
    flow, bits, rounds = expected
    assert trained(flow, **options) == (bits, rounds)


@pytest.mark.parametrize("stop", [1, 4, 7])
def test_a_run_that_stopped_ends_with_the_same_bits(
    stop: int, expected: tuple[Flow, bytes, list[Round]]
) -> None:
    flow, bits, rounds = expected
    with Run(flow, workers=2) as run:
        first = [run.step() for _ in range(stop)]
        saved = run.save()
    with Run(flow, workers=1, saved=saved) as run:
        rest = list(run.rounds())
        assert run.state.table.tobytes() + run.state.visits.tobytes() == bits
    assert first + rest == rounds


def test_another_seed_gives_another_table() -> None:
    assert trained(replace(LAKE, seed=2))[0] != trained(LAKE)[0]


# Three states and two actions, collected by two environments in two steps:
#   environment 0: in state 0 action 1 gave 1 and led to 1; there action 0 gave 0 and
#   ended. Environment 1: in state 2 action 0 gave 2 and led to 0, where it was cut off;
#   in state 0 action 1 gave 0 and led to 1.
THREE = Spaces(gym.spaces.Discrete(3), gym.spaces.Discrete(2))
BATCH = {
    "observations": np.array([[0, 2], [1, 0]]),
    "actions": np.array([[1, 0], [0, 1]]),
    "rewards": np.array([[1.0, 2.0], [0.0, 0.0]]),
    "next_observations": np.array([[1, 0], [2, 1]]),
    "terminations": np.array([[False, False], [True, False]]),
    "truncations": np.array([[False, True], [False, False]]),
    "last_observations": np.array([0, 1]),
}


def test_updates_equal_hand_computed_numbers_in_their_order() -> None:
    algorithm = QLearning(learning_rate=0.5, gamma=0.5, initial_value=4.0)
    state = algorithm.begin(THREE, seed=1)

    after, metrics, errors = algorithm.update(state, [BATCH])

    # Q(0, 1): 1 + 0.5 * 4 = 3 is due, 4 was thought: an error of -1, so 3.5.
    # Q(2, 0): 2 + 0.5 * max(4, 3.5) = 4 is due, and was thought: cut off is not ended.
    # Q(1, 0): 0 is due, for it ended: an error of -4, so 2.
    # Q(0, 1): 0 + 0.5 * max(2, 4) = 2 is due, 3.5 was thought: -1.5, so 2.75.
    assert after.table.tolist() == [[4.0, 2.75], [2.0, 4.0], [4.0, 4.0]]
    assert after.visits.tolist() == [[0, 2], [1, 0], [1, 0]]
    assert metrics["losses/td_loss"] == (1 + 0 + 16 + 2.25) / 4
    assert metrics["losses/q_values"] == (4 + 4 + 4 + 3.5) / 4
    assert errors is None
    assert state.table.tolist() == [[4.0, 4.0]] * 3  # the old one stays


def test_the_learning_rate_decays_with_the_changes_of_an_entry() -> None:
    algorithm = QLearning(
        learning_rate=0.5, learning_rate_decay=1.0, gamma=0.5, initial_value=4.0
    )
    after, _, _ = algorithm.update(algorithm.begin(THREE, seed=1), [BATCH])

    # The second change of Q(0, 1) is with 0.5 / (1 + 1): 3.5 - 0.25 * 1.5.
    assert after.table.tolist() == [[4.0, 3.125], [2.0, 4.0], [4.0, 4.0]]
    # The next ones with 0.5 / 3 and 0.5 / 4.
    again, _, _ = algorithm.update(after, [BATCH])
    first = 3.125 + 0.5 / 3 * (1 + 0.5 * 4 - 3.125)
    assert again.table[0, 1] == first + 0.5 / 4 * (0.5 * 4 - first)


def test_a_flow_does_what_a_plain_loop_does() -> None:
    """One environment, one step a round: Q-learning as everybody knows it."""
    flow = replace(
        LAKE, num_envs=1, rollouts=1, steps=1, rounds=60, evaluate_every=0, lag=0
    )
    algorithm = QLearning(learning_rate=0.3, gamma=0.9, start_e=1.0, end_e=1.0)
    flow = replace(flow, algorithm=algorithm)
    seen: list[Any] = []
    with Run(flow) as run:
        rollout = None
        while run.done < flow.rounds:
            run.step()
            rollout = run.save()["parts"]["main.rollout[0]"]
            seen.append({k: v[0, 0] for k, v in rollout["sent"]["columns"].items()})
        found = run.weights

    env = gym.make("FrozenLake-v1")
    table = np.zeros((16, 4))
    state, _ = env.reset(seed=flow.seed)
    for step in seen:
        action = int(step["actions"])
        after, reward, terminated, truncated, _ = env.step(action)
        due = float(reward) + (0.0 if terminated else 0.9 * table[after].max())
        table[state, action] += 0.3 * (due - table[state, action])
        assert (step["observations"], step["next_observations"]) == (state, after)
        state = env.reset()[0] if terminated or truncated else after
    assert any(step["terminations"] for step in seen)
    assert found.tolist() == table.tolist()


def test_rows_of_several_numbers_have_an_axis_each() -> None:
    flow = FLOWS["Blackjack, lag 2"]
    algorithm = QLearning()
    state = algorithm.begin(flow.spaces, seed=1)
    assert state.table.shape == (32, 11, 2, 2)

    table = state.table.copy()
    table[20, 3, 1, 1] = 1.0
    rows = np.array([[20, 3, 1], [20, 3, 0]], np.float32)
    assert algorithm.act_best(table, rows).tolist() == [1, 0]


def test_exploration_ends_when_it_is_said_to() -> None:
    algorithm = QLearning(start_e=1.0, end_e=0.2, exploration_fraction=0.5)
    found = [algorithm.epsilon(p) for p in (0.0, 0.25, 0.5, 1.0)]
    assert found == pytest.approx([1.0, 0.6, 0.2, 0.2])

    random = np.random.default_rng(1)
    table = np.zeros((3, 2))
    table[:, 1] = 1.0
    rows = np.zeros(4_000, np.int64)
    actions, extras = algorithm.act(table, rows, random, 1.0)
    assert extras == {}
    assert 0.08 < np.mean(actions == 0) < 0.12  # half of the random ones


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"env": "CartPole-v1"}, r"has no table for observations of Box.*DQN does"),
        ({"env": "Pendulum-v1"}, r"chooses among a few actions, not from Box"),
        (
            {"replay": ReplayConfig()},
            "Q-learning learns from what was just collected. Leave replay out",
        ),
    ],
)
def test_a_flow_refuses_what_has_no_table(change: dict[str, Any], match: str) -> None:
    with pytest.raises(FlowError, match=match):
        Run(replace(LAKE, **change))


@pytest.mark.parametrize(
    ("observation", "action", "match"),
    [
        (gym.spaces.Discrete(3, start=1), gym.spaces.Discrete(2), "counted from 0"),
        (gym.spaces.Discrete(3), gym.spaces.Discrete(2, start=1), "actions from 0"),
        (
            gym.spaces.MultiDiscrete([1000, 1000, 60]),
            gym.spaces.Discrete(2),
            "has 120000000 entries",
        ),
        (gym.spaces.Text(3), gym.spaces.Discrete(2), "are no numbers"),
    ],
)
def test_spaces_without_a_table_are_refused(
    observation: Any, action: Any, match: str
) -> None:
    with pytest.raises(FlowError, match=match):
        QLearning().check(Spaces(observation, action))


def test_a_table_of_other_spaces_is_not_taken_up() -> None:
    algorithm = QLearning()
    state = algorithm.begin(THREE, seed=1)
    other = algorithm.begin(replace(THREE, action=gym.spaces.Discrete(5)), seed=1)
    with pytest.raises(ValueError, match=r"\(3, 5\) was saved"):
        algorithm.restored(state, algorithm.saved(other))


def test_tables_are_read_only() -> None:
    with Run(LAKE) as run:
        list(run.rounds())
        weights = run.weights
    with pytest.raises(ValueError, match="read-only"):
        weights[0, 0] = 1


# -- training to a score --------------------------------------------------------------

LEARNING = {
    # At best 0.74 of all ways over the ice end at the goal within 100 steps.
    "FrozenLake": (
        Flow(
            "FrozenLake-v1",
            QLearning(
                learning_rate=0.5,
                learning_rate_decay=0.02,
                initial_value=1.0,
                end_e=0.1,
            ),
            steps=32,
            rounds=300,
            seed=1,
        ),
        2_000,
        0.7,
    ),
    # At best about 7.9: a passenger at the destination is worth 20, each step costs 1.
    "Taxi": (
        Flow(
            TAXI,
            QLearning(learning_rate=0.5, exploration_fraction=0.8),
            steps=32,
            rounds=400,
            seed=1,
        ),
        500,
        7.0,
    ),
    # Nobody wins in the long run; the book's strategy loses 0.045 of each stake.
    "Blackjack": (
        Flow(
            "Blackjack-v1",
            QLearning(
                learning_rate=0.5,
                learning_rate_decay=0.05,
                gamma=1.0,
                end_e=0.3,
            ),
            steps=32,
            rounds=300,
            seed=1,
        ),
        10_000,
        -0.08,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("game", LEARNING)
def test_it_learns(game: str) -> None:
    flow, episodes, least = LEARNING[game]
    with Run(flow) as run:
        list(run.rounds())
        table = run.weights

    env = flow.maker()
    encoder = Encoder(env.observation_space)
    total = 0.0
    for episode in range(episodes):
        seen, _ = env.reset(seed=1_000_000 if episode == 0 else None)
        over = False
        while not over:
            row = encoder.one(seen)[None]
            action = int(flow.algorithm.act_best(table, row)[0])
            seen, reward, terminated, truncated, _ = env.step(action)
            total += float(reward)
            over = terminated or truncated
    env.close()
    assert total / episodes >= least, total / episodes
