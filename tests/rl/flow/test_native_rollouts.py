# SPDX-License-Identifier: Apache-2.0
"""Rollouts and evaluations in native code give the bits of steps in Python."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from reactorl import drive, msec
from reactorl.rl import DQN, IMPALA, PPO, Flow, apply_mlp
from reactorl.rl.checkpoint.registry import StateRegistry
from reactorl.rl.envs.factory import Recipe
from reactorl.rl.envs.native import _bodies
from reactorl.rl.envs.native.shard import NativeShard
from reactorl.rl.envs.shard_factory import ShardFactory
from reactorl.rl.flow import native_stepping
from reactorl.rl.flow.evaluation import play
from reactorl.rl.flow.rollout import Rollout, RolloutPlan
from reactorl.rl.flow.shard_envs import EvaluationEnvs
from tests.rl.trained import same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reactorl.rl.flow.algorithm import Algorithm

CASES: dict[str, tuple[str, Algorithm]] = {
    "ppo CartPole": ("CartPole-v1", PPO()),
    "ppo CartPole normalized": ("CartPole-v1", PPO(norm_obs=True, hidden=(5,))),
    "ppo CartPole shared relu": (
        "CartPole-v1",
        PPO(shared_trunk=True, activation="relu", hidden=(16, 9)),
    ),
    "ppo without hidden layers": ("CartPole-v1", PPO(hidden=())),
    "impala MountainCar": ("MountainCar-v0", IMPALA()),
    "ppo Pendulum": ("Pendulum-v1", PPO(norm_obs=True)),
    "ppo MountainCarContinuous": ("MountainCarContinuous-v0", PPO(hidden=(8,))),
    "ppo Acrobot": ("Acrobot-v1", PPO()),
    "ppo FrozenLake": ("FrozenLake-v1", PPO()),
    "ppo Blackjack": ("Blackjack-v1", PPO(norm_obs=True)),
    "ppo Taxi": ("Taxi-v4", PPO(hidden=(8,))),
    "dqn CartPole": ("CartPole-v1", DQN(end_e=0.5)),
    "dqn Taxi": ("Taxi-v4", DQN(hidden=(8,), start_e=0.5, norm_obs=True)),
    "dqn dueling": ("CartPole-v1", DQN(dueling=True, hidden=(8, 8))),
}
RECURRENT: dict[str, tuple[str, Algorithm]] = {
    "ppo gru": ("CartPole-v1", PPO(recurrent="gru", recurrent_size=4)),
}


def task(name: str, limit: int | None = None) -> Flow:
    env_id, algorithm = (CASES | RECURRENT)[name]
    return Flow(env_id, algorithm, time_limit=limit)


@dataclass
class Count:
    """How often rollouts were native, and how often that was refused."""

    native: int = 0
    refused: int = 0
    decide: Callable[[], bool] = field(default=lambda: True)


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> Iterator[Count]:
    found = Count()
    original = native_stepping.native_stepping

    def counted(*args: Any) -> Any:
        if not found.decide():
            found.refused += 1
            return None
        made = original(*args)
        found.native += made is not None
        return made

    monkeypatch.setattr(native_stepping, "native_stepping", counted)
    monkeypatch.setattr("reactorl.rl.flow.shard_envs.native_stepping", counted)
    return found


def collected(
    name: str,
    *,
    seed: int = 3,
    num_envs: int = 3,
    num_steps: int = 11,
    iterations: int = 3,
    limit: int | None = None,
    native: Any = "auto",
) -> tuple[list[Any], Any]:
    """Return the trajectories of a rollout as plain data, and its state after them."""
    flow = task(name, limit)
    algorithm = flow.algorithm
    weights = algorithm.weights(algorithm.init(flow.spaces, seed))
    registry = StateRegistry()
    plan = RolloutPlan(
        ShardFactory(flow.maker, native=native),
        flow.spaces,
        algorithm,
        num_envs,
        num_steps,
        2 * iterations,
        weights,
        seed,
        registry,
    )
    trajectories = []
    with drive(Rollout(plan=plan), seed=seed) as session:
        for iteration in range(1, iterations + 1):
            found = session.step(iteration=iteration, after=msec(1)).trajectory
            trajectories.append(found.serialize())
        state = registry.save()
    return trajectories, state


@pytest.mark.parametrize("name", [*CASES, *RECURRENT])
def test_rollouts_are_bit_identical(name: str, count: Count) -> None:
    options: dict[str, Any] = {"num_steps": 40, "limit": 17}
    in_loop = collected(name, **options)
    assert bool(count.native) is (name not in (*RECURRENT, "dqn dueling"))
    count.decide = lambda: False
    step_by_step = collected(name, **options)
    assert count.refused
    in_python = collected(name, native=False, **options)

    assert same(in_loop[0], step_by_step[0])
    assert same(in_loop[0], in_python[0])
    assert same(in_loop[1], step_by_step[1])
    assert any(trajectory["episodes"] for trajectory in in_loop[0])


@given(
    name=st.sampled_from(sorted(CASES)),
    seed=st.integers(0, 2**31),
    num_envs=st.integers(1, 6),
    num_steps=st.integers(1, 20),
    limit=st.integers(1, 30),
    refused=st.sets(st.integers(0, 60)),
)
@hypothesis_settings(max_examples=12)
def test_any_mixture_of_native_and_python_steps(
    name: str, seed: int, num_envs: int, num_steps: int, limit: int, refused: set[int]
) -> None:
    """Bodies that leave a step to Python, at any time, change nothing."""
    options: dict[str, Any] = {
        "seed": seed,
        "num_envs": num_envs,
        "num_steps": num_steps,
        "limit": limit,
    }
    expected = collected(name, native=False, **options)
    calls = iter(range(10**9))
    ready = NativeShard.ready

    def sometimes(self: NativeShard) -> Any:
        if next(calls) in refused:
            self.release(0)
            return None
        return ready(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NativeShard, "ready", sometimes)
        found = collected(name, **options)
    assert same(found, expected)


def test_a_step_that_a_body_leaves_is_finished_in_python(
    count: Count, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Acrobot's resets are Python's: those steps are finished there."""
    finished = []
    finish = NativeShard.finish

    def noted(self: NativeShard, *args: Any) -> Any:
        finished.append(args)
        return finish(self, *args)

    monkeypatch.setattr(NativeShard, "finish", noted)
    collected("ppo Acrobot", num_steps=40, limit=17)
    assert count.native
    assert finished


@pytest.mark.parametrize("name", ["ppo CartPole", "ppo Pendulum", "ppo Taxi"])
def test_evaluations_are_bit_identical(name: str, count: Count) -> None:
    def played(native: Any, longest: int) -> list[Any]:
        flow = task(name, 40)
        algorithm = flow.algorithm
        weights = algorithm.weights(algorithm.init(flow.spaces, 5))
        shards = ShardFactory(flow.maker, native=native)
        return play(
            lambda number: EvaluationEnvs(
                shards, flow.spaces, number, algorithm, longest
            ),
            weights,
            episodes=7,
            seed=11,
        )

    for longest in (1000, 13):
        in_loop = played("auto", longest)
        assert count.native
        assert in_loop == played(native=False, longest=longest)
        count.decide = lambda: False
        assert in_loop == played("auto", longest)
        count.decide = lambda: True


class Constant(PPO):
    """Acts in another way."""

    def act(self, weights: Any, inputs: Any, random: Any, progress: float) -> Any:
        output = super().act(weights, inputs, random, progress)
        output.actions[:] = 1
        return output


def test_algorithms_that_act_otherwise_do_it_in_python(count: Count) -> None:
    CASES["constant"] = ("CartPole-v1", Constant())
    try:
        trajectories, _ = collected("constant", num_steps=5)
    finally:
        del CASES["constant"]
    assert count.native == 0
    assert all((each["columns"]["actions"] == 1).all() for each in trajectories)


def test_wrappers_and_timeouts_are_left_to_python(count: Count) -> None:
    wrapped = Flow(lambda: Recipe.of("CartPole-v1")(), PPO())
    assert wrapped.shards.make(2, _same_step()).native is None
    flow = task("ppo CartPole")
    shard = ShardFactory(flow.maker, native="auto", timeout=5.0).make(2, _same_step())
    shard.open()
    try:
        assert shard.native is None
    finally:
        shard.close()
    assert count.native == 0


def _same_step() -> Any:
    from gymnasium.vector import AutoresetMode

    return AutoresetMode.SAME_STEP


# -- the forward pass -----------------------------------------------------------------


def network(seed: int, sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    random = np.random.Generator(np.random.PCG64(seed))
    return [
        {
            "w": (random.standard_normal((a, b)) / np.sqrt(a)).astype(np.float32),
            "b": random.standard_normal(b).astype(np.float32),
        }
        for a, b in pairwise(sizes)
    ]


def applied(layers: Any, rows: Any, hidden: str = "tanh") -> Any:
    found = np.empty((len(rows), len(layers[-1]["b"])), np.float32)
    assert _bodies.apply_layers(layers, rows, found, hidden, "none")
    return found


@given(
    seed=st.integers(0, 2**31),
    sizes=st.lists(st.integers(1, 40), min_size=2, max_size=4),
    splits=st.lists(st.integers(1, 40), min_size=1, max_size=6),
    hidden=st.sampled_from(["tanh", "relu", "none"]),
)
@hypothesis_settings(max_examples=60)
def test_bits_of_a_row_do_not_depend_on_its_batch(
    seed: int, sizes: list[int], splits: list[int], hidden: str
) -> None:
    layers = network(seed, tuple(sizes))
    random = np.random.Generator(np.random.PCG64(seed))
    rows = random.standard_normal((sum(splits), sizes[0])).astype(np.float32)

    whole = applied(layers, rows, hidden)
    ends = np.cumsum(splits)
    parts = [
        applied(layers, rows[end - size : end], hidden)
        for end, size in zip(ends, splits, strict=True)
    ]

    assert np.concatenate(parts).tobytes() == whole.tobytes()


@pytest.mark.parametrize("sizes", [(4, 64, 64, 2), (3, 5, 1), (500, 64, 6), (7, 33)])
def test_outputs_are_those_of_exact_arithmetic(sizes: tuple[int, ...]) -> None:
    layers = network(1, sizes)
    random = np.random.Generator(np.random.PCG64(2))
    rows = random.standard_normal((50, sizes[0])).astype(np.float32)
    exact = rows.astype(np.float64)
    for place, layer in enumerate(layers):
        exact = exact @ layer["w"] + layer["b"]
        if place < len(layers) - 1:
            exact = np.tanh(exact)
    np.testing.assert_allclose(applied(layers, rows), exact, rtol=0, atol=2e-5)


def test_sums_are_in_the_order_of_the_inputs() -> None:
    random = np.random.Generator(np.random.PCG64(3))
    layers = network(4, (37, 11))
    rows = random.standard_normal((9, 37)).astype(np.float32)
    expected = np.tile(layers[0]["b"], (9, 1))
    for place in range(37):
        expected = expected + rows[:, place : place + 1] * layers[0]["w"][place]
    assert applied(layers, rows).tobytes() == expected.tobytes()


def test_tanh_is_near_for_all_numbers() -> None:
    layers = [{"w": np.ones((1, 1), np.float32), "b": np.zeros(1, np.float32)}]
    layers = [*layers, *layers]
    numbers = np.linspace(-12, 12, 100_001).astype(np.float32)
    special = np.float32([np.inf, -np.inf, np.nan, 0.0, 1e-30, -1e30])
    found = applied(layers, np.concatenate([numbers, special])[:, None])[:, 0]

    exact = np.tanh(numbers.astype(np.float64))
    units = np.abs(found[:-6] - exact) / np.spacing(np.abs(exact).astype(np.float32))
    assert np.nanmax(units[numbers != 0]) < 6
    np.testing.assert_array_equal(found[-6:], np.float32([1, -1, np.nan, 0, 1e-30, -1]))


def test_weights_in_any_order_of_memory() -> None:
    layers = network(1, (3, 4, 2))
    rows = np.ones((2, 3), np.float32)
    turned = [{"w": np.asfortranarray(x["w"]), "b": x["b"]} for x in layers]
    expected = applied(layers, rows).tobytes()
    assert apply_mlp(turned, rows, np, "tanh").tobytes() == expected
    assert apply_mlp(turned, rows[::-1], np, "tanh").tobytes() == expected


def test_arrays_of_other_dtypes_are_computed_in_numpy() -> None:
    layers = network(1, (3, 4, 2))
    rows = np.ones((2, 3))
    found = np.empty((2, 2), np.float32)
    assert not _bodies.apply_layers(layers, rows, found, "tanh", "none")
    expected = applied(layers, rows.astype(np.float32))
    given_back = apply_mlp(layers, rows, np, "tanh")
    assert given_back.dtype == np.float64
    np.testing.assert_allclose(given_back, expected, rtol=1e-5)
