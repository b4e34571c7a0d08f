# SPDX-License-Identifier: Apache-2.0
"""``simple_spread`` of PettingZoo's MPE (package mpe2), with the interface of ours."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np

STEPS = 25
"""Of an episode; mpe2's default."""


class Spread:
    """Agents that cover landmarks."""

    def __init__(self, agents: int) -> None:
        stand_in_for_pygame()
        from mpe2 import simple_spread_v3

        self._env = simple_spread_v3.parallel_env(N=agents, max_cycles=STEPS)
        self._seed: int | None = 1

    def reset(self) -> Any:  # noqa: ANN401
        """Begin an episode; return the observations, a row for each agent."""
        observations, _ = self._env.reset(seed=self._seed)
        self._seed = None
        return np.stack(list(observations.values()))

    def step(self, actions: list[int]) -> tuple[Any, list[float], bool]:
        """Step; return observations, rewards, and whether the episode ended."""
        by_agent = dict(zip(self._env.agents, actions, strict=True))
        observations, rewards, ends, cuts, _ = self._env.step(by_agent)
        over = all(ends.values()) or all(cuts.values())
        return np.stack(list(observations.values())), list(rewards.values()), over


def stand_in_for_pygame() -> None:
    """Let mpe2 be imported where pygame has no wheel: on free-threaded CPython.

    It makes a surface and a font for drawing in advance; nothing here draws.
    """
    if "pygame" in sys.modules or find_spec("pygame") is not None:
        return

    class Nothing:
        """A surface or a font that is never drawn."""

        def __init__(self, *args: object, **kwargs: object) -> None:
            pass

        def get_size(self) -> tuple[int, int]:
            return 0, 0

    pygame, freetype = ModuleType("pygame"), ModuleType("pygame.freetype")
    pygame.Surface = freetype.Font = Nothing  # type: ignore[attr-defined]
    freetype.init = lambda: None  # type: ignore[attr-defined]
    pygame.freetype = freetype  # type: ignore[attr-defined]
    sys.modules.update({"pygame": pygame, "pygame.freetype": freetype})
