# SPDX-License-Identifier: Apache-2.0
"""A learner in PyTorch: reproducible, and isolated from what it sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch has no build for this Python here")

from reactorl.rl import ActOutput, Flow, ReplayConfig, TorchAlgorithm  # noqa: E402
from tests.rl.trained import bits  # noqa: E402


@dataclass(frozen=True, kw_only=True)
class TorchQ(TorchAlgorithm):
    """Q-learning with one layer."""

    lag: int = 0

    @property
    def replay(self) -> ReplayConfig:
        return ReplayConfig(capacity=400, batch_size=16, updates=3, starts_at=1)

    def make_module(self, spaces: Any) -> Any:
        return torch.nn.Linear(spaces.observation.shape[0], spaces.action.n)

    def loss(self, module: Any, batch: dict[str, Any]) -> Any:
        with torch.no_grad():
            later = module(batch["next_observations"]).max(dim=1).values
            non_terminal = (~batch["terminations"]).float()
            targets = batch["rewards"].float() + 0.9 * non_terminal * later
        chosen = module(batch["observations"]).gather(1, batch["actions"][:, None])
        return ((chosen[:, 0] - targets) ** 2).mean()

    def act(self, weights: Any, inputs: Any, random: Any, progress: float) -> Any:
        greedy = self.act_greedy(weights, inputs).actions
        anything = random.integers(2, size=len(greedy))
        explore = random.random(len(greedy)) < 0.3
        return ActOutput(np.where(explore, anything, greedy))

    def act_greedy(self, weights: Any, inputs: Any) -> Any:
        values = inputs.observations @ weights["weight"].T + weights["bias"]
        return ActOutput(np.argmax(values, axis=1))


BATCH = {
    "observations": np.ones((2, 4), np.float32),
    "actions": np.array([0, 1]),
    "rewards": np.ones(2),
    "next_observations": np.ones((2, 4), np.float32),
    "terminations": np.array([False, True]),
}


def task(lag: int = 0) -> Flow:
    algorithm = TorchQ(num_envs=4, num_steps=5, total_timesteps=8 * 20, lag=lag)
    return Flow("CartPole-v1", algorithm, rollouts=2, eval_every=0)


@pytest.mark.parametrize("lag", [0, 1])
def test_weights_are_bit_identical_for_any_workers_and_after_a_stop(lag: int) -> None:
    found = {bits(task(lag).run(workers=workers)) for workers in (1, 2, 4)}
    with task(lag).start(workers=2) as run:
        for _ in range(3):
            run.step()
        saved = run.save()
    with task(lag).start(saved=saved) as run:
        list(run.iterations())
        found.add(bits(run.weights))
    assert len(found) == 1


def test_learner_uses_one_thread_and_restores_the_number_of_threads() -> None:
    seen = []

    class Noting(TorchQ):
        def loss(self, module: Any, batch: Any) -> Any:
            seen.append(torch.get_num_threads())
            return super().loss(module, batch)

    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        algorithm = Noting()
        state = algorithm.init(task().spaces, seed=1)
        algorithm.update(state, [BATCH])
        after = torch.get_num_threads()
    finally:
        torch.set_num_threads(before)

    assert seen == [1]
    assert after == 3


def test_sent_weights_do_not_change_with_the_module() -> None:
    algorithm = TorchQ()
    state = algorithm.init(task().spaces, seed=1)
    weights = algorithm.weights(state)
    before = bits(weights)
    state, metrics, _ = algorithm.update(state, [BATCH])
    assert bits(weights) == before
    assert bits(algorithm.weights(state)) != before
    assert metrics["losses/loss"] > 0
    with pytest.raises(ValueError, match="read-only"):
        weights["bias"][0] = 1


def test_initial_weights_depend_on_the_seed_only() -> None:
    algorithm, spaces = TorchQ(), task().spaces
    torch.manual_seed(7)
    one = bits(algorithm.weights(algorithm.init(spaces, seed=1)))
    drawn = torch.rand(1).item()
    torch.manual_seed(8)
    other = bits(algorithm.weights(algorithm.init(spaces, seed=1)))
    assert one == other
    torch.manual_seed(7)
    assert torch.rand(1).item() == drawn  # the global generator was left alone
