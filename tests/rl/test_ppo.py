# SPDX-License-Identifier: Apache-2.0
"""PPO: its arithmetic by hand, the same bits on any number of workers, its returns."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from reactorl.rl.algorithms.ppo import PPO, PPOState, Seen, advantages
from reactorl.rl.flow.algorithm import FlowError, Spaces
from reactorl.rl.flow.flow import Flow, Round
from reactorl.rl.flow.replay import ReplayConfig
from tests.rl.trained import bits, mean_score, resumed, trained

SMALL = Flow(
    "CartPole-v1",
    PPO(hidden=(8,), num_minibatches=3, update_epochs=2),
    num_envs=8,
    rollouts=4,
    steps=10,
    rounds=6,
    evaluate_every=3,
    evaluation_episodes=4,
)
STEADY = replace(SMALL.algorithm, norm_obs=True, anneal_lr=False)
NUMBERS = replace(SMALL, env="Pendulum-v1", algorithm=STEADY)
FLOWS = {
    "few actions": SMALL,
    "few actions, lag 1": replace(SMALL, lag=1),
    "numbers": NUMBERS,
    "numbers, lag 3": replace(NUMBERS, lag=3),
}


@cache
def with_one_worker(name: str) -> tuple[bytes, list[Round]]:
    return trained(FLOWS[name], workers=1)


@pytest.fixture(params=FLOWS)
def expected(request: pytest.FixtureRequest) -> tuple[Flow, bytes, list[Round]]:
    return FLOWS[request.param], *with_one_worker(request.param)


@pytest.mark.parametrize("options", [{"workers": 2}, {"workers": 4, "trace": True}])
def test_weights_are_the_same_bits_for_any_number_of_workers(
    options: Any, expected: tuple[Flow, bytes, list[Round]]
) -> None:
    flow, weights, rounds = expected
    assert trained(flow, **options) == (weights, rounds)


@pytest.mark.parametrize("stop", [1, 3, 5])
def test_a_run_that_stopped_ends_with_the_same_bits(
    stop: int, expected: tuple[Flow, bytes, list[Round]]
) -> None:
    flow, weights, rounds = expected
    assert resumed(flow, stop) == (weights, rounds)


def test_flows_differ_where_they_should() -> None:
    found = [with_one_worker(name)[0] for name in FLOWS]
    found.append(trained(replace(SMALL, seed=2))[0])
    assert len({*found}) == len(found)


def test_the_learning_rate_falls_if_it_is_to() -> None:
    found = {
        name: [r.metrics["charts/learning_rate"] for r in with_one_worker(name)[1]]
        for name in ("few actions", "numbers")
    }
    due = [2.5e-4 * left / 6 for left in (6, 5, 4, 3, 2, 1)]
    np.testing.assert_allclose(found["few actions"], due, rtol=1e-6)
    np.testing.assert_allclose(found["numbers"], [2.5e-4] * 6, rtol=1e-6)


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


def knowing(algorithm: PPO, actor: Any, critic: Any, value: float = 0) -> PPOState:
    """Return a state with networks of one layer."""
    spaces = Spaces(gym.spaces.Box(-9, 9, (2,)), gym.spaces.Discrete(2))
    params = {
        "actor": [{"w": np.float32(actor), "b": np.zeros(2, np.float32)}],
        "critic": [{"w": np.float32(critic), "b": np.float32([value])}],
    }
    params = jax.tree.map(jnp.asarray, params)
    state = algorithm.begin(spaces, seed=1)
    return state._replace(params=params, optimiser=algorithm._optimiser.init(params))


NOTHING = [[0, 0], [0, 0]]


def test_the_loss_equals_hand_computed_numbers() -> None:
    """Both actions are equally likely, and were more, less, less and more so."""
    algorithm = PPO(hidden=(), norm_adv=False, clip_vloss=False)
    params = knowing(algorithm, NOTHING, [[1], [0]]).params
    ratios = np.float32([1.5, 1.5, 0.5, 0.5])
    batch = {
        "rows": np.float32([[1, 0]] * 4),
        "choices": np.array([0, 1, 0, 1]),
        "log_probs": np.log(0.5 / ratios),
        "advantages": np.float32([1, -1, 1, -1]),
        "values": np.float32([0.5] * 4),
        "returns": np.float32([3] * 4),
    }

    loss, found = algorithm.loss(params, batch)
    _, clipped = replace(algorithm, clip_vloss=True).loss(params, batch)
    batch["advantages"] = np.float32([7, 3, 7, 3])
    _, scaled = replace(algorithm, norm_adv=True).loss(params, batch)

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


ROUND = {
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
def test_the_first_update_equals_hand_computed_numbers(
    progress: float, step: float
) -> None:
    """One step of two environments, with a layer each: all can be written down."""
    state = knowing(HAND, NOTHING, [[0], [0]], value=2)
    batch = {**ROUND, "progress": np.full((1, 2), progress)}

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


MANY = PPO(hidden=(), num_minibatches=2, update_epochs=3, norm_obs=True)


def rounds_of_eight(count: int) -> list[dict[str, Any]]:
    random = np.random.Generator(np.random.PCG64(1))
    batch = {name: np.repeat(column, 8, axis=0) for name, column in ROUND.items()}
    return [
        batch
        | {
            "rewards": random.standard_normal((8, 2)),
            "observations": random.normal(3, 2, (8, 2, 2)).astype(np.float32),
        }
        for _ in range(count)
    ]


def test_shuffling_follows_from_the_key_and_the_number_of_updates() -> None:
    (batch,) = rounds_of_eight(1)
    state = knowing(MANY, NOTHING, [[0], [0]])

    def after(state: PPOState) -> bytes:
        return bits(MANY.update(state, [batch])[0].params)

    first = after(state)

    assert after(state) == first
    assert after(state._replace(updates=jnp.int32(1))) != first
    assert after(state._replace(key=state.key + 1)) != first
    assert MANY.update(state, [batch, batch])[0].updates == 2


def test_observations_seen_are_those_of_all_rounds() -> None:
    rounds = rounds_of_eight(3)

    state, _, _ = MANY.update(knowing(MANY, NOTHING, [[0], [0]]), rounds)

    rows = np.stack([batch["observations"] for batch in rounds]).reshape(-1, 2)
    assert state.seen.count == 48
    np.testing.assert_allclose(state.seen.mean, rows.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(state.seen.variance, rows.var(axis=0), rtol=1e-5)
    weights = MANY.weights(state)
    np.testing.assert_allclose(weights["scale"], 1 / rows.std(axis=0), rtol=1e-4)


def test_what_follows_is_seen_in_the_same_way() -> None:
    (batch,) = rounds_of_eight(1)
    batch["rewards"] = np.zeros((8, 2))
    batch["observations"] = batch["next_observations"]
    batch["truncations"] = ~batch["terminations"]
    seen = Seen(jnp.float32(100), jnp.float32([5, 5]), jnp.float32([4, 4]))
    state = knowing(MANY, NOTHING, [[1], [1]])._replace(seen=seen)

    _, metrics, _ = MANY.update(state, [batch])

    # All observations are as in the mean, which is worth nothing.
    assert metrics["losses/value_loss"] == 0


def test_the_learner_sees_what_rollouts_saw() -> None:
    still = replace(STEADY, learning_rate=0.0)

    _, rounds = trained(replace(NUMBERS, algorithm=still))

    # Whoever learns nothing finds all actions as likely as they were.
    metrics = [r.metrics for r in rounds]
    assert all(abs(m["losses/old_approx_kl"]) < 1e-5 for m in metrics)
    assert all(m["losses/clipfrac"] == 0 for m in metrics)


class Buttons(gym.Env[Any, Any]):
    observation_space = gym.spaces.Box(0, 1)
    action_space = gym.spaces.MultiBinary(3)


class Words(gym.Env[Any, Any]):
    observation_space = gym.spaces.Text(5)
    action_space = gym.spaces.Discrete(2)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"env": Buttons}, r"PPO chooses .* not from MultiBinary\(3\)"),
        ({"env": Words}, "observations of Text.* are no numbers"),
        ({"replay": ReplayConfig()}, "PPO learns from what was just collected"),
        ({"algorithm": PPO(num_minibatches=0)}, "num_minibatches is 0"),
        ({"algorithm": PPO(update_epochs=0)}, "update_epochs is 0"),
        (
            {"algorithm": PPO(num_minibatches=81)},
            "a round has 80 steps, and PPO splits them into 81 minibatches. Do more",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused_at_once(
    change: dict[str, Any], match: str
) -> None:
    with pytest.raises(FlowError, match=match):
        replace(SMALL, **change).check()


# -- returns ------------------------------------------------------------------------


@pytest.mark.slow
def test_ppo_balances_the_pole() -> None:
    flow = Flow(
        "CartPole-v1",
        PPO(learning_rate=1e-3, reward_scale=0.1),
        num_envs=8,
        rollouts=4,
        steps=128,
        rounds=120,
        seed=1,
    )
    assert mean_score(flow) >= 475


@pytest.mark.slow
def test_ppo_swings_the_pendulum_up() -> None:
    flow = Flow(
        "Pendulum-v1",
        PPO(
            learning_rate=1e-3,
            gamma=0.9,
            num_minibatches=32,
            update_epochs=10,
            ent_coef=0.0,
            reward_scale=0.1,
        ),
        num_envs=8,
        rollouts=4,
        steps=256,
        rounds=80,
        seed=1,
    )
    assert mean_score(flow) >= -250
