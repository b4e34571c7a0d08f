# SPDX-License-Identifier: Apache-2.0
"""Policies with memory, and policies that see images: learner and rollouts agree."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import gymnasium as gym
import jax
import numpy as np
import pytest

from reactorl.rl import PPO, ActInput, FlowError, Spaces
from reactorl.rl.algorithms.networks.compiled import CompiledRows
from tests.rl.contract.tasks import IMPALA_TASK, PPO_TASK, Glimpses
from tests.rl.trained import bits, lasting, trained, tuned

STILL: Any = {"learning_rate": 0.0, "recurrent_size": 6}


@pytest.mark.parametrize(
    "changes",
    [
        {"recurrent": "gru"},
        {"recurrent": "lstm", "shared_trunk": False},
        {"recurrent": "gru", "norm_obs": True, "env": Glimpses},
        {"env": Glimpses, "shared_trunk": False},
        {"shared_trunk": True},
    ],
    ids=str,
)
def test_learner_finds_the_log_probabilities_of_rollouts(changes: Any) -> None:
    """With weights that do not change, also after the ends of episodes."""
    changes = dict(changes)
    env = changes.pop("env", "CartPole-v1")
    ppo = replace(lasting(tuned(PPO_TASK, **STILL, **changes), 3), env=env)
    impala = tuned(IMPALA_TASK, lag=0, **STILL, **changes)

    _, iterations = trained(ppo)
    _, others = trained(replace(lasting(impala, 3), env=env))

    assert sum(len(r.episodes) for r in iterations) > 3
    # A memory that is not that of the rollout gives divergences of 1e-4 and more.
    assert all(abs(r.metrics["losses/approx_kl"]) < 1e-7 for r in iterations)
    assert all(abs(r.metrics["losses/ratio"] - 1) < 1e-6 for r in others)


def test_learner_with_another_memory_finds_other_log_probabilities() -> None:
    """The check above fails if the memory is not carried, or not set to zero."""
    algorithm = PPO(num_envs=2, num_steps=4, num_minibatches=1, recurrent="gru")
    spaces = Spaces(gym.spaces.Box(-9, 9, (3,)), gym.spaces.Discrete(2))
    params = jax.tree.map(np.array, algorithm.init(spaces, seed=1).params)
    params["actor"][0]["w"][:] = [1, -1]  # outputs as large as the memory
    networks = algorithm.networks((3,))
    rows = np.random.Generator(np.random.PCG64(1)).standard_normal((4, 2, 3))
    rows = rows.astype(np.float32)
    starts = np.zeros((4, 2), bool)
    starts[2, 1] = True
    memory: Any = networks.initial_memory(2)
    stepped = []
    for row, start in zip(rows, starts, strict=True):
        memory = {n: np.where(start[:, None], 0, m) for n, m in memory.items()}
        outputs, memory = networks.act(params, row, memory, np)
        stepped.append(outputs)

    first = networks.initial_memory(2)
    found, _, after = networks.sequence(params, rows, first, starts)
    other, _, _ = networks.sequence(params, rows, first, np.zeros((4, 2), bool))

    np.testing.assert_allclose(found, stepped, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(after["trunk.h"][-1], memory["trunk.h"], atol=1e-5)
    assert np.abs(other - found)[2:, 1].min() > 1e-3
    np.testing.assert_allclose(other[:2], found[:2], atol=1e-6)


def test_values_of_next_observations_continue_the_memory() -> None:
    algorithm = PPO(recurrent="lstm", recurrent_size=5, shared_trunk=False)
    spaces = Spaces(gym.spaces.Box(-9, 9, (3,)), gym.spaces.Discrete(2))
    params = algorithm.init(spaces, seed=1).params
    networks = algorithm.networks((3,))
    rows = np.random.Generator(np.random.PCG64(1)).standard_normal((5, 2, 3))
    rows = rows.astype(np.float32)
    starts = np.zeros((5, 2), bool)

    _, values, after = networks.sequence(
        params, rows, networks.initial_memory(2), starts
    )
    found = networks.next_values(
        params, rows[1:], {n: m[:-1] for n, m in after.items()}
    )

    np.testing.assert_allclose(found, values[1:], rtol=1e-4, atol=1e-5)


def test_threads_that_act_at_the_same_time_get_the_same_bits() -> None:
    algorithm = PPO(recurrent="gru", recurrent_size=8)
    spaces = Spaces(Glimpses.observation_space, Glimpses.action_space)
    weights = algorithm.weights(algorithm.init(spaces, seed=1))
    random = np.random.Generator(np.random.PCG64(1))
    inputs = [
        ActInput(
            random.integers(0, 256, (count, 6, 5, 2), dtype=np.uint8),
            memory=algorithm.initial_memory(spaces, count),
        )
        for count in (1, 2, 3, 4, 2, 1)
    ]

    def act(place: int) -> bytes:
        outputs, memory = algorithm._outputs(weights, inputs[place % len(inputs)])
        return bits((outputs, memory))

    alone = [act(place) for place in range(len(inputs))]
    fresh = replace(algorithm)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(act, range(60)))
        algorithm = fresh  # compiled by several threads at once
        again = list(pool.map(act, range(60)))

    assert found == alone * 10
    assert again == alone * 10


def test_rows_are_padded_to_a_power_of_two() -> None:
    sizes = []

    def double(weights: Any, rows: Any) -> Any:
        sizes.append(rows.shape[0])  # while it is compiled
        return rows * weights

    compiled = CompiledRows(double)

    for count in (1, 2, 3, 4, 5, 7, 8, 3):
        rows = np.arange(count, dtype=np.float32)
        found = compiled(np.float32(2), rows)
        np.testing.assert_array_equal(found, 2 * rows)
        found[0] = 1  # not read-only
    assert sizes == [1, 2, 4, 8]


def test_minibatches_of_a_recurrent_policy_are_environments() -> None:
    with pytest.raises(
        FlowError, match="at most num_envs = 2 for a recurrent policy, g"
    ):
        PPO(num_envs=2, num_minibatches=4, recurrent="gru")
    with pytest.raises(FlowError, match="recurrent must be none, gru or lstm, got 'rn"):
        PPO(recurrent="rnn")  # type: ignore[arg-type]


# -- return -------------------------------------------------------------------------


def without_velocities() -> Any:
    env = gym.make("CartPole-v1")
    assert isinstance(env.observation_space, gym.spaces.Box)
    bounds = (env.observation_space.low[[0, 2]], env.observation_space.high[[0, 2]])
    space = gym.spaces.Box(*bounds, dtype=np.float32)
    return gym.wrappers.TransformObservation(env, lambda seen: seen[[0, 2]], space)


@pytest.mark.slow
def test_recurrent_ppo_solves_cartpole_without_velocities() -> None:
    algorithm = PPO(
        total_timesteps=300_000,
        recurrent="gru",
        recurrent_size=64,
        hidden=(64,),
        update_epochs=10,
        ent_coef=0.0,
        norm_obs=True,
    )
    task = algorithm.task(without_velocities, seed=1, eval_every=0)

    episodes = task.play(task.run(workers=2), episodes=100, seed=10_000)

    assert np.mean([each.episode_return for each in episodes]) >= 475
