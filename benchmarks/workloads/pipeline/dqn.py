# SPDX-License-Identifier: Apache-2.0
"""DQN on CartPole: as a flow, and as an ordinary loop in the manner of CleanRL.

Both have 16 environments, the same network and batch size, and the same ratio of
updates to steps. The loop has environments with episode statistics in a
``SyncVectorEnv``, one compiled call for action values and one for an update, and one
call of the buffer for each; after every tenth step of all environments there is an
update. ``heavy`` has so many updates that learning takes about as long as collecting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import optax
from gymnasium.vector import AutoresetMode

from reactorl.rl import DQN, Flow, apply_mlp, make_mlp

if TYPE_CHECKING:
    from collections.abc import Callable

NUM_ENVS = 16
STEPS = 100  # as in the paper
BATCH = 128
CAPACITY = 10_000
UPDATES = {"light": STEPS // 10, "heavy": 180}
"""In an iteration of ``STEPS``."""
HIDDEN = (120, 84)
EPSILON = 0.29
"""Mean exploration rate of a schedule from 1 to 0.05 over the first half."""
TARGET_EVERY = 50
"""Updates between copies to the target network."""
FOREVER = 10**9


def make_flow(case: str, lag: int) -> Flow:
    """Return the flow of a case, without end."""
    steps_per_update = NUM_ENVS * STEPS / UPDATES[case]
    algorithm = DQN(
        total_timesteps=FOREVER * NUM_ENVS * STEPS,
        num_envs=NUM_ENVS,
        num_steps=STEPS,
        lag=lag,
        hidden=HIDDEN,
        learning_rate=2.5e-4,
        anneal_lr=False,
        buffer_size=CAPACITY,
        batch_size=BATCH,
        learning_starts=BATCH,
        train_frequency=steps_per_update,
        target_network_frequency=round(TARGET_EVERY * steps_per_update),
        start_e=EPSILON,
        end_e=EPSILON,
        double=False,
    )
    return Flow(
        "CartPole-v1",
        algorithm,
        rollouts=2,
        eval_every=0,
        placement="thread",
        native=False,  # the loop beside it has environments in Python, too
    )


def play_loop(case: str, tick: Callable[[], bool]) -> None:
    """Train with an ordinary loop; ``tick`` after every ``STEPS`` steps."""
    envs = gym.vector.SyncVectorEnv(
        [_make_env] * NUM_ENVS, autoreset_mode=AutoresetMode.SAME_STEP
    )
    random = np.random.default_rng(1)
    params = make_mlp(random, (4, *HIDDEN, 2), last_scale=0.1)
    target = params
    optimiser = optax.adam(2.5e-4)
    state = optimiser.init(params)

    @jax.jit
    def q_values(params: Any, observations: Any) -> Any:  # noqa: ANN401
        return apply_mlp(params, observations, jnp)

    @jax.jit
    def update(params: Any, target: Any, state: Any, batch: Any) -> Any:  # noqa: ANN401
        later = jnp.max(apply_mlp(target, batch["next_observations"], jnp), axis=1)
        wanted = batch["rewards"] + 0.99 * (1 - batch["dones"]) * later

        def loss(params: Any) -> Any:  # noqa: ANN401
            values = apply_mlp(params, batch["observations"], jnp)
            chosen = values[jnp.arange(len(wanted)), batch["actions"]]
            return jnp.mean((chosen - wanted) ** 2)

        value, gradients = jax.value_and_grad(loss)(params)
        changes, state = optimiser.update(gradients, state, params)
        return value, optax.apply_updates(params, changes), state

    kept: dict[str, Any] = {
        "observations": np.zeros((CAPACITY, 4), np.float32),
        "next_observations": np.zeros((CAPACITY, 4), np.float32),
        "actions": np.zeros(CAPACITY, np.int64),
        "rewards": np.zeros(CAPACITY, np.float32),
        "dones": np.zeros(CAPACITY, np.float32),
    }
    position = size = updates = 0
    returns: list[float] = []
    observations, _ = envs.reset(seed=1)
    step = 0
    while True:
        if random.random() < EPSILON:
            actions = random.integers(2, size=NUM_ENVS)
        else:
            values = q_values(params, observations)
            actions = jax.device_get(values.argmax(axis=-1))
        after, rewards, terminations, truncations, infos = envs.step(actions)
        reached = after.copy()
        for index in np.flatnonzero(terminations | truncations):
            reached[index] = infos["final_obs"][index]
            returns.append(infos["final_info"]["episode"]["r"][index])
        places = (position + np.arange(NUM_ENVS)) % CAPACITY
        kept["observations"][places] = observations
        kept["next_observations"][places] = reached
        kept["actions"][places] = actions
        kept["rewards"][places] = rewards
        kept["dones"][places] = terminations
        position = (position + NUM_ENVS) % CAPACITY
        size = min(size + NUM_ENVS, CAPACITY)
        observations = after
        step += 1
        while size >= BATCH and updates < step * UPDATES[case] / STEPS:
            chosen = random.integers(size, size=BATCH)
            batch = {name: column[chosen] for name, column in kept.items()}
            _, params, state = update(params, target, state, batch)
            updates += 1
            if updates % TARGET_EVERY == 0:
                target = params
        if step % STEPS == 0 and not tick():
            envs.close()
            return


def _make_env() -> gym.Env[Any, Any]:
    return gym.wrappers.RecordEpisodeStatistics(gym.make("CartPole-v1"))
