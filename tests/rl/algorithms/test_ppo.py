# SPDX-License-Identifier: Apache-2.0
"""PPO: its arithmetic by hand, and its returns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from reactorl.rl import PPO, FlowError, Spaces
from reactorl.rl.algorithms.gae import advantages
from reactorl.rl.algorithms.normalization import RunningStatistics
from tests.rl.contract.tasks import PPO_TASK
from tests.rl.trained import bits, lasting, mean_return, trained, tuned

if TYPE_CHECKING:
    from reactorl.rl.algorithms.ppo import PPOState

STEADY = {"norm_obs": True, "anneal_lr": False}


def test_learning_rate_is_annealed_linearly() -> None:
    _, annealed = trained(PPO_TASK)
    _, constant = trained(tuned(PPO_TASK, anneal_lr=False))

    found = [
        [r.metrics["charts/learning_rate"] for r in run] for run in (annealed, constant)
    ]
    expected = [1e-3 * left / 6 for left in (6, 5, 4, 3, 2, 1)]
    np.testing.assert_allclose(found[0], expected, rtol=1e-6)
    np.testing.assert_allclose(found[1], [1e-3] * 6, rtol=1e-6)


# -- by hand ------------------------------------------------------------------------


def test_advantages_equal_hand_computed_numbers() -> None:
    """Three steps of three environments; a reward is worth half a step later."""
    rewards = np.float32([[1, 1, 1], [2, 2, 2], [3, 3, 3]])
    values = np.float32([[1, 1, 1], [2, 2, 2], [4, 4, 4]])
    next_values = np.float32([[2, 2, 2], [4, 6, 6], [8, 8, 8]])
    terminations, truncations = np.zeros((2, 3, 3), bool)
    terminations[1, 1] = truncations[1, 2] = True

    found = advantages(
        rewards, values, next_values, terminations, truncations, 0.5, 0.5
    )

    # Surprises of the first: 1 + 1 - 1 = 1, 2 + 2 - 2 = 2, 3 + 4 - 4 = 3; a quarter
    # of what comes later is added. The second ended at its second step: 2 - 2 = 0.
    # The third was cut off there, at what is worth 6: 2 + 3 - 2 = 3, and what comes
    # later belongs to another episode.
    due = [[1 + 2.75 / 4, 1, 1 + 3 / 4], [2 + 3 / 4, 0, 3], [3, 3, 3]]
    np.testing.assert_array_equal(found, due)


def state_with(algorithm: PPO, actor: Any, critic: Any, value: float = 0) -> PPOState:
    """Return a state with networks of one layer."""
    spaces = Spaces(gym.spaces.Box(-9, 9, (2,)), gym.spaces.Discrete(2))
    params = {
        "actor": [{"w": np.float32(actor), "b": np.zeros(2, np.float32)}],
        "critic": [{"w": np.float32(critic), "b": np.float32([value])}],
    }
    params = jax.tree.map(jnp.asarray, params)
    state = algorithm.init(spaces, seed=1)
    return state._replace(params=params, optimiser=algorithm._optimiser.init(params))


NOTHING = [[0, 0], [0, 0]]


def test_loss_equals_hand_computed_numbers() -> None:
    """Both actions are equally likely, and were more, less, less and more so."""
    algorithm = PPO(hidden=(), norm_adv=False)
    state = state_with(algorithm, NOTHING, [[1], [0]])
    params, constants = state.params, state.constants
    ratios = np.float32([1.5, 1.5, 0.5, 0.5])
    batch = {
        "rows": np.float32([[1, 0]] * 4),
        "choices": np.array([0, 1, 0, 1]),
        "log_probs": np.log(0.5 / ratios),
        "advantages": np.float32([1, -1, 1, -1]),
        "values": np.float32([0.5] * 4),
        "returns": np.float32([3] * 4),
    }

    loss, found = algorithm.loss(params, batch, constants)
    _, clipped = replace(algorithm, clip_vloss=True).loss(params, batch, constants)
    batch["advantages"] = np.float32([7, 3, 7, 3])
    _, scaled = replace(algorithm, norm_adv=True).loss(params, batch, constants)

    # The lower of ratio and clipped ratio, times the advantage: 1.2, -1.5, 0.5, -0.8.
    assert found["policy_loss"] == pytest.approx(0.15)
    assert found["entropy"] == pytest.approx(np.log(2))
    assert found["clipfrac"] == 1
    due = np.mean(ratios - 1 - np.log(ratios))
    assert found["approx_kl"] == pytest.approx(due, rel=1e-5)
    # Values are 1 and should be 3; kept within 0.2 of 0.5 they are 0.7.
    assert found["value_loss"] == pytest.approx(0.5 * 2**2)
    assert clipped["value_loss"] == pytest.approx(0.5 * 2.3**2)
    assert loss == pytest.approx(0.15 - 0.01 * np.log(2) + 0.5 * 2)
    # With mean 5 and deviation 2 taken out they are what they were.
    assert scaled["policy_loss"] == pytest.approx(0.15)


BATCH = {
    "observations": np.float32([[[1, 0], [0, 1]]]),
    "next_observations": np.float32([[[5, 5], [5, 5]]]),
    "choices": np.array([[0, 1]]),
    "log_probs": np.log(np.float32([[0.5, 0.5]])),
    "rewards": np.array([[6.0, 0.0]]),
    "terminations": np.array([[True, False]]),
    "truncations": np.array([[False, True]]),
    "progress": np.zeros((1, 2)),
}


HAND = PPO(
    hidden=(),
    learning_rate=0.1,
    gamma=0.5,
    num_minibatches=1,
    update_epochs=1,
    norm_adv=False,
    reward_scale=0.5,
)


@pytest.mark.parametrize(("progress", "step"), [(0.0, 0.1), (0.25, 0.075)])
def test_first_update_equals_hand_computed_numbers(
    progress: float, step: float
) -> None:
    """One step of two environments, with a layer each: all can be written down."""
    state = state_with(HAND, NOTHING, [[0], [0]], value=2)
    batch = {**BATCH, "progress": np.full((1, 2), progress)}

    after, metrics, errors = HAND.update(state, [batch])

    # All is worth 2. The first ended with half of 6: one better. The second was cut
    # off, so what follows is worth 2, half of that now: one worse. So action 0 becomes
    # likelier for the first as for the second, whose action was 1; and values become
    # higher for the first and lower for the second, and stay on the whole. Adam's first
    # step is as long as the learning rate, whatever the gradient.
    assert errors is None
    assert metrics["losses/policy_loss"] == pytest.approx(0)
    assert metrics["losses/value_loss"] == pytest.approx(0.5)
    assert metrics["losses/old_approx_kl"] == pytest.approx(0)
    assert metrics["losses/explained_variance"] == pytest.approx(0)
    assert metrics["charts/learning_rate"] == pytest.approx(step)
    actor, critic = after.params["actor"][0], after.params["critic"][0]
    near = {"rtol": 1e-3, "atol": 1e-6}
    np.testing.assert_allclose(actor["w"], [[step, -step], [step, -step]], **near)
    np.testing.assert_allclose(actor["b"], [step, -step], **near)
    np.testing.assert_allclose(critic["w"], [[step], [-step]], **near)
    np.testing.assert_allclose(critic["b"], [2], **near)
    # The gradient was cut to a length of 0.5, and a tenth of it is remembered.
    kept = [np.sum(leaf**2) for leaf in jax.tree.leaves(after.optimiser[1].mu)]
    assert np.sqrt(sum(kept)) == pytest.approx(0.05, rel=1e-5)


def test_update_that_is_above_the_kl_limit_is_dropped() -> None:
    """The first update has a divergence of 0, the second one more than the limit."""
    state = state_with(HAND, NOTHING, [[0], [0]], value=2)
    limited = replace(HAND, update_epochs=4, target_kl=1e-6)

    once, _, _ = HAND.update(state, [BATCH])
    after, metrics, _ = limited.update(state, [BATCH])

    assert metrics["losses/minibatches"] == 2
    jax.tree.map(np.testing.assert_allclose, after.params, once.params)


MANY = PPO(hidden=(), num_minibatches=2, update_epochs=3, norm_obs=True)


def batches_of_eight(count: int) -> list[dict[str, Any]]:
    random = np.random.Generator(np.random.PCG64(1))
    batch = {name: np.repeat(column, 8, axis=0) for name, column in BATCH.items()}
    return [
        batch
        | {
            "rewards": random.standard_normal((8, 2)),
            "observations": random.normal(3, 2, (8, 2, 2)).astype(np.float32),
        }
        for _ in range(count)
    ]


def test_minibatch_order_depends_on_key_and_number_of_updates() -> None:
    (batch,) = batches_of_eight(1)
    state = state_with(MANY, NOTHING, [[0], [0]])

    def after(state: PPOState) -> bytes:
        return bits(MANY.update(state, [batch])[0].params)

    first = after(state)

    assert after(state) == first
    assert after(state._replace(updates=jnp.int32(1))) != first
    assert after(state._replace(key=state.key + 1)) != first
    assert MANY.update(state, [batch, batch])[0].updates == 2


def test_running_statistics_cover_all_iterations() -> None:
    rounds = batches_of_eight(3)

    state, _, _ = MANY.update(state_with(MANY, NOTHING, [[0], [0]]), rounds)

    rows = np.stack([batch["observations"] for batch in rounds]).reshape(-1, 2)
    assert state.statistics.count == 48
    np.testing.assert_allclose(state.statistics.mean, rows.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(state.statistics.variance, rows.var(axis=0), rtol=1e-5)
    weights = MANY.weights(state)
    np.testing.assert_allclose(weights["scale"], 1 / rows.std(axis=0), rtol=1e-4)


def test_next_observations_are_normalized_as_well() -> None:
    (batch,) = batches_of_eight(1)
    batch["rewards"] = np.zeros((8, 2))
    batch["observations"] = batch["next_observations"]
    batch["truncations"] = ~batch["terminations"]
    statistics = RunningStatistics(
        jnp.float32(100), jnp.float32([5, 5]), jnp.float32([4, 4])
    )
    state = state_with(MANY, NOTHING, [[1], [1]])._replace(statistics=statistics)

    _, metrics, _ = MANY.update(state, [batch])

    # All observations are as in the mean, which is worth nothing.
    assert metrics["losses/value_loss"] == 0


def test_learner_normalizes_as_rollouts_did() -> None:
    task = replace(tuned(PPO_TASK, learning_rate=0.0, **STEADY), env="Pendulum-v1")

    _, iterations = trained(task)

    # With a learning rate of 0 all log-probabilities are as the rollouts found them.
    metrics = [r.metrics for r in iterations]
    assert all(abs(m["losses/old_approx_kl"]) < 1e-5 for m in metrics)
    assert all(m["losses/clipfrac"] == 0 for m in metrics)


class Writing(gym.Env[Any, Any]):
    observation_space = gym.spaces.Box(0, 1)
    action_space = gym.spaces.Text(3)


class Graphs(gym.Env[Any, Any]):
    observation_space = gym.spaces.Graph(gym.spaces.Box(0, 1), None)
    action_space = gym.spaces.Discrete(2)


@pytest.mark.parametrize(
    ("env", "match"),
    [
        (Writing, r"action space must be Discrete, Box, .* for PPO, got Text"),
        (Graphs, "observation space must be Box, Discrete, .*, got Graph"),
    ],
)
def test_unsupported_spaces_raise(env: Any, match: str) -> None:
    with pytest.raises(FlowError, match=match):
        replace(PPO_TASK, env=env).check()


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"num_minibatches": 0}, "num_minibatches must be at least 1, got 0"),
        ({"update_epochs": 0}, "update_epochs must be at least 1, got 0"),
        (
            {"num_minibatches": 81, "num_envs": 8, "num_steps": 10},
            r"num_minibatches must be at most num_envs \* num_steps = 80, got 81",
        ),
        ({"lag": -1}, "lag must be 0 or more iterations, got -1"),
        ({"num_envs": 0}, "num_envs must be at least 1, got 0"),
        ({"total_timesteps": 0}, "total_timesteps must be at least 1, got 0"),
    ],
)
def test_invalid_hyper_parameters_raise(change: dict[str, Any], match: str) -> None:
    with pytest.raises(FlowError, match=match):
        PPO(**change)


# -- returns ------------------------------------------------------------------------


@pytest.mark.slow
def test_ppo_solves_cartpole() -> None:
    assert mean_return(PPO(total_timesteps=120 * 1024).task("CartPole-v1")) >= 475


@pytest.mark.slow
def test_ppo_solves_pendulum() -> None:
    algorithm = PPO(
        num_steps=256,
        gamma=0.9,
        num_minibatches=32,
        update_epochs=10,
        ent_coef=0.0,
    )
    assert mean_return(lasting(algorithm.task("Pendulum-v1"), 80)) >= -250
