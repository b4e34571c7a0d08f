# SPDX-License-Identifier: Apache-2.0
"""PPO with everything in JAX, as PureJaxRL does it: with environments of gymnax.

Written for this comparison, with the settings that PureJaxRL publishes, for discrete
actions. Iterations are compiled together up to the next evaluation, which plays
Gymnasium's environment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.results.referee import played

if TYPE_CHECKING:
    from benchmarks.results.referee import Referee


def run(request: dict[str, Any], referee: Referee) -> dict[str, Any]:
    """Train until the referee ends it."""
    import gymnax
    import jax
    import jax.numpy as jnp
    import numpy as np
    import optax

    s: dict[str, Any] = request["settings"]
    task = request["task"]
    env, params_of_env = gymnax.make(s["env"])
    inputs = int(np.prod(env.observation_space(params_of_env).shape))
    actions = env.action_space(params_of_env).n
    activation = getattr(jax.nn, s["activation"])
    count, length = s["num_envs"], s["num_steps"]
    batch = count * length
    total = task["total"] or s["total_timesteps"]
    updates = max(1, int(total) // batch)
    key = jax.random.key(request["seed"])

    def network(key: Any, last: int, scale: float) -> Any:  # noqa: ANN401
        sizes = [(inputs, 64, 2**0.5), (64, 64, 2**0.5), (64, last, scale)]
        keys = jax.random.split(key, len(sizes))
        return [
            (jax.nn.initializers.orthogonal(g)(k, (n, m)), jnp.zeros(m))
            for k, (n, m, g) in zip(keys, sizes, strict=True)
        ]

    def apply(layers: Any, rows: Any) -> Any:  # noqa: ANN401
        for weights, bias in layers[:-1]:
            rows = activation(rows @ weights + bias)
        weights, bias = layers[-1]
        return rows @ weights + bias

    def logits_of(params: Any, rows: Any) -> Any:  # noqa: ANN401
        return jax.nn.log_softmax(apply(params["actor"], rows))

    def values_of(params: Any, rows: Any) -> Any:  # noqa: ANN401
        return apply(params["critic"], rows)[..., 0]

    per_update = s["update_epochs"] * s["num_minibatches"]
    rate = optax.linear_schedule(s["learning_rate"], 0.0, updates * per_update)
    adam = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(rate, eps=1e-5))

    def loss_of(params: Any, part: Any) -> Any:  # noqa: ANN401
        rows, chosen, old, advantage, target, value = part
        logits = logits_of(params, rows)
        ratio = jnp.exp(jnp.take_along_axis(logits, chosen[:, None], 1)[:, 0] - old)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        clip = s["clip_coef"]
        clipped = jnp.clip(ratio, 1 - clip, 1 + clip)
        surrogate = -jnp.minimum(ratio * advantage, clipped * advantage).mean()
        now = values_of(params, rows)
        near = value + jnp.clip(now - value, -clip, clip)
        errors = jnp.maximum((now - target) ** 2, (near - target) ** 2).mean()
        entropy = -(jnp.exp(logits) * logits).sum(1).mean()
        return surrogate + 0.25 * errors - s["ent_coef"] * entropy

    def rows_of(observations: Any) -> Any:  # noqa: ANN401
        return observations.reshape(count, -1).astype(jnp.float32)

    def step(carry: Any, _: Any) -> Any:  # noqa: ANN401
        params, states, rows, key = carry
        key, act_key, step_key = jax.random.split(key, 3)
        logits = logits_of(params, rows)
        chosen = jax.random.categorical(act_key, logits)
        found, states, reward, done, _info = jax.vmap(env.step, (0, 0, 0, None))(
            jax.random.split(step_key, count), states, chosen, params_of_env
        )
        log_prob = jnp.take_along_axis(logits, chosen[:, None], 1)[:, 0]
        seen = (rows, chosen, log_prob, values_of(params, rows), reward, done)
        return (params, states, rows_of(found), key), seen

    def iteration(carry: Any, _: Any) -> Any:  # noqa: ANN401
        params, optimizer, states, rows, key = carry
        (params, states, rows, key), seen = jax.lax.scan(
            step, (params, states, rows, key), None, length
        )
        observed, chosen, log_probs, values, rewards, dones = seen

        def backward(carry: Any, at: Any) -> Any:  # noqa: ANN401
            last, following = carry
            reward, done, value = at
            delta = reward + s["gamma"] * following * (1 - done) - value
            last = delta + s["gamma"] * s["gae_lambda"] * (1 - done) * last
            return (last, value), last

        start = (jnp.zeros(count), values_of(params, rows))
        _, advantages = jax.lax.scan(
            backward, start, (rewards, dones, values), reverse=True, unroll=16
        )
        parts = (
            observed,
            chosen,
            log_probs,
            advantages,
            advantages + values,
            values,
        )
        flat = [part.reshape(batch, *part.shape[2:]) for part in parts]

        def minibatch(carry: Any, part: Any) -> Any:  # noqa: ANN401
            params, optimizer = carry
            gradients = jax.grad(loss_of)(params, part)
            changes, optimizer = adam.update(gradients, optimizer, params)
            return (optax.apply_updates(params, changes), optimizer), None

        def epoch(carry: Any, key: Any) -> Any:  # noqa: ANN401
            order = jax.random.permutation(key, batch)
            shuffled = [
                part[order].reshape(s["num_minibatches"], -1, *part.shape[1:])
                for part in flat
            ]
            return jax.lax.scan(minibatch, carry, shuffled)

        key, epochs_key = jax.random.split(key)
        (params, optimizer), _ = jax.lax.scan(
            epoch, (params, optimizer), jax.random.split(epochs_key, s["update_epochs"])
        )
        return (params, optimizer, states, rows, key), None

    key, actor_key, critic_key, reset_key = jax.random.split(key, 4)
    params = {
        "actor": network(actor_key, actions, 0.01),
        "critic": network(critic_key, 1, 1.0),
    }
    found, states = jax.vmap(env.reset, (0, None))(
        jax.random.split(reset_key, count), params_of_env
    )
    carry = (params, adam.init(params), states, rows_of(found), key)
    piece = max(1, min(updates, task["every"] // batch))
    advance = jax.jit(lambda carry: jax.lax.scan(iteration, carry, None, piece)[0])

    def play(episodes: int, seed: int) -> list[float]:
        layers = jax.tree.map(np.asarray, carry[0]["actor"])

        def act(rows: Any) -> Any:  # noqa: ANN401
            rows = rows.reshape(len(rows), -1).astype(np.float32)
            for number, (weights, bias) in enumerate(layers):
                rows = rows @ weights + bias
                if number + 1 < len(layers):
                    rows = (
                        np.tanh(rows)
                        if s["activation"] == "tanh"
                        else np.maximum(rows, 0)
                    )
            return rows.argmax(1)

        return played(task["env_id"], act, episodes, seed)

    for number in range(-(-updates // piece)):
        carry = jax.block_until_ready(advance(carry))
        if referee.evaluate((number + 1) * piece * batch, play):
            break
    return {}
