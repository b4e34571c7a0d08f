# SPDX-License-Identifier: Apache-2.0
"""PPO in one file with PyTorch, as CleanRL does it: one process, a vector of envs.

Written for this comparison, with the settings that CleanRL publishes. The networks, the
initialization and the loss are those that its documentation describes; environments are
Gymnasium's ``SyncVectorEnv``, which resets in the step after an end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.results.referee import played

if TYPE_CHECKING:
    from benchmarks.results.referee import Referee


def run(request: dict[str, Any], referee: Referee) -> dict[str, Any]:
    """Train until the referee ends it."""
    import gymnasium as gym
    import numpy as np
    import torch
    from torch import nn
    from torch.distributions import Categorical, Normal

    s: dict[str, Any] = request["settings"]
    env_id, seed = request["task"]["env_id"], request["seed"]
    total = request["task"]["total"] or s["total_timesteps"]
    torch.manual_seed(seed)

    def make() -> Any:  # noqa: ANN401
        env = gym.make(env_id)
        if not s["continuous"]:
            return env
        env = gym.wrappers.NormalizeObservation(gym.wrappers.ClipAction(env))
        normalizers.append(env)
        space = env.observation_space
        env = gym.wrappers.TransformObservation(env, lambda x: x.clip(-10, 10), space)
        env = gym.wrappers.NormalizeReward(env, gamma=s["gamma"])
        return gym.wrappers.TransformReward(env, lambda r: np.clip(r, -10, 10))

    normalizers: list[Any] = []
    mode = gym.vector.AutoresetMode.SAME_STEP
    envs = gym.vector.SyncVectorEnv([make] * s["num_envs"], autoreset_mode=mode)
    inputs = int(np.prod(envs.single_observation_space.shape))
    space = envs.single_action_space
    outputs = int(np.prod(space.shape)) if s["continuous"] else int(space.n)

    def layer(rows: int, columns: int, scale: float = 2**0.5) -> Any:  # noqa: ANN401
        made = nn.Linear(rows, columns)
        nn.init.orthogonal_(made.weight, scale)
        nn.init.zeros_(made.bias)
        return made

    def network(last: int, scale: float) -> Any:  # noqa: ANN401
        first = [layer(inputs, 64), nn.Tanh(), layer(64, 64), nn.Tanh()]
        return nn.Sequential(*first, layer(64, last, scale))

    actor, critic = network(outputs, 0.01), network(1, 1.0)
    log_std = nn.Parameter(torch.zeros(1, outputs))
    params = [*actor.parameters(), *critic.parameters()]
    params += [log_std] if s["continuous"] else []
    adam = torch.optim.Adam(params, lr=s["learning_rate"], eps=1e-5)

    def policy(rows: Any) -> Any:  # noqa: ANN401
        found = actor(rows)
        if s["continuous"]:
            return Normal(found, log_std.exp().expand_as(found))
        return Categorical(logits=found)

    def summed(value: Any) -> Any:  # noqa: ANN401
        return value.sum(1) if s["continuous"] else value

    def act(rows: Any) -> Any:  # noqa: ANN401
        if s["continuous"]:
            stats = normalizers[0].obs_rms
            rows = (rows - stats.mean) / np.sqrt(stats.var + normalizers[0].epsilon)
            rows = rows.clip(-10, 10)
        with torch.no_grad():
            found = actor(torch.as_tensor(rows, dtype=torch.float32)).numpy()
        if s["continuous"]:
            return np.clip(found, space.low, space.high)
        return found.argmax(1)

    def play(episodes: int, first: int) -> list[float]:
        return played(env_id, act, episodes, first)

    count, length = s["num_envs"], s["num_steps"]
    batch = count * length
    iterations = max(1, total // batch)
    kind = (length, count)
    seen = torch.zeros((*kind, inputs))
    chosen = torch.zeros((*kind, outputs) if s["continuous"] else kind)
    log_probs, rewards, dones, values = (torch.zeros(kind) for _ in range(4))
    rows = torch.as_tensor(
        envs.reset(seed=seed)[0].reshape(count, -1), dtype=torch.float32
    )
    done = torch.zeros(count)
    for iteration in range(iterations):
        adam.param_groups[0]["lr"] = s["learning_rate"] * (1 - iteration / iterations)
        for step in range(length):
            seen[step], dones[step] = rows, done
            with torch.no_grad():
                distribution = policy(rows)
                action = distribution.sample()
                log_probs[step] = summed(distribution.log_prob(action))
                values[step] = critic(rows).squeeze(1)
            chosen[step] = action
            found, reward, ended, cut, _ = envs.step(action.numpy())
            rewards[step] = torch.as_tensor(reward, dtype=torch.float32)
            done = torch.as_tensor(ended | cut, dtype=torch.float32)
            rows = torch.as_tensor(found.reshape(count, -1), dtype=torch.float32)
        with torch.no_grad():
            following, last = critic(rows).squeeze(1), torch.zeros(count)
            advantages, alive = torch.zeros(kind), 1 - done
            for step in reversed(range(length)):
                delta = rewards[step] + s["gamma"] * following * alive - values[step]
                last = delta + s["gamma"] * s["gae_lambda"] * alive * last
                advantages[step] = last
                following, alive = values[step], 1 - dones[step]
            returns = advantages + values
        flat = [
            part.reshape(batch, *part.shape[2:])
            for part in (seen, chosen, log_probs, advantages, returns, values)
        ]
        for _ in range(s["update_epochs"]):
            order = torch.randperm(batch)
            for part in order.split(batch // s["num_minibatches"]):
                x, a, old, advantage, target, value = (each[part] for each in flat)
                distribution = policy(x)
                ratio = (summed(distribution.log_prob(a)) - old).exp()
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                clipped = ratio.clamp(1 - s["clip_coef"], 1 + s["clip_coef"])
                surrogate = torch.max(-advantage * ratio, -advantage * clipped).mean()
                now = critic(x).squeeze(1)
                near = value + (now - value).clamp(-s["clip_coef"], s["clip_coef"])
                errors = torch.max((now - target) ** 2, (near - target) ** 2)
                entropy = summed(distribution.entropy()).mean()
                loss = surrogate - s["ent_coef"] * entropy + 0.25 * errors.mean()
                adam.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(params, 0.5)
                adam.step()
        steps = (iteration + 1) * batch
        due = referee.due(steps) or iteration + 1 == iterations
        if due and referee.evaluate(steps, play):
            break
    envs.close()
    return {}
