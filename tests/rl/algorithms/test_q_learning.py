# SPDX-License-Identifier: Apache-2.0
"""Q-learning: updates by hand, and its returns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from reactorl.rl import ActInput, FlowError, QLearning, Spaces
from reactorl.rl.algorithms.epsilon_greedy import epsilon
from tests.rl.contract.tasks import Q_TASK, TASKS
from tests.rl.trained import lasting, mean_return

TAXI = next(name for name in ("Taxi-v3", "Taxi-v4") if name in gym.registry)
"""The one that this Gymnasium has; they differ in options that are off by default."""


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


def test_updates_equal_hand_computed_numbers_in_order() -> None:
    algorithm = QLearning(learning_rate=0.5, gamma=0.5, initial_value=4.0)
    state = algorithm.init(THREE, seed=1)

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


def test_values_of_forbidden_next_actions_are_not_used() -> None:
    algorithm = QLearning(learning_rate=0.5, gamma=0.5, initial_value=4.0)
    state = algorithm.init(THREE, seed=1)
    table = np.array([[4.0, 4.0], [8.0, 2.0], [4.0, 4.0]])
    masks = np.array([[[False, True], [True, True]], [[True, True], [False, True]]])

    after, _, _ = algorithm.update(
        state._replace(table=table), [{**BATCH, "next_action_masks": masks}]
    )

    # Q(0, 1): in state 1 only action 1 is allowed: 1 + 0.5 * 2 = 2 is due, so 3.
    # Q(2, 0): 2 + 0.5 * max(4, 3) = 4 is due, and was thought.
    # Q(1, 0): 0 is due, for it ended: 8 was thought, so 4.
    # Q(0, 1): again only action 1 is allowed: 0 + 0.5 * 2 = 1 is due, so 2.
    assert after.table.tolist() == [[4.0, 2.0], [4.0, 2.0], [4.0, 4.0]]


def test_learning_rate_decays_with_the_updates_of_an_entry() -> None:
    algorithm = QLearning(
        learning_rate=0.5, learning_rate_decay=1.0, gamma=0.5, initial_value=4.0
    )
    after, _, _ = algorithm.update(algorithm.init(THREE, seed=1), [BATCH])

    # The second change of Q(0, 1) is with 0.5 / (1 + 1): 3.5 - 0.25 * 1.5.
    assert after.table.tolist() == [[4.0, 3.125], [2.0, 4.0], [4.0, 4.0]]
    # The next ones with 0.5 / 3 and 0.5 / 4.
    again, _, _ = algorithm.update(after, [BATCH])
    first = 3.125 + 0.5 / 3 * (1 + 0.5 * 4 - 3.125)
    assert again.table[0, 1] == first + 0.5 / 4 * (0.5 * 4 - first)


def test_training_equals_a_plain_loop() -> None:
    """One environment and one step per iteration: textbook Q-learning."""
    algorithm = QLearning(
        num_envs=1,
        num_steps=1,
        total_timesteps=60,
        learning_rate=0.3,
        gamma=0.9,
        end_e=1.0,
    )
    flow = algorithm.task("FrozenLake-v1", eval_every=0)
    seen: list[Any] = []
    with flow.start() as run:
        while run.done < flow.iterations:
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


def test_table_has_an_axis_for_each_component_of_an_observation() -> None:
    flow = TASKS["q-learning"]["Blackjack, lag 2"]
    algorithm = QLearning()
    state = algorithm.init(flow.spaces, seed=1)
    assert state.table.shape == (32, 11, 2, 2)

    table = state.table.copy()
    table[20, 3, 1, 1] = 1.0
    rows = np.array([[20, 3, 1], [20, 3, 0]], np.float32)
    assert algorithm.act_greedy(table, ActInput(rows)).actions.tolist() == [1, 0]


def test_epsilon_is_annealed_over_the_exploration_fraction() -> None:
    algorithm = QLearning(start_e=1.0, end_e=0.2, exploration_fraction=0.5)
    found = [epsilon(algorithm, p) for p in (0.0, 0.25, 0.5, 1.0)]
    assert found == pytest.approx([1.0, 0.6, 0.2, 0.2])

    random = np.random.default_rng(1)
    table = np.zeros((3, 2))
    table[:, 1] = 1.0
    rows = np.zeros(4_000, np.int64)
    output = algorithm.act(table, ActInput(rows), random, 1.0)
    actions, extras = output.actions, output.extras
    assert extras == {}
    assert 0.08 < np.mean(actions == 0) < 0.12  # half of the random ones


@pytest.mark.parametrize(
    ("env", "match"),
    [
        ("CartPole-v1", r"observation space must be finite for Q-learning, got Box"),
        ("Pendulum-v1", r"action space must be Discrete for Q-learning, got Box"),
    ],
)
def test_environments_without_finite_spaces_raise(env: str, match: str) -> None:
    with pytest.raises(FlowError, match=match):
        replace(Q_TASK, env=env).start()


@pytest.mark.parametrize(
    ("observation", "action", "match"),
    [
        (gym.spaces.Box(0, 1), gym.spaces.Discrete(2), "must be finite.*Use DQN"),
        (
            gym.spaces.Discrete(3),
            gym.spaces.Box(0, 1),
            "must be Discrete for Q-learning, got Box.*Use PPO, SAC or TD3",
        ),
        (
            gym.spaces.Discrete(3),
            gym.spaces.MultiDiscrete([2, 2]),
            "must be Discrete for Q-learning, got MultiD.*Use PPO or IMPALA",
        ),
        (
            gym.spaces.MultiDiscrete([1000, 1000, 60]),
            gym.spaces.Discrete(2),
            "at most 100000000 entries, got 120000000",
        ),
        (
            gym.spaces.Sequence(gym.spaces.Discrete(3)),
            gym.spaces.Discrete(2),
            "must be Box, Discrete, .*, got Sequence",
        ),
    ],
)
def test_unsupported_spaces_raise(observation: Any, action: Any, match: str) -> None:
    with pytest.raises(FlowError, match=match):
        QLearning().check_spaces(Spaces(observation, action))


def test_table_of_another_shape_is_not_restored() -> None:
    algorithm = QLearning()
    state = algorithm.init(THREE, seed=1)
    other = algorithm.init(replace(THREE, action=gym.spaces.Discrete(5)), seed=1)
    with pytest.raises(
        ValueError, match=r"table must have shape \(3, 2\), got \(3, 5\)"
    ):
        algorithm.deserialize(state, algorithm.serialize(other))


def test_tables_are_read_only() -> None:
    weights = Q_TASK.run()
    with pytest.raises(ValueError, match="read-only"):
        weights[0, 0] = 1


# -- returns --------------------------------------------------------------------------

LEARNING = {
    # The optimal policy reaches the goal in 0.74 of all episodes within 100 steps.
    "FrozenLake-v1": (
        QLearning(
            learning_rate=0.5, learning_rate_decay=0.02, initial_value=1.0, end_e=0.1
        ),
        300,
        2_000,
        0.7,
    ),
    # At best about 7.9: a delivery is rewarded with 20, each step costs 1.
    TAXI: (QLearning(learning_rate=0.5, exploration_fraction=0.8), 400, 500, 7.0),
    # The basic strategy loses 0.045 of each stake.
    "Blackjack-v1": (
        QLearning(learning_rate=0.5, learning_rate_decay=0.05, gamma=1.0, end_e=0.3),
        300,
        10_000,
        -0.08,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("env", LEARNING)
def test_q_learning_reaches_nearly_the_best_return(env: str) -> None:
    algorithm, iterations, episodes, least = LEARNING[env]
    task = lasting(algorithm.task(env, eval_every=0), iterations)
    assert mean_return(task, episodes, seed=1_000_000) >= least
