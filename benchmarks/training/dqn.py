# SPDX-License-Identifier: Apache-2.0
"""DQN on CartPole: as a flow, and as the loop that most people write.

Both have 16 environments, the same network, batch size, and as many updates for as many
steps: one for ten, as is usual. ``heavy`` has so many more that learning takes about as
long as collecting.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import optax

from reactorl.rl.algo.dqn import DQN
from reactorl.rl.nets import apply_mlp, make_mlp
from reactorl.rl.training.flow import Flow, Run
from reactorl.rl.training.replay import ReplayPlan

if TYPE_CHECKING:
    from collections.abc import Callable

NUM_ENVS = 16
STEPS = 16
BATCH = 128
CAPACITY = 10_000
PER_ROUND = NUM_ENVS * STEPS
UPDATES = {"light": PER_ROUND // 10, "heavy": 60}
HIDDEN = {"light": (120, 84), "heavy": (120, 84)}
FOREVER = 10**9


def play_flow(case: str, lag: int, workers: int, tick: Callable[[], bool]) -> None:
    """Train with a flow until told to stop, once a round."""
    replay = ReplayPlan(CAPACITY, BATCH, UPDATES[case], starts_at=BATCH)
    flow = Flow(
        "CartPole-v1",
        DQN(hidden=HIDDEN[case], learning_rate=2.5e-4, exploration_fraction=0.5),
        num_envs=NUM_ENVS,
        rollouts=2,
        steps=STEPS,
        rounds=FOREVER,
        replay=replay,
        lag=lag,
    )
    with Run(flow, workers=workers) as run:
        while True:
            run.step()
            if not tick():
                return


def play_loop(case: str, tick: Callable[[], bool]) -> None:
    """Train with an ordinary loop until told to stop, once for as many steps."""
    envs = gym.vector.SyncVectorEnv([partial(gym.make, "CartPole-v1")] * NUM_ENVS)
    random = np.random.default_rng(1)
    params = make_mlp(random, (4, *HIDDEN[case], 2), last_scale=0.1)
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
    position = size = steps = updates = rounds = 0
    observations, _ = envs.reset(seed=1)
    while True:
        epsilon = 0.5
        if random.random() < epsilon:
            actions = random.integers(2, size=NUM_ENVS)
        else:
            actions = np.asarray(jax.device_get(q_values(params, observations)))
            actions = actions.argmax(axis=1)
        after, rewards, terminations, _, _ = envs.step(actions)
        places = (position + np.arange(NUM_ENVS)) % CAPACITY
        kept["observations"][places] = observations
        kept["next_observations"][places] = after
        kept["actions"][places] = actions
        kept["rewards"][places] = rewards
        kept["dones"][places] = terminations
        position = (position + NUM_ENVS) % CAPACITY
        size = min(size + NUM_ENVS, CAPACITY)
        steps += NUM_ENVS
        observations = after
        while updates < steps * UPDATES[case] / PER_ROUND:
            chosen = random.integers(size, size=BATCH)
            batch = {name: column[chosen] for name, column in kept.items()}
            _, params, state = update(params, target, state, batch)
            updates += 1
            if updates % 500 == 0:
                target = params
        if steps // PER_ROUND > rounds:
            rounds = steps // PER_ROUND
            if not tick():
                envs.close()
                return
