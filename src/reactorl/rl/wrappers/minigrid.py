# SPDX-License-Identifier: Apache-2.0
"""Observations of MiniGrid and BabyAI in spaces that Gymnasium knows.

Their mission is a text, in a space of their own that cannot be flattened.
"""

from __future__ import annotations

import string
from typing import Any, Final

import gymnasium as gym
from gymnasium.spaces import Dict, Text
from gymnasium.utils import RecordConstructorArgs

from reactorl.rl._public import public

__all__ = ["MiniGridObservation"]

MAX_LENGTH: Final = 256
CHARACTERS: Final = string.ascii_lowercase + string.digits + " ,.'-"


@public
class MiniGridObservation(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Observes the image of the view, and the mission if there are several.

    In most environments of MiniGrid the mission is always the same: observations are
    images then. Else they are a dict of ``image`` and ``mission``, a ``Text`` of at
    most 256 characters.

    Args:
        env: An environment of MiniGrid or BabyAI.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)
        parts: Any = env.observation_space
        mission = parts["mission"]
        # BabyAI generates its missions by a class of its own.
        self._is_constant = (
            type(mission).__name__ == "MissionSpace"
            and mission.ordered_placeholders is None
        )
        self.observation_space = parts["image"]
        if not self._is_constant:
            text = Text(MAX_LENGTH, charset=CHARACTERS)
            self.observation_space = Dict(image=parts["image"], mission=text)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset the environment."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._observed(observation), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:  # noqa: ANN401
        """Step the environment."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._observed(observation), reward, terminated, truncated, info

    def _observed(self, observation: Any) -> Any:  # noqa: ANN401
        if self._is_constant:
            return observation["image"]
        mission = observation["mission"].lower()[:MAX_LENGTH]
        known = "".join(c if c in CHARACTERS else " " for c in mission)
        return {"image": observation["image"], "mission": known or " "}
