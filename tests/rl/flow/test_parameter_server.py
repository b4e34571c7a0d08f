# SPDX-License-Identifier: Apache-2.0
"""A parameter server equals a loop over its learners."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from reactorl.rl import DQN, FlowError, QLearning
from reactorl.rl.flow.parameter_server import GradientLearner, mean_of
from tests.rl.contract.tasks import DQN_TASK
from tests.rl.trained import bits, trained, tuned

ONE = tuned(DQN_TASK, train_frequency=48, target_network_frequency=144, anneal_lr=False)
TWO = replace(ONE, learners=2)


@pytest.mark.parametrize(
    "change",
    [{}, {"lag": 1}, {"priority": 0.6}],
    ids=["synchronous", "lag 1", "prioritised"],
)
def test_one_learner_with_a_server_equals_one_without(
    change: dict[str, Any],
) -> None:
    flow = tuned(ONE, **change)
    with flow.start() as alone, replace(flow, learners=1).start() as served:
        for _ in range(flow.iterations):
            ours, theirs = served.step(), alone.step()
            assert ours.episodes == theirs.episodes
            assert ours.metrics == theirs.metrics
        assert bits(served.weights) == bits(alone.weights)
        # The first iteration has too few steps.
        assert int(served.state.updates) == 7 - flow.algorithm.lag


def test_two_learners_equal_a_loop_that_averages_gradients() -> None:
    batches: list[Any] = []

    class Noting(DQN):
        def gradients(self, state: Any, batch: Any) -> Any:
            batches.append(batch)
            return super().gradients(state, batch)

    values = {f.name: getattr(TWO.algorithm, f.name) for f in fields(DQN)}
    algorithm = Noting(**values)
    with replace(TWO, algorithm=algorithm).start(workers=1) as run:
        list(run.iterations())
        found = run.state

    # A loop with nothing of ours but the loss and the weights to begin with.
    params = target = algorithm.init(TWO.spaces, TWO.seed).params
    adam = optax.flatten(optax.adam(algorithm.learning_rate))
    memory = adam.init(params)
    gradient = jax.jit(jax.grad(lambda p, t, b: algorithm.loss(p, t, b)[0]))

    @jax.jit
    def step(mean: Any, memory: Any, params: Any) -> Any:
        changes, memory = adam.update(mean, memory, params)
        return jax.tree.map(jnp.add, params, changes), memory

    assert len(batches) == 2 * 7
    assert not np.array_equal(batches[0]["observations"], batches[1]["observations"])
    for number in range(7):
        first, second = (
            gradient(
                params,
                target,
                {
                    "observations": batch["observations"],
                    "actions": batch["actions"],
                    "rewards": batch["rewards"].astype(np.float32),
                    "next_observations": batch["next_observations"],
                    "non_terminal": 1 - batch["terminations"].astype(np.float32),
                    "importance": np.ones(8, np.float32),
                },
            )
            for batch in batches[2 * number : 2 * number + 2]
        )
        mean = jax.tree.map(lambda a, b: (a + b) / 2, first, second)
        params, memory = step(mean, memory, params)
        if (number + 1) % 3 == 0:
            target = params
    for ours, theirs in ((found.params, params), (found.target, target)):
        for mine, plain in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(mine["w"], plain["w"])
            np.testing.assert_array_equal(mine["b"], plain["b"])


def test_gradients_and_the_step_equal_hand_computed_numbers() -> None:
    """The network of the test of DQN's update: one layer, two actions."""
    algorithm = DQN(hidden=(), learning_rate=0.1, gamma=0.5, anneal_lr=False)
    w = np.array([[1.0, 2.0], [0.5, -1.0]], np.float32)
    layers = [{"w": w, "b": np.zeros(2, np.float32)}]
    state = algorithm.init(ONE.spaces, seed=1)._replace(params=layers, target=layers)
    state = state._replace(optimiser=algorithm._optimiser.init(layers))
    batch = {
        "observations": np.array([[1.0, 0.0], [0.0, 1.0]], np.float32),
        "actions": np.array([0, 1]),
        "rewards": np.array([1.0, 0.0]),
        "next_observations": np.array([[0.0, 1.0], [1.0, 0.0]], np.float32),
        "terminations": np.array([False, True]),
    }

    # Errors are -0.25 and -1; Their gradient is the error; of two rows each
    # counts half. Row 0 is about action 0 and input 0, row 1 about the others.
    gradients, metrics, errors = algorithm.gradients(state, batch)
    np.testing.assert_allclose(errors, [-0.25, -1.0], rtol=1e-6)
    np.testing.assert_allclose(gradients[0]["w"], [[-0.125, 0], [0, -0.5]], rtol=1e-6)
    np.testing.assert_allclose(gradients[0]["b"], [-0.125, -0.5], rtol=1e-6)
    assert metrics["losses/td_loss"] == pytest.approx((0.03125 + 0.5) / 2)
    with pytest.raises(ValueError, match="read-only"):
        gradients[0]["w"][0, 0] = 1

    # Another learner found the opposite for one of them: nothing is left of it, and
    # Adam's first step is 0.1 against the sign of the rest.
    other = [{"w": np.float32([[0.125, 0], [0, 0]]), "b": np.float32([0, 0])}]
    after = algorithm.apply(state, mean_of([gradients, other]))
    np.testing.assert_allclose(
        after.params[0]["w"], [[1.0, 2.0], [0.5, -0.9]], rtol=1e-5
    )
    np.testing.assert_allclose(after.params[0]["b"], [0.1, 0.1], rtol=1e-5)
    assert int(after.updates) == 1


def test_gradients_are_summed_in_the_order_of_learners() -> None:
    big, small = np.float32([1e8]), np.float32([1.0])
    parts = [{"w": [big], "t": (1.0,)}, {"w": [small], "t": (2.0,)}]
    parts.append({"w": [-big], "t": (6.0,)})

    found = mean_of(parts)

    assert found["t"] == (3.0,)
    assert found["w"][0].dtype == np.float32
    assert found["w"][0].tolist() == [0.0]  # (1e8 + 1) - 1e8, in float32
    assert mean_of([parts[0], parts[2], parts[1]])["w"][0] == np.float32(1) / 3


def test_learners_are_independent_within_an_iteration() -> None:
    program = replace(ONE, learners=3).program()
    names = {program.reaction_name(r.id): r.id for r in program.reactions}
    computing = {names[f"main.learner[{k}].compute"] for k in range(3)}
    for each in computing:
        after, more = set(), set(program.order.downstream[each])
        while more - after:
            after |= more
            more = {o for i in after for o in program.order.downstream[i]}
        assert not after & computing
        assert names["main.server.learn"] in after


def test_a_learner_can_be_replaced() -> None:
    seen = []

    class Counting(GradientLearner):
        def setup(self) -> None:
            super().setup()
            seen.append(self.bank_index)

    flow = replace(TWO, parts={"learner": Counting})
    assert trained(flow)[0] == trained(TWO)[0]
    assert sorted(seen) == [0, 1]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"learners": 0}, "learners must be at least 1, or None, got 0"),
        (
            {"algorithm": QLearning(num_envs=8), "env": "FrozenLake-v1"},
            "learners must be None for Q-learning, got 2. Its update cannot be split",
        ),
        (
            {"algorithm": replace(ONE.algorithm, train_frequency=16)},
            "updates per iteration must be 1 with learners=2, got 3. For DQN, set "
            "train_frequency=48",
        ),
    ],
)
def test_invalid_numbers_of_learners_raise(change: dict[str, Any], match: str) -> None:
    with pytest.raises(FlowError, match=match):
        replace(TWO, **change)
