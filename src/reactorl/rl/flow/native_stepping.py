# SPDX-License-Identifier: Apache-2.0
"""Steps of native environments with a native policy, without Python between them.

The results are those of a loop in Python: the same code computes actions, the same
bodies step, and random numbers are drawn in the same order. Python takes over for every
step that it has to see: unusual ones, and all of environments that are not native.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reactorl.rl.envs.native import _bodies
from reactorl.rl.flow.algorithm import ActOutput
from reactorl.rl.flow.trajectory import Episode

if TYPE_CHECKING:
    from reactorl.rl.algorithms.native_policy import NativePolicy
    from reactorl.rl.envs.native.shard import NativeShard
    from reactorl.rl.flow.algorithm import Algorithm, Array, Random, Weights
    from reactorl.rl.flow.shard_envs import Ended, RolloutEnvs, ShardEnvs
    from reactorl.rl.flow.trajectory import Columns


@dataclass(frozen=True, slots=True)
class NativeStepping:
    """Native environments with a native policy."""

    native: NativeShard
    policy: NativePolicy
    core: _bodies.Stepping
    masks: Array | None
    """The action mask of each observation; None: there are no masks."""

    def actions(self, count: int) -> Array:
        """Return an array for so many actions."""
        if self.policy.kind == "normal":
            return np.empty((count, *self.policy.shape), np.float32)
        return np.empty(count, np.int64)


def native_stepping(
    envs: ShardEnvs, algorithm: Algorithm, weights: Weights, progress: float
) -> NativeStepping | None:
    """Return how to step environments natively; None: the next step is Python's."""
    native = envs.native
    group = None if native is None else native.ready()
    if native is None or group is None:
        return None
    kind, encoder = native.kind, envs.encoder
    masks = None
    if envs.action_masks is not None:
        masks = kind.masks
        if masks is None or not masks.any(axis=1).all():
            return None
    policy = algorithm.native_policy(weights, encoder.input_shape, progress)
    if policy is None or (policy.kind == "normal") is (kind.actions is not None):
        return None
    shape = (kind.width,) if kind.width else (kind.parts,) if kind.parts > 1 else ()
    dtype = np.float32 if kind.width else np.int32
    if encoder.shape != shape or encoder.dtype != dtype:
        return None
    core = _bodies.Stepping(group, policy.core, kind.width, kind.parts, masks)
    return NativeStepping(native, policy, core, masks)


class _Drawn:
    """Stands for a generator whose next numbers have been drawn already."""

    def __init__(self, numbers: Array) -> None:
        self._numbers = numbers

    def gumbel(self, *, size: Any) -> Array:  # noqa: ANN401
        return self._numbers.reshape(size)

    def standard_normal(self, size: Any, dtype: Any) -> Array:  # noqa: ANN401
        return self._numbers.reshape(size).astype(dtype, copy=False)

    def random(self, size: Any) -> Array:  # noqa: ANN401
        return self._numbers.reshape(size)


class NativeRollout:
    """The native steps of one iteration of a rollout.

    Random numbers of all steps that are left are drawn when the first native step is
    due; a later step in Python gets its own of them.

    Args:
        envs: The environments of the rollout.
        columns: Of the trajectory.
        num_steps: Of the trajectory.
        algorithm: Whose policy acts.
        weights: Of the policy.
        progress: Fraction of the training that is over.
        random: Source of the policy's randomness.
    """

    def __init__(
        self,
        envs: RolloutEnvs,
        columns: Columns,
        num_steps: int,
        algorithm: Algorithm,
        weights: Weights,
        progress: float,
        random: Random,
    ) -> None:
        self._envs, self._columns, self._num_steps = envs, columns, num_steps
        self._acting = (algorithm, weights, progress)
        self._random = random
        self._stepping: NativeStepping | None = None
        self._noise: Array | None = None

    def advance(self, step: int, episodes: list[Episode]) -> tuple[int, bool]:
        """Do native steps; the episodes that end are added.

        Returns:
            The next step, and whether native bodies have begun it: ``finish`` has to
            follow then, and its columns are written up to the masks.
        """
        stepping = native_stepping(self._envs, *self._acting)
        if stepping is None:
            return step, False
        self._stepping, policy = stepping, stepping.policy
        size = (self._num_steps, self._envs.count)
        if self._noise is None:
            drawn = policy.noise(self._random, self._num_steps - step, size[1])
            self._noise = drawn
            if step:  # a row of each step of the trajectory
                empty = np.empty((step, *drawn.shape[1:]), drawn.dtype)
                self._noise = np.concatenate([empty, drawn])
        arrays: dict[str, Any] = self._columns.arrays
        if "next_observations" not in arrays:
            self._make_columns(stepping, size)
        stop, ended = stepping.core.collect(
            step, self._num_steps, self._noise, arrays, *self._envs.sums
        )
        episodes.extend(Episode(*each) for each in ended)
        is_begun = stop < self._num_steps
        done = slice(step, stop + is_begun)
        if policy.has_log_probs and policy.kind != "normal":
            arrays["choices"][done] = arrays["actions"][done]
        for name, value in policy.constants.items():
            arrays[name][done] = value
        if stepping.masks is not None:
            if is_begun:
                masks = arrays["action_masks"][stop].copy()
            else:
                masks = stepping.masks[self._envs.observations()]
            self._envs.put_masks(masks)
        return stop, is_begun

    def _make_columns(self, stepping: NativeStepping, size: tuple[int, int]) -> None:
        """Make the columns, in the order in which steps in Python make them."""
        encoder, policy = self._envs.encoder, stepping.policy
        arrays = self._columns.arrays

        def make(name: str, dtype: Any, *shape: int) -> None:  # noqa: ANN401
            arrays[name] = np.empty((*size, *shape), dtype)

        is_normal = policy.kind == "normal"
        make("observations", encoder.dtype, *encoder.shape)
        make("actions", np.float32 if is_normal else np.int64, *policy.shape)
        if policy.has_log_probs:
            kept = (policy.outputs,) if is_normal else ()
            make("choices", arrays["actions"].dtype, *kept)
            make("log_probs", np.float32)
        for name in policy.constants:
            make(name, np.float32)
        if stepping.masks is not None:
            make("action_masks", np.bool_, policy.outputs)
        make("rewards", np.float64)
        make("terminations", np.bool_)
        make("truncations", np.bool_)
        make("next_observations", encoder.dtype, *encoder.shape)
        if stepping.masks is not None:
            make("next_action_masks", np.bool_, policy.outputs)

    def finish(self, step: int, tag: str) -> list[Ended]:
        """Finish a step that native bodies have begun."""
        assert self._stepping is not None
        output = ActOutput(self._columns.arrays["actions"][step])
        return self._envs.finish(self._stepping.native, output, tag)

    def random(self, step: int) -> Any:  # noqa: ANN401
        """Return the source of randomness of a step in Python."""
        return self._random if self._noise is None else _Drawn(self._noise[step])
