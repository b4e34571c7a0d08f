# SPDX-License-Identifier: Apache-2.0
"""Loss of a life in a game, as a signal for training."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from reactorl.rl._public import public

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LIFE_LOST", "LifeLoss"]

LIFE_LOST: Final = "life_lost"
"""The key of an info that says that a life was lost and the episode continues."""


class Life(IntEnum):
    """The value of that key: environments may have such a key of their own."""

    LOST = 1


def is_life_lost(info: Mapping[str, Any]) -> bool:
    """Return whether an info of ``LifeLoss`` says that a life was lost."""
    return info.get(LIFE_LOST) is Life.LOST


@public
class LifeLoss(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Reports the loss of a life, without ending the episode.

    Infos of the environment must have the number of ``lives``, as those of Atari games
    have. A step that loses one has ``info["life_lost"]``. Rollouts of a ``Flow`` treat
    it as a termination: the value of the next state is not bootstrapped. The game
    continues, and its return is that of all lives.

    Args:
        env: The environment.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)
        self._lives = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset the environment."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._lives = int(info.get("lives", 0))
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:  # noqa: ANN401
        """Step the environment; the last life is lost by the end of the episode."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        lives = int(info.get("lives", 0))
        if lives < self._lives and not (terminated or truncated):
            info = {**info, LIFE_LOST: Life.LOST}
        self._lives = lives
        return observation, reward, terminated, truncated, info
