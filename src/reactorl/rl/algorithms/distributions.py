# SPDX-License-Identifier: Apache-2.0
"""Distributions over actions, as functions of network outputs, in NumPy and JAX.

A *choice* is what is sampled: indices from 0, bits, or numbers before they are scaled
and clipped to bounds. Log-probabilities are of choices. ``actions`` converts choices to
encoded actions, which ``ActionDecoder`` converts for the environment.

The structure of an action space is a pytree of constants (``constants_of``): its keys
and the shapes of its arrays say which distribution it is, so that it can be passed to
compiled functions and saved in checkpoints.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from gymnasium import spaces

from reactorl.rl.flow.action_encoding import leaf_spaces

if TYPE_CHECKING:
    from types import ModuleType

    from reactorl.rl.flow.algorithm import Array, Random

_LOG_2_PI: Final = float(np.log(2 * np.pi))
_FORBIDDEN: Final = np.float32(-1e9)
"""The logit of a forbidden action. Finite: probability 0 times its logarithm is 0."""


class Distribution(ABC):
    """A distribution over actions for each row of network outputs.

    Args:
        constants: Of the action space; see ``constants_of``.
        outputs: Of the network, one row each.
        log_std: Logarithms of standard deviations, of ``Box`` actions only.
        mask: Which actions are allowed, one row each; None: all.
        xp: ``numpy`` or ``jax.numpy``.
    """

    def __init__(
        self,
        constants: Any,  # noqa: ANN401
        outputs: Any,  # noqa: ANN401
        log_std: Any,  # noqa: ANN401
        mask: Any,  # noqa: ANN401
        xp: ModuleType,
    ) -> None:
        self.constants = constants
        self.outputs = outputs
        self.log_std = log_std
        self.mask = mask
        self.xp = xp

    @staticmethod
    @abstractmethod
    def sizes(constants: Any) -> tuple[int, int, int]:  # noqa: ANN401
        """Return the numbers of outputs, standard deviations, and choices."""

    @abstractmethod
    def sample(self, random: Random) -> Array:
        """Return a sampled choice for each row."""

    @abstractmethod
    def greedy(self) -> Array:
        """Return the most probable choice for each row."""

    @abstractmethod
    def log_probs(self, choices: Any) -> Any:  # noqa: ANN401
        """Return the log-probability of each choice."""

    @abstractmethod
    def entropies(self) -> Any:  # noqa: ANN401
        """Return the entropy for each row, in nats."""

    def actions(self, choices: Array) -> Array:
        """Return the encoded actions of choices."""
        return choices


class Categorical(Distribution):
    """``Discrete``: the outputs are logits, the choice is the index of an action."""

    @staticmethod
    def sizes(constants: Any) -> tuple[int, int, int]:  # noqa: ANN401
        """Return the numbers of outputs, standard deviations, and choices."""
        return constants["values"].shape[0], 0, 1

    @cached_property
    def logits(self) -> Any:  # noqa: ANN401
        """The logits, with those of forbidden actions far below all others."""
        if self.mask is None:
            return self.outputs
        return self.xp.where(self.mask, self.outputs, _FORBIDDEN)

    def sample(self, random: Random) -> Array:
        """Return a sampled choice for each row."""
        # The Gumbel-max trick: argmax(logits + noise) samples from the softmax.
        noise = random.gumbel(size=self.outputs.shape)
        found: Array = np.argmax(self.logits + noise, axis=1)
        return found

    def greedy(self) -> Array:
        """Return the most probable choice for each row."""
        found: Array = np.argmax(self.logits, axis=1)
        return found

    def log_probs(self, choices: Any) -> Any:  # noqa: ANN401
        """Return the log-probability of each choice."""
        logs = _log_softmax(self.logits, self.xp)
        return logs[self.xp.arange(len(choices)), choices]

    def entropies(self) -> Any:  # noqa: ANN401
        """Return the entropy for each row, in nats."""
        logs = _log_softmax(self.logits, self.xp)
        return -self.xp.sum(self.xp.exp(logs) * logs, axis=1)


class MultiCategorical(Distribution):
    """``MultiDiscrete``: logits of each component, one after the other."""

    @staticmethod
    def sizes(constants: Any) -> tuple[int, int, int]:  # noqa: ANN401
        """Return the numbers of outputs, standard deviations, and choices."""
        return constants["logits"].shape[0], 0, constants["places"].shape[0]

    @cached_property
    def logits(self) -> Any:  # noqa: ANN401
        """The logits ``[row, component, value]``, padded to the largest component."""
        xp, places = self.xp, self.constants["places"]
        allowed = self.constants["exists"]
        if self.mask is not None:
            allowed = allowed & xp.take(self.mask, places, axis=1)
        return xp.where(allowed, xp.take(self.outputs, places, axis=1), _FORBIDDEN)

    def sample(self, random: Random) -> Array:
        """Return a sampled choice for each row."""
        noise = random.gumbel(size=self.logits.shape)
        found: Array = np.argmax(self.logits + noise, axis=2)
        return found

    def greedy(self) -> Array:
        """Return the most probable choice for each row."""
        found: Array = np.argmax(self.logits, axis=2)
        return found

    def log_probs(self, choices: Any) -> Any:  # noqa: ANN401
        """Return the log-probability of each choice."""
        logs = _log_softmax(self.logits, self.xp)
        chosen = self.xp.take_along_axis(logs, choices[:, :, None], axis=2)
        return self.xp.sum(chosen[:, :, 0], axis=1)

    def entropies(self) -> Any:  # noqa: ANN401
        """Return the entropy for each row, in nats."""
        logs = _log_softmax(self.logits, self.xp)
        return -self.xp.sum(self.xp.exp(logs) * logs, axis=(1, 2))


class Bernoulli(Distribution):
    """``MultiBinary``: the outputs are the logits of ones, of each bit."""

    @staticmethod
    def sizes(constants: Any) -> tuple[int, int, int]:  # noqa: ANN401
        """Return the numbers of outputs, standard deviations, and choices."""
        count = constants["bits"].shape[0]
        return count, 0, count

    def sample(self, random: Random) -> Array:
        """Return a sampled choice for each row."""
        # The difference of two Gumbel variables has the logistic distribution.
        noise = random.logistic(size=self.outputs.shape)
        found: Array = (self.outputs + noise > 0).astype(np.int8)
        return found

    def greedy(self) -> Array:
        """Return the most probable choice for each row."""
        found: Array = (self.outputs > 0).astype(np.int8)
        return found

    def log_probs(self, choices: Any) -> Any:  # noqa: ANN401
        """Return the log-probability of each choice."""
        signs = self.xp.where(choices > 0, self.xp.float32(1), self.xp.float32(-1))
        return -self.xp.sum(_softplus(-signs * self.outputs, self.xp), axis=1)

    def entropies(self) -> Any:  # noqa: ANN401
        """Return the entropy for each row, in nats."""
        zeros = _softplus(self.outputs, self.xp)  # -ln P(0)
        ones = _softplus(-self.outputs, self.xp)  # -ln P(1)
        return self.xp.sum(
            self.xp.exp(-zeros) * zeros + self.xp.exp(-ones) * ones, axis=1
        )


class Normal(Distribution):
    """``Box``: independent normal distributions; the outputs are their means.

    Standard deviations are learned and the same for all observations. Choices are in
    units in which the bounds are -1 and 1; of a component with one bound, the other one
    is 2 away, and one without bounds is used as it is.
    """

    @staticmethod
    def sizes(constants: Any) -> tuple[int, int, int]:  # noqa: ANN401
        """Return the numbers of outputs, standard deviations, and choices."""
        count = prod(constants["low"].shape)
        return count, count, count

    def sample(self, random: Random) -> Array:
        """Return a sampled choice for each row."""
        noise = random.standard_normal(self.outputs.shape, np.float32)
        found: Array = self.outputs + np.exp(self.log_std) * noise
        return found

    def greedy(self) -> Array:
        """Return the most probable choice for each row."""
        found: Array = self.outputs
        return found

    def log_probs(self, choices: Any) -> Any:  # noqa: ANN401
        """Return the log-density of each choice."""
        deviation = (choices - self.outputs) * self.xp.exp(-self.log_std)
        logs = -0.5 * (deviation * deviation + _LOG_2_PI) - self.log_std
        return self.xp.sum(logs, axis=1)

    def entropies(self) -> Any:  # noqa: ANN401
        """Return the entropy for each row, in nats."""
        total = self.xp.sum(self.log_std + 0.5 * (_LOG_2_PI + 1))
        return self.xp.broadcast_to(total, self.outputs.shape[:1])

    def actions(self, choices: Array) -> Array:
        """Return choices, scaled and clipped to the bounds."""
        low, high = self.constants["low"], self.constants["high"]
        scaled = choices.reshape(len(choices), *low.shape) * self.constants["half"]
        found: Array = np.clip(scaled + self.constants["middle"], low, high)
        return found


class Joint(Distribution):
    """``Dict`` and ``Tuple``: independent parts, in the order of the space.

    Choices and actions are rows of floats, the parts one after the other.
    """

    @staticmethod
    def sizes(constants: Any) -> tuple[int, int, int]:  # noqa: ANN401
        """Return the numbers of outputs, standard deviations, and choices."""
        each = [_kind(part).sizes(part) for part in constants["parts"]]
        outputs, deviations, choices = (
            sum(column) for column in zip(*each, strict=True)
        )
        return outputs, deviations, choices

    @cached_property
    def parts(self) -> list[Distribution]:
        """The distributions of the parts."""
        found: list[Distribution] = []
        output = deviation = flag = 0
        for part in self.constants["parts"]:
            kind = _kind(part)
            outputs, deviations, _ = kind.sizes(part)
            mask = None
            if self.mask is not None and kind in (Categorical, MultiCategorical):
                mask = self.mask[:, flag : flag + outputs]
                flag += outputs
            rows = self.outputs[:, output : output + outputs]
            log_std = None
            if deviations:
                log_std = self.log_std[deviation : deviation + deviations]
            found.append(kind(part, rows, log_std, mask, self.xp))
            output, deviation = output + outputs, deviation + deviations
        return found

    def _split(self, choices: Any) -> list[Any]:  # noqa: ANN401
        """Return the choices of each part, as that part returned them."""
        found, place = [], 0
        for part in self.parts:
            size = part.sizes(part.constants)[2]
            columns = choices[:, place : place + size]
            if not isinstance(part, Normal):
                columns = columns.astype(self.xp.int32)
            if isinstance(part, Categorical):
                columns = columns[:, 0]
            found.append(columns)
            place += size
        return found

    def sample(self, random: Random) -> Array:
        """Return a sampled choice for each row."""
        return _row([part.sample(random) for part in self.parts], np.float32)

    def greedy(self) -> Array:
        """Return the most probable choice for each row."""
        return _row([part.greedy() for part in self.parts], np.float32)

    def log_probs(self, choices: Any) -> Any:  # noqa: ANN401
        """Return the log-probability of each choice."""
        each = zip(self.parts, self._split(choices), strict=True)
        return sum(part.log_probs(mine) for part, mine in each)

    def entropies(self) -> Any:  # noqa: ANN401
        """Return the entropy for each row, in nats."""
        return sum(part.entropies() for part in self.parts)

    def actions(self, choices: Array) -> Array:
        """Return the encoded actions of choices."""
        each = zip(self.parts, self._split(choices), strict=True)
        return _row([part.actions(mine) for part, mine in each], np.float64)


def _row(parts: list[Array], dtype: Any) -> Array:  # noqa: ANN401
    """Return the parts of each row side by side."""
    flat = [part.reshape(len(part), -1).astype(dtype) for part in parts]
    return np.concatenate(flat, axis=1)


def _log_softmax(logits: Any, xp: ModuleType) -> Any:  # noqa: ANN401
    logits = logits - xp.max(logits, axis=-1, keepdims=True)
    return logits - xp.log(xp.sum(xp.exp(logits), axis=-1, keepdims=True))


def _softplus(numbers: Any, xp: ModuleType) -> Any:  # noqa: ANN401
    """Return ln(1 + e^x), without overflow."""
    return xp.maximum(numbers, 0) + xp.log1p(xp.exp(-xp.abs(numbers)))


# -- from spaces ----------------------------------------------------------------------


def _kind(constants: Any) -> type[Distribution]:  # noqa: ANN401
    if "values" in constants:
        return Categorical
    if "low" in constants:
        return Normal
    if "places" in constants:
        return MultiCategorical
    return Bernoulli if "bits" in constants else Joint


def distribution(
    constants: Any,  # noqa: ANN401
    outputs: Any,  # noqa: ANN401
    log_std: Any,  # noqa: ANN401
    mask: Any,  # noqa: ANN401
    xp: ModuleType,
) -> Distribution:
    """Return the distribution over actions; see ``Distribution``."""
    return _kind(constants)(constants, outputs, log_std, mask, xp)


def sizes_of(constants: Any) -> tuple[int, int, int]:  # noqa: ANN401
    """Return the numbers of outputs, standard deviations, and choices."""
    return _kind(constants).sizes(constants)


def constants_of(space: spaces.Space[Any]) -> dict[str, Any]:
    """Return the constants of an action space, as a pytree."""
    if isinstance(space, spaces.Dict | spaces.Tuple):
        return {"parts": [constants_of(leaf) for leaf in leaf_spaces(space)]}
    if isinstance(space, spaces.Discrete):
        return {"values": np.zeros(int(space.n), np.bool_)}
    if isinstance(space, spaces.MultiDiscrete):
        counts = space.nvec.reshape(-1)
        column = np.arange(int(counts.max()))
        exists = column < counts[:, None]
        first = np.cumsum(counts) - counts
        places = np.where(exists, first[:, None] + column, 0)
        return {
            "logits": np.zeros(int(counts.sum()), np.bool_),
            "places": places.astype(np.int32),
            "exists": exists,
        }
    if isinstance(space, spaces.MultiBinary):
        return {"bits": np.zeros(prod(space.shape), np.bool_)}
    assert isinstance(space, spaces.Box)
    return _bounds(space)


def _bounds(space: spaces.Box) -> dict[str, Array]:
    """Return the bounds of a ``Box``, and the middle and half of each range."""
    low, high = space.low.astype(np.float32), space.high.astype(np.float32)
    one, two = np.float32(1), np.float32(2)
    below, above = np.isfinite(low), np.isfinite(high)
    near = np.where(below, low, np.where(above, high - two, -one))
    far = np.where(above, high, np.where(below, low + two, one))
    with np.errstate(over="ignore"):
        middle, half = (near + far) / 2, (far - near) / 2
    # Where the sum or the difference is too large for the dtype.
    middle = np.where(np.isfinite(middle), middle, near / 2 + far / 2)
    half = np.where(np.isfinite(half), half, far / 2 - near / 2)
    return {"low": low, "high": high, "middle": middle, "half": half}
