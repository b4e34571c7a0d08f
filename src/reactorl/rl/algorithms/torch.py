# SPDX-License-Identifier: Apache-2.0
"""A learner written with PyTorch: its module changes in place, what it sends does not.

Torch changes weights where they are. The module and the optimiser therefore belong to
the learner's reactor alone; what leaves it is a copy that nobody changes. Write a
subclass with the network, the loss and how to act, and give it to a ``Flow``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from reactorl.rl._public import public

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.flow.algorithm import (
        Array,
        Batch,
        Metrics,
        Random,
        Spaces,
        Weights,
    )


@dataclass
class TorchState:
    """What the learner has; only its reactor touches it."""

    module: torch.nn.Module
    optimiser: torch.optim.Optimizer


@public
class TorchAlgorithm:
    """An algorithm whose learner is a Torch module.

    How many threads Torch computes with can change its results: they are pinned to one
    while it learns.
    """

    name = "Torch"
    uses_replay = True

    # -- what a subclass says ---------------------------------------------------------

    def make_module(self, spaces: Spaces) -> torch.nn.Module:
        """Return the network; it is called with a seeded generator."""
        raise NotImplementedError

    def make_optimiser(self, module: torch.nn.Module) -> torch.optim.Optimizer:
        """Return the optimiser; Adam with its own settings if not overridden."""
        return torch.optim.Adam(module.parameters())

    def loss(self, module: torch.nn.Module, batch: dict[str, torch.Tensor]) -> Any:  # noqa: ANN401
        """Return the loss of a batch, as a tensor."""
        raise NotImplementedError

    def act(
        self, weights: Weights, observations: Array, random: Random, progress: float
    ) -> tuple[Array, Batch]:
        """Act with a copy of the weights: arrays by their names in the module."""
        raise NotImplementedError

    def act_best(self, weights: Weights, observations: Array) -> Array:
        """Act without exploring."""
        raise NotImplementedError

    def check(self, spaces: Spaces) -> None:
        """Refuse spaces that it cannot use; none, if not overridden."""

    # -- what follows from it ---------------------------------------------------------

    def begin(self, spaces: Spaces, seed: int) -> TorchState:
        """Return the learner before the first update."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            module = self.make_module(spaces)
        return TorchState(module, self.make_optimiser(module))

    def weights(self, state: TorchState) -> Weights:
        """Return a copy of all weights, read-only, by name."""
        found = {}
        for name, tensor in state.module.state_dict().items():
            array = tensor.detach().cpu().numpy().copy()
            array.flags.writeable = False
            found[name] = array
        return found

    def update(
        self, state: TorchState, batches: Sequence[Batch]
    ) -> tuple[TorchState, Metrics, None]:
        """Learn from batches, one after the other."""
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            losses = [self._learn(state, batch) for batch in batches]
        finally:
            torch.set_num_threads(threads)
        return state, {"losses/loss": sum(losses) / len(losses)}, None

    def _learn(self, state: TorchState, batch: Batch) -> float:
        # A copy: what a batch holds belongs to everybody who received it.
        tensors = {
            name: torch.from_numpy(np.array(values)) for name, values in batch.items()
        }
        loss = self.loss(state.module, tensors)
        state.optimiser.zero_grad()
        loss.backward()
        state.optimiser.step()
        return float(loss.detach())

    def saved(self, state: TorchState) -> Data:
        """Return module and optimiser as plain data."""
        return {
            "module": self.weights(state),
            "optimiser": _told(state.optimiser.state_dict()),
        }

    def restored(self, like: TorchState, data: Data) -> TorchState:
        """Put module and optimiser into a saved state."""
        module = {n: torch.from_numpy(np.array(v)) for n, v in data["module"].items()}
        like.module.load_state_dict(module)
        like.optimiser.load_state_dict(_heard(data["optimiser"]))
        return like


_INT = "int:"
"""Before a key that is a number: plain data has keys that are strings."""


def _told(value: Any) -> Data:  # noqa: ANN401
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().numpy().copy()
    if isinstance(value, dict):
        return {
            f"{_INT}{key}" if isinstance(key, int) else str(key): _told(part)
            for key, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [_told(part) for part in value]
    return value


def _heard(data: Data) -> Any:  # noqa: ANN401
    if isinstance(data, np.ndarray):
        return torch.from_numpy(np.array(data))
    if isinstance(data, dict):
        return {
            int(key.removeprefix(_INT)) if key.startswith(_INT) else key: _heard(part)
            for key, part in data.items()
        }
    return [_heard(part) for part in data] if isinstance(data, list) else data
