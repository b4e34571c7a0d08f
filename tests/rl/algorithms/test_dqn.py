# SPDX-License-Identifier: Apache-2.0
"""DQN: its arithmetic by hand."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from jax import numpy as jnp

from reactorl.rl import DQN, ActInput, FlowError, Spaces
from reactorl.rl.algorithms.epsilon_greedy import epsilon
from tests.rl.contract.tasks import TASKS

SPACES = Spaces(gym.spaces.Box(-9, 9, (4,), np.float32), gym.spaces.Discrete(2))


def test_updates_equal_hand_computed_numbers() -> None:
    """One layer, two actions: everything can be written down."""
    algorithm = DQN(
        hidden=(),
        learning_rate=0.1,
        anneal_lr=False,
        gamma=0.5,
        train_frequency=1,
        target_network_frequency=2,
    )
    w = np.array([[1.0, 2.0], [0.5, -1.0]], np.float32)
    layers = [{"w": w, "b": np.zeros(2, np.float32)}]
    state = algorithm.init(SPACES, seed=1)._replace(params=layers, target=layers)
    state = state._replace(optimiser=algorithm._optimiser.init(layers))
    batch = {
        "observations": np.array([[1.0, 0.0], [0.0, 1.0]], np.float32),
        "actions": np.array([0, 1]),
        "rewards": np.array([1.0, 0.0]),
        "next_observations": np.array([[0.0, 1.0], [1.0, 0.0]], np.float32),
        "terminations": np.array([False, True]),
    }
    # Q-values are [1, 2] and [0.5, -1]; those of the actions are 1 and -1. The next
    # value of the first is 0.5, the second is terminal: targets are 1 + 0.5 * 0.5 and
    # 0, TD errors -0.25 and -1, and the loss is the mean of 0.25^2 / 2 and 1^2 / 2.
    # Adam's first step is 0.1 against the sign of each gradient that is not zero.
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


def test_double_dqn_chooses_with_the_network_and_values_with_the_target() -> None:
    layers = [{"w": np.eye(2, dtype=np.float32), "b": np.zeros(2, np.float32)}]
    target = [{"w": np.array([[3, 1], [0, 0]], np.float32), "b": layers[0]["b"]}]
    batch = {
        "observations": np.array([[1.0, 0.0]], np.float32),
        "actions": np.array([0]),
        "rewards": np.array([0.0], np.float32),
        "next_observations": np.array([[1.0, 2.0]], np.float32),
        "non_terminal": np.array([1.0], np.float32),
        "importance": np.array([1.0], np.float32),
    }
    for double, due in ((True, 1.0), (False, 3.0)):
        _, (_, _, errors) = DQN(double=double, gamma=1.0).loss(layers, target, batch)
        assert float(errors[0]) == 1.0 - due


def test_huber_loss_is_linear_in_large_errors() -> None:
    layers = [{"w": np.zeros((1, 2), np.float32), "b": np.zeros(2, np.float32)}]
    batch = {
        "observations": np.zeros((1, 1), np.float32),
        "actions": np.array([0]),
        "rewards": np.array([3.0], np.float32),
        "next_observations": np.zeros((1, 1), np.float32),
        "non_terminal": np.array([0.0], np.float32),
        "importance": np.array([1.0], np.float32),
    }
    for huber, due in ((False, 3**2 / 2), (True, 3 - 1 / 2)):
        loss, _ = DQN(huber=huber).loss(layers, layers, batch)
        assert float(loss) == due


def test_learning_rate_is_annealed_over_all_updates() -> None:
    algorithm = DQN(
        hidden=(),
        learning_rate=0.1,
        num_envs=1,
        num_steps=1,
        train_frequency=1,
        total_timesteps=2,
    )
    state = algorithm.init(SPACES, seed=1)
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


def test_importance_weights_scale_the_loss_of_each_transition() -> None:
    layers = [{"w": np.zeros((1, 2), np.float32), "b": np.zeros(2, np.float32)}]
    batch = {
        "observations": np.zeros((2, 1), np.float32),
        "actions": np.array([0, 1]),
        "rewards": np.array([2.0, 4.0], np.float32),
        "next_observations": np.zeros((2, 1), np.float32),
        "non_terminal": np.zeros(2, np.float32),
        "importance": np.array([1.0, 0.25], np.float32),
    }

    loss, _ = DQN().loss(layers, layers, batch)

    # Squared losses of 2^2 / 2 and 4^2 / 2, the second weighted by a quarter.
    assert float(loss) == (2.0 + 8.0 / 4) / 2


def test_schedules_in_steps_become_schedules_in_updates() -> None:
    algorithm = DQN(num_envs=4, num_steps=8, train_frequency=4, total_timesteps=320)

    assert algorithm.iterations == 10
    assert algorithm.updates_per_iteration == 8
    assert algorithm.target_interval == 64  # 256 steps
    assert algorithm.replay.updates == 8
    assert DQN(train_frequency=10_000).updates_per_iteration == 1


def test_epsilon_zero_acts_greedily() -> None:
    algorithm = DQN(start_e=0.0, end_e=0.0)
    layers = [{"w": np.zeros((1, 2), np.float32), "b": np.float32([0, 1])}]
    random = np.random.Generator(np.random.PCG64(1))

    inputs = ActInput(np.zeros((5, 1), np.float32))
    weights = {"network": layers, "one_hot": {}}
    actions = algorithm.act(weights, inputs, random, 0.5).actions

    assert epsilon(algorithm, 0.5) == 0.0
    assert actions.tolist() == [1] * 5


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"train_frequency": 0}, "train_frequency must be above 0, got 0"),
        ({"batch_size": 0}, "batch_size must be at least 1, got 0"),
        ({"n_step": 0}, "n_step must be at least 1, got 0"),
        ({"exploration_fraction": 0.0}, r"exploration_fraction must be in \(0, 1\]"),
        ({"start_e": 1.5}, r"start_e must be in \[0, 1\], got 1.5"),
    ],
)
def test_invalid_hyper_parameters_raise(change: dict[str, Any], match: str) -> None:
    with pytest.raises(FlowError, match=match):
        DQN(**change)


def test_continuous_actions_raise() -> None:
    box = gym.spaces.Box(-1, 1)
    with pytest.raises(FlowError, match=r"must be Discrete for DQN, got Box.*Use PPO"):
        DQN().check_spaces(Spaces(box, box))


def test_n_step_targets_use_the_discounts_of_the_batch() -> None:
    layers = [{"w": np.eye(2, dtype=np.float32), "b": np.zeros(2, np.float32)}]
    batch = {
        "observations": np.float32([[1, 0], [1, 0], [1, 0]]),
        "actions": np.array([0, 0, 0]),
        # Sums of 3, 2 and 3 rewards; the third one ends with a termination.
        "rewards": np.array([1.75, 1.5, 1.75]),
        "next_observations": np.float32([[4, 0], [4, 0], [4, 0]]),
        "terminations": np.array([False, False, True]),
        "discounts": np.array([0.125, 0.25, 0.125]),
    }
    algorithm = DQN(hidden=(), gamma=0.5, n_step=3)
    spaces = Spaces(gym.spaces.Box(-9, 9, (2,), np.float32), gym.spaces.Discrete(2))
    state = algorithm.init(spaces, seed=1)._replace(params=layers, target=layers)
    state = state._replace(optimiser=algorithm._optimiser.init(layers))

    _, _, (errors,) = algorithm.update(state, [batch])

    # Q is 1, the value of the next observation 4.
    expected = [1 - (1.75 + 0.5), 1 - (1.5 + 1.0), 1 - 1.75]
    np.testing.assert_allclose(errors, expected, rtol=1e-6)
    assert (algorithm.replay.n_step, algorithm.replay.gamma) == (3, 0.5)


def test_dueling_q_values_equal_hand_computed_numbers() -> None:
    params = {
        "trunk": [{"w": np.float32([[1, -1]]), "b": np.zeros(2, np.float32)}],
        "value": [{"w": np.float32([[2], [3]]), "b": np.float32([1])}],
        "advantage": [
            {"w": np.float32([[1, 2, 6], [0, 0, 3]]), "b": np.zeros(3, np.float32)}
        ],
    }
    algorithm = DQN(dueling=True)
    inputs = ActInput(np.float32([[2], [-1]]))

    # Features are relu([2, -2]) = [2, 0] and relu([-1, 1]) = [0, 1]; values 5 and 4;
    # advantages [2, 4, 12] and [0, 0, 3], less their means 6 and 1.
    expected = [[1, 3, 11], [3, 3, 6]]
    for xp in (np, jnp):
        values = algorithm._q_values(params, inputs.observations, xp)
        np.testing.assert_allclose(values, expected, rtol=1e-6)
    weights = {"network": params, "one_hot": {}}
    assert algorithm.act_greedy(weights, inputs).actions.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("hidden", "trunk", "streams"),
    [
        ((), [], [4]),
        ((8,), [], [4, 8]),
        ((16, 8), [4, 16], [16, 8]),
        ((32, 16, 8), [4, 32, 16], [16, 8]),
    ],
)
def test_streams_of_a_dueling_network_have_the_last_hidden_layer(
    hidden: tuple[int, ...], trunk: list[int], streams: list[int]
) -> None:
    params = DQN(hidden=hidden, dueling=True).init(SPACES, seed=1).params

    def sizes(layers: Any) -> list[int]:
        return [len(layer["w"]) for layer in layers] + [
            len(layer["b"]) for layer in layers[-1:]
        ]

    assert sizes(params["trunk"]) == trunk
    assert sizes(params["value"]) == [*streams, 1]
    assert sizes(params["advantage"]) == [*streams, 2]


def test_images_are_stored_as_bytes_and_read_by_a_cnn() -> None:
    task = TASKS["dqn"]["dueling, images"]
    with task.start() as run:
        for _ in range(4):
            run.step()
        replay, weights = run.registry.reactor("main.replay"), run.weights

    columns = replay.store.columns
    assert columns["observations"].dtype == np.uint8
    assert columns["observations"].shape == (130, 6, 6, 2)
    assert "next_observations" not in columns
    kernel = weights["network"]["trunk"][0]["w"]
    assert kernel.ndim == 4
    # Acting is compiled; in NumPy the sums have another order.
    images = columns["observations"][:3]
    scaled = images.astype(np.float32) * np.float32(1 / 255)
    found = task.algorithm._compiled(weights, images)
    expected = task.algorithm._q_values(weights["network"], scaled, np)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
