# SPDX-License-Identifier: Apache-2.0
"""CartPole whose steps sleep."""

from __future__ import annotations

import time
from typing import Any

import gymnasium as gym


class Sleepy(gym.Wrapper):  # type: ignore[type-arg]
    """A CartPole whose steps take time, but no processor.

    Args:
        config: As RLlib passes it: ``sleep`` in seconds.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(gym.make("CartPole-v1"))
        self._sleep = float(config["sleep"])

    def step(self, action: Any) -> Any:  # noqa: ANN401
        """Sleep, then step."""
        time.sleep(self._sleep)
        return super().step(action)
