# SPDX-License-Identifier: Apache-2.0
"""A learner in PyTorch gives the same bits on any number of workers, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch has no build for this Python here")

from reactorl.rl.algorithms.torch import TorchAlgorithm  # noqa: E402
from reactorl.rl.flow.flow import Flow, Run  # noqa: E402
from reactorl.rl.flow.replay import ReplayConfig  # noqa: E402


class TorchQ(TorchAlgorithm):
    """Q-learning with one layer."""

    def make_module(self, spaces: Any) -> Any:
        return torch.nn.Linear(spaces.observation.shape[0], spaces.action.n)

    def loss(self, module: Any, batch: dict[str, Any]) -> Any:
        with torch.no_grad():
            later = module(batch["next_observations"]).max(dim=1).values
            goes_on = (~batch["terminations"]).float()
            wanted = batch["rewards"].float() + 0.9 * goes_on * later
        chosen = module(batch["observations"]).gather(1, batch["actions"][:, None])
        return ((chosen[:, 0] - wanted) ** 2).mean()

    def act(self, weights: Any, observations: Any, random: Any, progress: float) -> Any:
        anything = random.integers(2, size=len(observations))
        explore = random.random(len(observations)) < 0.3
        return np.where(explore, anything, self.act_best(weights, observations)), {}

    def act_best(self, weights: Any, observations: Any) -> Any:
        return np.argmax(observations @ weights["weight"].T + weights["bias"], axis=1)


def flow(lag: int = 0) -> Flow:
    replay = ReplayConfig(capacity=400, batch_size=16, updates=3, starts_at=1)
    return Flow(
        "CartPole-v1",
        TorchQ(),
        num_envs=4,
        rollouts=2,
        steps=5,
        rounds=8,
        replay=replay,
        lag=lag,
    )


def bits(weights: Any) -> bytes:
    return b"".join(weights[name].tobytes() for name in sorted(weights))


@pytest.mark.parametrize("lag", [0, 1])
def test_the_same_bits_for_any_number_of_workers_and_after_a_stop(lag: int) -> None:
    found = {bits(flow(lag).run(workers=workers)) for workers in (1, 2, 4)}
    with Run(flow(lag), workers=2) as run:
        for _ in range(3):
            run.step()
        saved = run.save()
    with Run(flow(lag), saved=saved) as run:
        list(run.rounds())
        found.add(bits(run.weights))
    assert len(found) == 1


def test_what_was_sent_does_not_change_with_the_module() -> None:
    algorithm = TorchQ()
    state = algorithm.begin(flow().spaces, seed=1)
    weights = algorithm.weights(state)
    before = bits(weights)
    batch = {
        "observations": np.ones((2, 4), np.float32),
        "actions": np.array([0, 1]),
        "rewards": np.ones(2),
        "next_observations": np.ones((2, 4), np.float32),
        "terminations": np.array([False, True]),
    }
    state, metrics, _ = algorithm.update(state, [batch])
    assert bits(weights) == before
    assert bits(algorithm.weights(state)) != before
    assert metrics["losses/loss"] > 0
    with pytest.raises(ValueError, match="read-only"):
        weights["bias"][0] = 1


def test_the_seed_alone_decides_the_first_weights() -> None:
    algorithm, spaces = TorchQ(), flow().spaces
    torch.manual_seed(7)
    one = bits(algorithm.weights(algorithm.begin(spaces, seed=1)))
    drawn = torch.rand(1).item()
    torch.manual_seed(8)
    other = bits(algorithm.weights(algorithm.begin(spaces, seed=1)))
    assert one == other
    torch.manual_seed(7)
    assert torch.rand(1).item() == drawn  # the global generator was left alone
