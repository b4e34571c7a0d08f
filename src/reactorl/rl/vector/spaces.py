# SPDX-License-Identifier: Apache-2.0
"""The spaces of a vector environment.

Errors contain the texts of ``SyncVectorEnv``: callers match on them.
"""

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
            TypeError: ``mode`` is a tuple of other objects than spaces.
            ValueError: ``mode`` is not valid.
            RuntimeError: An environment has other spaces than the first one.
        """
        single, batched = _observation_spaces(envs, mode)
        action = envs[0].action_space
        for index, env in enumerate(envs):
            _check_observation(index, env.observation_space, single, mode)
            if env.action_space != action:
                msg = (
                    f"environment {index}: Sub-environment action space doesn't make "
                    f"the `single_action_space`, action_space={env.action_space}, "
                    f"single_action_space={action}"
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
    if isinstance(mode, tuple) and len(mode) == 2:
        batched, single = mode
        if not isinstance(batched, Space) or not isinstance(single, Space):
            msg = (
                "Expected both elements of observation_mode to be Spaces, got "
                f"{type(batched)} and {type(single)}"
            )
            raise TypeError(msg)
        return single, batched
    msg = (
        "Invalid `observation_mode`, expected: 'same' or 'different' or tuple of "
        f"single and batch observation space, actual got {mode}"
    )
    raise ValueError(msg)


def _check_observation(
    index: int, space: Space[Any], expected: Space[Any], mode: ObservationMode
) -> None:
    same = mode == "same"
    if space == expected if same else is_space_dtype_shape_equiv(space, expected):
        return
    if same:
        msg = (
            f"environment {index}: VectorEnv(..., observation_mode='same') however the "
            "sub-environments observation spaces are not equivalent. "
            f"single_observation_space={expected}, sub-environment "
            f"observation_space={space}. If this is intentional, use "
            "`observation_mode='different'` instead."
        )
    else:
        msg = (
            f"environment {index}: VectorEnv(..., observation_mode='different' or "
            "custom space) however the sub-environments observation spaces do not "
            f"share a common shape and dtype, single_observation_space={expected}, "
            f"sub-environment observation space={space}"
        )
    raise RuntimeError(msg)
