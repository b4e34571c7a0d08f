# SPDX-License-Identifier: Apache-2.0
"""Base class of algorithms whose learner is a PyTorch module.

Torch changes weights in place. The module and the optimizer therefore belong to the
learner's reactor alone; what it sends is a read-only copy. Write a subclass with the
network, the loss and how to act, and train it with ``Flow``.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from reactorl.rl._public import public
from reactorl.rl.flow.algorithm import Algorithm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.flow.algorithm import Batch, Metrics, Spaces, Weights


@dataclass
class TorchState:
    """State of the learner; used by its reactor only."""

    module: torch.nn.Module
    optimiser: torch.optim.Optimizer


@public
@dataclass(frozen=True, kw_only=True)
class TorchAlgorithm(Algorithm):
    """An algorithm whose learner is a PyTorch module.

    Subclasses define ``make_module``, ``loss``, ``act`` and ``act_greedy``; weights are
    a dict of arrays, by their names in the module. The learner uses one thread of
    Torch, because its results depend on the number of threads.
    """

    name = "Torch"

    @abstractmethod
    def make_module(self, spaces: Spaces) -> torch.nn.Module:
        """Return the network; called with a seeded generator."""

    def make_optimiser(self, module: torch.nn.Module) -> torch.optim.Optimizer:
        """Return the optimizer; Adam by default."""
        return torch.optim.Adam(module.parameters())

    @abstractmethod
    def loss(self, module: torch.nn.Module, batch: dict[str, torch.Tensor]) -> Any:  # noqa: ANN401
        """Return the loss of a batch, as a tensor."""

    def check_spaces(self, spaces: Spaces) -> None:
        """Check that the algorithm can handle these spaces; all, by default."""

    # -- in terms of these ------------------------------------------------------------

    def init(self, spaces: Spaces, seed: int) -> TorchState:
        """Return the state before the first update."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            module = self.make_module(spaces)
        return TorchState(module, self.make_optimiser(module))

    def weights(self, state: TorchState) -> Weights:
        """Return a read-only copy of all weights, by name."""
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
        # A copy: the arrays of a batch are shared with other reactors.
        tensors = {
            name: torch.from_numpy(np.array(values)) for name, values in batch.items()
        }
        loss = self.loss(state.module, tensors)
        state.optimiser.zero_grad()
        loss.backward()
        state.optimiser.step()
        return float(loss.detach())

    # -- checkpoints ------------------------------------------------------------------

    def serialize(self, state: TorchState) -> Data:
        """Return module and optimizer as plain data."""
        return {
            "module": self.weights(state),
            "optimiser": _to_plain(state.optimiser.state_dict()),
        }

    def deserialize(self, like: TorchState, data: Data) -> TorchState:
        """Load a saved state into module and optimizer of ``like``, and return it."""
        module = {n: torch.from_numpy(np.array(v)) for n, v in data["module"].items()}
        like.module.load_state_dict(module)
        like.optimiser.load_state_dict(_from_plain(data["optimiser"]))
        return like


_INT = "int:"
"""Prefix of a key that is a number: keys of plain data are strings."""


def _to_plain(value: Any) -> Data:  # noqa: ANN401
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().numpy().copy()
    if isinstance(value, dict):
        return {
            f"{_INT}{key}" if isinstance(key, int) else str(key): _to_plain(part)
            for key, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [_to_plain(part) for part in value]
    return value


def _from_plain(data: Data) -> Any:  # noqa: ANN401
    if isinstance(data, np.ndarray):
        return torch.from_numpy(np.array(data))
    if isinstance(data, dict):
        return {
            int(key.removeprefix(_INT)) if key.startswith(_INT) else key: _from_plain(
                part
            )
            for key, part in data.items()
        }
    if isinstance(data, list):
        return [_from_plain(part) for part in data]
    return data
