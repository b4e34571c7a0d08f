# SPDX-License-Identifier: Apache-2.0
"""Observations of MiniGrid in spaces that networks can read."""

from __future__ import annotations

from string import ascii_lowercase, digits
from typing import Any, Final

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs

STATES: Final = 4
"""Values of the third number of a cell: the state of a door, or a direction."""
MISSION_LENGTH: Final = 256
"""Longest mission whose length the environment does not tell, in characters."""
_CHARACTERS: Final = ascii_lowercase + digits + " ,.'-"


class MiniGridObservation(gym.ObservationWrapper[Any, Any, Any], RecordConstructorArgs):
    """Gives the cells of a grid as categories, and the mission as text.

    A cell is three categories: object, color and state. MiniGrid returns them as bytes,
    which look like pixels. The mission is left out if it is always the same.

    Args:
        env: An environment of MiniGrid with its original observations.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        from minigrid.core.constants import COLOR_TO_IDX, OBJECT_TO_IDX

        RecordConstructorArgs.__init__(self)
        gym.ObservationWrapper.__init__(self, env)
        original = env.observation_space
        assert isinstance(original, spaces.Dict)
        width, height, _ = original["image"].shape or ()
        values = [len(OBJECT_TO_IDX), len(COLOR_TO_IDX), STATES]
        parts: dict[str, spaces.Space[Any]] = {
            "direction": original["direction"],
            "image": spaces.MultiDiscrete(np.tile(values, (width, height, 1))),
        }
        length = _mission_length(original["mission"])
        self._text: spaces.Text | None = None
        if length:
            self._text = parts["mission"] = spaces.Text(length, charset=_CHARACTERS)
        self.observation_space = spaces.Dict(parts)

    def observation(self, observation: Any) -> dict[str, Any]:  # noqa: ANN401
        """Return an observation in the new space."""
        image = np.asarray(observation["image"], np.int64)
        found = {"direction": observation["direction"], "image": image}
        text = self._text
        if text is not None:
            found["mission"] = observation["mission"].lower()
            if not text.contains(found["mission"]):
                msg = (
                    f"mission must have at most {text.max_length} characters of "
                    f"{_CHARACTERS!r}, got {observation['mission']!r}"
                )
                raise ValueError(msg)
        return found


def _mission_length(space: Any) -> int:  # noqa: ANN401
    """Return the length of the longest mission; 0 if it is always the same."""
    from minigrid.core.mission import MissionSpace

    if type(space) is not MissionSpace:  # BabyAI's has any text
        return MISSION_LENGTH
    choices = space.ordered_placeholders
    if not choices:
        return 0
    return len(space.mission_func(*[max(words, key=len) for words in choices]))
