# SPDX-License-Identifier: Apache-2.0
"""SAC and TD3: their updates against NumPy, with gradients by finite differences.

The reference uses float64 and plain loops over a batch. It takes only the random
numbers from JAX, because those are part of the definition of an update.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import gymnasium as gym
import jax
import numpy as np
import pytest

from reactorl.rl import DQN, SAC, TD3, ActInput, FlowError, Spaces
from reactorl.rl.algorithms.bounded_actions import bounds, to_actions, to_choices
from tests.rl.contract.tasks import SAC_TASK, Pixels
from tests.rl.trained import lasting, trained

SPACES = Spaces(
    gym.spaces.Box(-9, 9, (2,), np.float32),
    gym.spaces.Box(np.float32([-1, 0]), np.float32([1, 4])),
)
SMALL: Any = {"hidden": (3,), "batch_size": 4, "gamma": 0.9, "tau": 0.25}
BATCH = {
    "observations": np.float32([[1, 0], [0, 1], [-1, 2], [0.5, -0.5]]),
    "actions": np.float32([[0.5, 1], [-1, 4], [0, 2], [0.25, 0]]),
    "rewards": np.array([1.0, -2.0, 0.5, 3.0]),
    "next_observations": np.float32([[0, 1], [1, 1], [2, -1], [1, 0]]),
    "terminations": np.array([False, False, True, False]),
    "truncations": np.array([False, True, False, False]),
}
# -1 and 1 are the bounds of each component: (a - (high + low) / 2) / (high - low) * 2.
CHOICES = np.array([[0.5, -0.5], [-1, 1], [0, 0], [0.25, -1]])


def mlp(layers: Any, row: Any) -> Any:
    for layer in layers[:-1]:
        row = np.maximum(row @ layer["w"] + layer["b"], 0)
    return row @ layers[-1]["w"] + layers[-1]["b"]


def doubled(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), tree)


def gradients(loss: Any, tree: Any) -> Any:
    """Return the gradient of a loss by central differences."""
    leaves, structure = jax.tree.flatten(tree)
    found = []
    for place, leaf in enumerate(leaves):
        gradient = np.zeros_like(leaf)
        for index in np.ndindex(leaf.shape):
            sides = []
            for side in (1e-6, -1e-6):
                moved = leaf.copy()
                moved[index] += side
                parts = [*leaves[:place], moved, *leaves[place + 1 :]]
                sides.append(loss(jax.tree.unflatten(structure, parts)))
            gradient[index] = (sides[0] - sides[1]) / 2e-6
        found.append(gradient)
    return jax.tree.unflatten(structure, found)


class Adam:
    """Adam, as in its paper."""

    def __init__(self, rate: float, tree: Any) -> None:
        self.rate, self.count = rate, 0
        self.mean = self.square = jax.tree.map(np.zeros_like, tree)

    def step(self, tree: Any, gradient: Any) -> Any:
        self.count += 1
        k = self.count
        self.mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, self.mean, gradient)
        self.square = jax.tree.map(
            lambda s, g: 0.999 * s + 0.001 * g * g, self.square, gradient
        )

        def moved(p: Any, m: Any, s: Any) -> Any:
            root = np.sqrt(s / (1 - 0.999**k))
            return p - self.rate * (m / (1 - 0.9**k)) / (root + 1e-8)

        return jax.tree.map(moved, tree, self.mean, self.square)


def mixed(online: Any, target: Any, tau: float = 0.25) -> Any:
    return jax.tree.map(lambda o, t: tau * o + (1 - tau) * t, online, target)


def close(found: Any, expected: Any) -> None:
    pairs = zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True)
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-5)


def larger(state: Any) -> Any:
    """Return a state whose actor depends on observations: it begins near zero."""
    actor = jax.tree.map(lambda leaf: leaf * 30, state.actor[-1])
    actor = [*state.actor[:-1], actor]
    changed = {"actor": actor}
    if hasattr(state, "target_actor"):
        changed["target_actor"] = actor
    return state._replace(**changed)


def critic_loss(targets: Any) -> Any:
    def loss(critics: Any) -> float:
        total = 0.0
        for critic in critics:
            for row, choice, due in zip(
                BATCH["observations"], CHOICES, targets, strict=True
            ):
                error = mlp(critic, np.concatenate([row, choice]))[0] - due
                total += error * error / 4
        return total

    return loss


def updated(algorithm: Any, state: Any, count: int) -> tuple[Any, Any]:
    """Return the state after some updates with the same batch, and metrics."""
    state, metrics, errors = algorithm.update(state, [BATCH] * count)
    assert errors is None
    return state, metrics


# -- SAC -------------------------------------------------------------------------------


def sac_sample(actor: Any, row: Any, noise: Any) -> tuple[Any, float]:
    mean, raw = np.split(mlp(actor, row), 2)
    std = np.exp(-5 + 3.5 * (np.tanh(raw) + 1))
    choice = np.tanh(mean + std * noise)
    density = np.exp(-0.5 * noise**2) / (np.sqrt(2 * np.pi) * std)
    return choice, float(np.log(density / (1 - choice**2)).sum())


def sac_log_probs(actor: Any, noise: Any) -> list[float]:
    pairs = zip(BATCH["observations"], noise, strict=True)
    return [sac_sample(actor, row, each)[1] for row, each in pairs]


def sac_actor_loss(actor: Any, *, critics: Any, alpha: Any, noise: Any) -> float:
    total = 0.0
    for row, each in zip(BATCH["observations"], noise, strict=True):
        choice, log_prob = sac_sample(actor, row, each)
        both = [mlp(c, np.concatenate([row, choice]))[0] for c in critics]
        total += alpha * log_prob - min(both)
    return total / 4


def sac_noise(state: Any, number: int) -> tuple[Any, Any]:
    key = jax.random.wrap_key_data(state.key, impl="threefry2x32")
    own, following = jax.random.split(jax.random.fold_in(key, number))
    return (
        np.float64(jax.random.normal(own, (4, 2))),
        np.float64(jax.random.normal(following, (4, 2))),
    )


@pytest.mark.parametrize("autotune", [True, False])
@pytest.mark.parametrize("policy_frequency", [1, 2])
def test_updates_of_sac_equal_a_reference_in_numpy(
    *, autotune: bool, policy_frequency: int
) -> None:
    algorithm = SAC(
        **SMALL,
        policy_lr=0.01,
        q_lr=0.02,
        alpha=0.3,
        autotune=autotune,
        policy_frequency=policy_frequency,
    )
    state = larger(algorithm.init(SPACES, seed=1))
    actor, critics = doubled(state.actor), doubled(state.critics)
    target, log_alpha = critics, np.zeros(())
    adams = Adam(0.01, actor), Adam(0.02, critics), Adam(0.02, log_alpha)
    for number in range(2):
        noise, next_noise = sac_noise(state, number)
        alpha = np.exp(log_alpha) if autotune else 0.3
        targets = []
        for k, row in enumerate(BATCH["next_observations"]):
            choice, log_prob = sac_sample(actor, row, next_noise[k])
            both = [mlp(c, np.concatenate([row, choice]))[0] for c in target]
            # The third transition is terminal, the second one only truncated.
            value = 0.0 if k == 2 else min(both) - alpha * log_prob
            targets.append(BATCH["rewards"][k] + 0.9 * value)
        critics = adams[1].step(critics, gradients(critic_loss(targets), critics))
        loss = partial(sac_actor_loss, critics=critics, alpha=alpha, noise=noise)
        if (number + 1) % policy_frequency == 0:
            log_prob = np.mean(sac_log_probs(actor, noise))
            actor = adams[0].step(actor, gradients(loss, actor))
            if autotune:
                # Two components: the target entropy is -2.
                slope = -np.exp(log_alpha) * (log_prob - 2)
                log_alpha = adams[2].step(log_alpha, slope)
        target = mixed(critics, target)

    after, metrics = updated(algorithm, state, 2)

    close(after.critics, critics)
    close(after.actor, actor)
    close(after.target_critics, target)
    close(after.log_alpha, log_alpha)
    assert int(after.updates) == 2
    assert metrics["losses/alpha"] == pytest.approx(1.0 if autotune else 0.3, abs=0.1)
    if policy_frequency == 2:  # one policy update
        assert metrics["losses/entropy"] == pytest.approx(-log_prob, rel=1e-3)


def test_target_networks_of_sac_wait_for_their_frequency() -> None:
    algorithm = SAC(**SMALL, target_network_frequency=3)
    state = algorithm.init(SPACES, seed=1)

    twice, _ = updated(algorithm, state, 2)
    thrice, _ = updated(algorithm, state, 3)

    for one, other in zip(
        jax.tree.leaves(twice.target_critics),
        jax.tree.leaves(state.critics),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)
    close(thrice.target_critics, mixed(thrice.critics, state.critics))


# -- TD3 -------------------------------------------------------------------------------


def td3_actor_loss(actor: Any, *, critic: Any) -> float:
    total = 0.0
    for row in BATCH["observations"]:
        choice = np.tanh(mlp(actor, row))
        total -= mlp(critic, np.concatenate([row, choice]))[0] / 4
    return total


@pytest.mark.parametrize(
    "discounts", [None, [0.9**3, 0.9, 0.9**3, 0.9**2]], ids=["1 step", "up to 3 steps"]
)
def test_updates_of_td3_equal_a_reference_in_numpy(discounts: Any) -> None:
    algorithm = TD3(
        **SMALL,
        learning_rate=0.01,
        policy_noise=0.8,
        noise_clip=0.5,
        policy_frequency=2,
    )
    state = larger(algorithm.init(SPACES, seed=3))
    # Targets that are far from the networks: it matters which of the two is used.
    state = state._replace(
        target_actor=jax.tree.map(lambda leaf: -leaf, state.actor),
        target_critics=jax.tree.map(lambda leaf: leaf / 2, state.critics),
    )
    actor, critics = doubled(state.actor), doubled(state.critics)
    target_actor, target = doubled(state.target_actor), doubled(state.target_critics)
    adams = Adam(0.01, actor), Adam(0.01, critics)
    losses = []
    for number in range(3):
        key = jax.random.wrap_key_data(state.key, impl="threefry2x32")
        drawn = jax.random.normal(jax.random.fold_in(key, number), (4, 2))
        noise = np.clip(0.8 * np.float64(drawn), -0.5, 0.5)
        assert (np.abs(noise) == 0.5).any()
        targets = []
        for k, row in enumerate(BATCH["next_observations"]):
            choice = np.clip(np.tanh(mlp(target_actor, row)) + noise[k], -1, 1)
            both = [mlp(c, np.concatenate([row, choice]))[0] for c in target]
            value = 0.0 if k == 2 else min(both)
            discount = discounts[k] if discounts else 0.9
            targets.append(BATCH["rewards"][k] + discount * value)
        losses.append(critic_loss(targets)(critics))
        critics = adams[1].step(critics, gradients(critic_loss(targets), critics))

        if number == 1:  # every second update
            loss = partial(td3_actor_loss, critic=critics[0])
            actor = adams[0].step(actor, gradients(loss, actor))
            target_actor = mixed(actor, target_actor)
            target = mixed(critics, target)

    batch = {**BATCH, "discounts": np.array(discounts)} if discounts else BATCH
    after, metrics, _ = algorithm.update(state, [batch] * 3)

    # The mean over both critics and three updates; the loss is that before an update.
    assert losses[0] > losses[-1]
    assert metrics["losses/qf_loss"] == pytest.approx(np.mean(losses) / 2, rel=1e-3)
    close(after.critics, critics)
    close(after.actor, actor)
    close(after.target_critics, target)
    close(after.target_actor, target_actor)


def test_td3_explores_with_clipped_noise_and_acts_greedily_without() -> None:
    algorithm = TD3(**SMALL, exploration_noise=0.5, learning_starts=0)
    weights = algorithm.weights(algorithm.init(SPACES, seed=1))
    inputs = ActInput(np.zeros((4000, 2), np.float32))
    random = np.random.Generator(np.random.PCG64(1))

    greedy = algorithm.act_greedy(weights, inputs).actions
    explored = algorithm.act(weights, inputs, random, 0.5).actions

    assert np.ptp(greedy, axis=0).max() == 0.0
    # The middle of the bounds: the actor of a new network is near 0.
    np.testing.assert_allclose(greedy[0], [0, 2], atol=0.05)
    choices = (explored - greedy[0]) / [1, 2]
    # Of a normal distribution with deviation 0.5, clipped at 2 deviations.
    np.testing.assert_allclose(choices.std(axis=0), 0.5 * 0.96, atol=0.02)
    assert explored.min(axis=0).tolist() == [-1, 0]
    assert explored.max(axis=0).tolist() == [1, 4]


# -- both ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [SAC, TD3])
def test_actions_are_uniform_before_learning_starts(kind: Any) -> None:
    algorithm = kind(
        num_envs=4, num_steps=5, total_timesteps=2_000, learning_starts=100
    )
    weights = algorithm.weights(algorithm.init(SPACES, seed=1))
    inputs = ActInput(np.zeros((5000, 2), np.float32))

    def spread(iteration: int) -> Any:
        random = np.random.Generator(np.random.PCG64(1))
        progress = (iteration - 1) / algorithm.iterations
        actions = algorithm.act(weights, inputs, random, progress).actions
        assert actions.dtype == np.float32
        assert all(SPACES.action.contains(row) for row in actions[:50])
        return actions.std(axis=0)

    # The first 5 iterations have 100 steps. The deviation of a uniform distribution is
    # its width divided by the root of 12.
    for iteration in (1, 5):
        expected = np.array([2, 4]) / np.sqrt(12)
        np.testing.assert_allclose(spread(iteration), expected, rtol=0.03)
    assert (spread(6) < 0.5 * np.array([2, 4]) / np.sqrt(12)).all()


@pytest.mark.parametrize("kind", [SAC, TD3])
def test_n_step_batches_bring_their_own_discounts(kind: Any) -> None:
    algorithm = kind(**SMALL, n_step=3)
    discounts = np.array([0.9**3, 0.9, 0.9**3, 0.9**2])

    columns = algorithm._columns({**BATCH, "discounts": discounts})

    assert columns["discounts"] == pytest.approx([0.9**3, 0.9, 0.0, 0.9**2])
    assert (algorithm.replay.n_step, algorithm.replay.gamma) == (3, 0.9)


@pytest.mark.parametrize(
    ("settings", "updates"),
    [
        ({}, 24),
        ({"gradient_steps": 3}, 72),
        ({"train_frequency": 4}, 6),
        ({"train_frequency": 48, "gradient_steps": 6}, 3),
        ({"train_frequency": 1000}, 1),
    ],
)
@pytest.mark.parametrize("kind", [SAC, TD3])
def test_replay_ratio_counts_the_steps_of_all_environments(
    kind: Any, settings: Any, updates: int
) -> None:
    algorithm = kind(num_envs=6, num_steps=4, **settings)
    assert algorithm.replay.updates == updates


def test_bounds_become_minus_one_and_one() -> None:
    space = gym.spaces.Box(
        np.array([[-1.0, 0.1, -3e38]]), np.array([[1.0, 0.7, 3e38]]), dtype=np.float64
    )
    limits = bounds(space)
    choices = np.float32([[-1, -1, -1], [1, 1, 1], [0, 0.5, 0]])

    actions = to_actions(choices, limits)

    assert actions.shape == (3, 1, 3)
    assert all(space.contains(action) for action in actions)
    np.testing.assert_allclose(actions[2, 0], [0, 0.55, 0], rtol=1e-6)
    np.testing.assert_allclose(to_choices(actions, limits), choices, atol=1e-6)


@pytest.mark.parametrize("kind", [SAC, TD3])
@pytest.mark.parametrize(
    ("action", "remedy"),
    [
        (gym.spaces.Discrete(2), "Use DQN or PPO"),
        (gym.spaces.Box(-np.inf, np.inf, (1,)), "Use PPO"),
        (gym.spaces.Box(0, np.inf, (1,)), "Use PPO"),
        (gym.spaces.Box(0, 9, (1,), np.int64), "Use a wrapper"),
    ],
)
def test_other_action_spaces_raise(kind: Any, action: Any, remedy: str) -> None:
    match = (
        f"action space must be a bounded Box of floats for {kind.name}, got.*{remedy}"
    )
    with pytest.raises(FlowError, match=match):
        kind().check_spaces(Spaces(SPACES.observation, action))


@pytest.mark.parametrize(
    ("kind", "change", "match"),
    [
        (SAC, {"tau": 0.0}, r"tau must be in \(0, 1\], got 0"),
        (SAC, {"batch_size": 0}, "batch_size must be at least 1, got 0"),
        (SAC, {"n_step": 0}, "n_step must be at least 1, got 0"),
        (SAC, {"gradient_steps": 0}, "gradient_steps must be at least 1, got 0"),
        (SAC, {"policy_frequency": 0}, "policy_frequency must be at least 1, got 0"),
        (SAC, {"alpha": -1.0}, "alpha must be 0 or more, got -1"),
        (TD3, {"train_frequency": 0}, "train_frequency must be above 0, got 0"),
        (TD3, {"policy_noise": -0.1}, "policy_noise must be 0 or more, got -0.1"),
    ],
)
def test_invalid_hyper_parameters_raise(kind: Any, change: Any, match: str) -> None:
    with pytest.raises(FlowError, match=match):
        kind(**change)


@pytest.mark.parametrize("kind", [SAC, TD3])
@pytest.mark.parametrize("progress", [0.0, 0.5])
def test_persistent_noise_lasts_as_long_as_declared(kind: Any, progress: float) -> None:
    count = 400
    algorithm = kind(**SMALL, noise_persistence=0.9, learning_starts=100)
    weights = algorithm.weights(algorithm.init(SPACES, seed=1))
    random = np.random.Generator(np.random.PCG64(1))
    memory = algorithm.initial_memory(SPACES, count)
    observations = np.zeros((count, 2), np.float32)
    steps = []
    for _ in range(60):
        inputs = ActInput(observations, memory=memory)
        output = algorithm.act(weights, inputs, random, progress)
        memory = output.memory
        steps.append(output.actions)

    changed = (np.diff(steps, axis=0) != 0).all(axis=2)
    assert changed.mean() == pytest.approx(0.1, abs=0.01)
    # An environment in which an episode begins draws noise of its own at once.
    assert len(np.unique(steps[0][:, 0])) > count / 2
    assert not (steps[0] == algorithm.act_greedy(weights, inputs).actions).any()
    assert algorithm.act_greedy(weights, inputs).memory is inputs.memory


def test_independent_noise_needs_no_memory() -> None:
    assert SAC().initial_memory(SPACES, 3) is None
    with pytest.raises(
        FlowError, match=r"noise_persistence must be in \[0, 1\), got 1"
    ):
        SAC(noise_persistence=1.0)


def test_sac_learns_from_images_with_the_same_bits_for_any_workers() -> None:
    actions = gym.spaces.Box(-1, 1, (2,), np.float32)
    task = replace(lasting(SAC_TASK, 4), env=partial(Pixels, actions), eval_every=0)

    weights, iterations = trained(task, workers=1)

    assert iterations[-1].metrics is not None
    assert trained(task, workers=2) == (weights, iterations)
    actor = task.algorithm.init(task.spaces, 1).actor
    assert actor[0]["w"].ndim == 4  # a convolution comes first


# -- normalized observations -----------------------------------------------------------

NEW = np.float32([[3, 1], [-2, 5], [0, 0], [4, -1]])
SWITCH = Spaces(SPACES.observation, gym.spaces.Discrete(2))


@pytest.mark.parametrize("kind", [SAC, TD3, DQN])
def test_statistics_are_those_of_all_drawn_observations(kind: Any) -> None:
    discrete = kind is DQN
    algorithm = kind(norm_obs=True, hidden=(3,), batch_size=4)
    state = algorithm.init(SWITCH if discrete else SPACES, seed=1)
    actions = {"actions": np.array([0, 1, 1, 0])} if discrete else {}
    first, second = {**BATCH, **actions}, {**BATCH, **actions, "observations": NEW}

    weights = algorithm.weights(state)
    np.testing.assert_array_equal(weights["mean"], [0, 0])
    np.testing.assert_allclose(weights["scale"], [1, 1])
    state = algorithm.update(state, [first, second])[0]
    state = algorithm.update(state, [first])[0]

    rows = np.concatenate([BATCH["observations"], NEW, BATCH["observations"]])
    assert float(state.statistics.count) == 12
    np.testing.assert_allclose(state.statistics.mean, rows.mean(0), rtol=1e-6)
    np.testing.assert_allclose(state.statistics.variance, rows.var(0), rtol=1e-5)
    weights = algorithm.weights(state)
    np.testing.assert_allclose(weights["scale"], 1 / rows.std(0), rtol=1e-5)


@pytest.mark.parametrize("kind", [SAC, TD3, DQN])
def test_networks_learn_and_act_on_normalized_observations(kind: Any) -> None:
    discrete = kind is DQN
    options: Any = {"hidden": (3,), "batch_size": 4}
    plain, algorithm = kind(**options), kind(**options, norm_obs=True)
    spaces = SWITCH if discrete else SPACES
    state = algorithm.init(spaces, seed=1)
    batch: Any = {**BATCH}
    if discrete:
        batch["actions"] = np.array([0, 1, 1, 0])

    after = algorithm.update(state, [batch])[0]

    # The same update without normalization, of observations that were normalized.
    rows = BATCH["observations"]
    mean, std = rows.mean(0), np.sqrt(rows.var(0) + 1e-8)
    for name in ("observations", "next_observations"):
        batch[name] = ((BATCH[name] - mean) / std).astype(np.float32)
    expected = plain.update(plain.init(spaces, seed=1), [batch])[0]
    name = "params" if discrete else "critics"
    close(getattr(after, name), getattr(expected, name))
    seen = ActInput(NEW), ActInput(((NEW - mean) / std).astype(np.float32))
    found, due = (
        a.act_greedy(a.weights(s), inputs).actions
        for a, s, inputs in zip(
            (algorithm, plain), (after, expected), seen, strict=True
        )
    )
    np.testing.assert_allclose(found, due, rtol=1e-3, atol=1e-4)


def test_normalized_observations_are_clipped() -> None:
    algorithm = TD3(norm_obs=True, hidden=(3,), batch_size=4)
    state = larger(algorithm.init(SPACES, seed=1))
    state = algorithm.update(state, [BATCH])[0]
    far = np.float32([[1e6, -1e6], [1e9, -1e9]])

    actions = algorithm.act_greedy(algorithm.weights(state), ActInput(far)).actions

    np.testing.assert_array_equal(actions[0], actions[1])


def test_learners_of_a_parameter_server_cannot_normalize() -> None:
    algorithm = DQN(norm_obs=True, num_envs=8, num_steps=6, train_frequency=48)
    with pytest.raises(FlowError, match="norm_obs must be False with learners=2"):
        algorithm.task("CartPole-v1", learners=2)
