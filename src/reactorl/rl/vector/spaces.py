# SPDX-License-Identifier: Apache-2.0
"""The spaces of a vector environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gymnasium import Space
from gymnasium.spaces.utils import is_space_dtype_shape_equiv
from gymnasium.vector.utils import batch_differing_spaces, batch_space

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.envs.commands import Description

ObservationMode: TypeAlias = (
    "Literal['same', 'different'] | tuple[Space[Any], Space[Any]]"
)


@dataclass(frozen=True, slots=True)
class VectorSpaces:
    """Spaces of one environment, and of the batch."""

    single_observation: Space[Any]
    observation: Space[Any]
    single_action: Space[Any]
    action: Space[Any]

    @classmethod
    def of(cls, envs: Sequence[Description], mode: ObservationMode) -> VectorSpaces:
        """Return the spaces of a vector of these environments.

        Args:
            envs: Their descriptions.
            mode: Whether their observation spaces are the same, or differ in their
                bounds; or the batched and the single space to use.

        Raises:
            ValueError: ``mode`` is not valid.
            RuntimeError: An environment has other spaces than the first one.
        """
        single, batched = _observation_spaces(envs, mode)
        action = envs[0].action_space
        for index, env in enumerate(envs):
            _check_observation(index, env.observation_space, single, mode)
            if env.action_space != action:
                msg = (
                    f"environment {index} must have the action space of the first "
                    f"one, {action}, got {env.action_space}"
                )
                raise RuntimeError(msg)
        return cls(single, batched, action, batch_space(action, len(envs)))


def _observation_spaces(
    envs: Sequence[Description],
    mode: Any,  # noqa: ANN401
) -> tuple[Space[Any], Space[Any]]:
    single = envs[0].observation_space
    if mode == "same":
        return single, batch_space(single, len(envs))
    if mode == "different":
        return single, batch_differing_spaces([env.observation_space for env in envs])
    if (
        isinstance(mode, tuple)
        and len(mode) == 2
        and all(isinstance(space, Space) for space in mode)
    ):
        batched, single = mode
        return single, batched
    msg = (
        "observation_mode must be 'same', 'different' or a tuple of the batched and "
        f"the single observation space, got {mode!r}"
    )
    raise ValueError(msg)


def _check_observation(
    index: int, space: Space[Any], expected: Space[Any], mode: ObservationMode
) -> None:
    same = mode == "same"
    if space == expected if same else is_space_dtype_shape_equiv(space, expected):
        return
    remedy = "; use observation_mode='different'" if same else ""
    msg = (
        f"environment {index} must have the observation space of the first one, "
        f"{expected}, got {space}{remedy}"
    )
    raise RuntimeError(msg)
