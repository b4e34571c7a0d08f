# SPDX-License-Identifier: Apache-2.0
"""gymnasium.make_vec makes our vectors."""

from __future__ import annotations

import gymnasium as gym
import numpy as np

from reactorl.rl import VectorEnv, make_vec, register_vector


def test_make_vec_makes_our_vector_with_the_same_results() -> None:
    name = register_vector("CartPole-v1")
    assert name == "reactorl/CartPole-v1"
    assert register_vector("CartPole-v1") == name
    ours = gym.make_vec(name, num_envs=3, workers=2)
    sync = gym.make_vec("CartPole-v1", num_envs=3, vectorization_mode="sync")

    assert isinstance(ours, VectorEnv)
    assert ours.spec is not None
    assert ours.spec.id == name
    assert repr(ours) == "VectorEnv(reactorl/CartPole-v1, num_envs=3)"
    np.testing.assert_array_equal(ours.reset(seed=1)[0], sync.reset(seed=1)[0])
    for _ in range(50):
        actions = sync.action_space.sample()
        for one, other in zip(ours.step(actions), sync.step(actions), strict=True):
            np.testing.assert_equal(one, other)
    ours.close()
    sync.close()


def test_arguments_of_vector_and_envs_are_separated() -> None:
    envs = gym.make_vec(
        register_vector("Pendulum-v1"),
        num_envs=2,
        g=1.0,
        autoreset_mode="SameStep",
        max_episode_steps=3,
    )
    assert envs.get_attr("g") == (1.0, 1.0)
    assert envs.metadata["autoreset_mode"] is gym.vector.AutoresetMode.SAME_STEP
    envs.reset(seed=1)
    truncations = [
        envs.step(np.zeros((2, 1), np.float32))[3].tolist() for _ in range(3)
    ]
    assert truncations[-1] == [True, True]
    envs.close()


def test_the_single_environment_of_the_new_id_is_the_same() -> None:
    env = gym.make(register_vector("CartPole-v1"))
    assert env.spec is not None
    assert env.spec.max_episode_steps == 500
    env.close()


def test_make_vec_is_an_entry_point() -> None:
    envs = make_vec("CartPole-v1", num_envs=2, placement="thread", workers=1)
    assert envs.num_envs == 2
    envs.close()
