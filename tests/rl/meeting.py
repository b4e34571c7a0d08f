# SPDX-License-Identifier: Apache-2.0
"""A game in which two agents want to meet."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

CELLS = 7


class Meeting(ParallelEnv):
    """Two agents on a line of seven cells; a step left, none, or a step right.

    A turn costs 0.1 each. When both are in one cell each gets 1, and it is over; after
    20 turns it is over, too. They see their own place and the other's.
    """

    metadata = {"name": "meeting_v0", "render_fps": 10}  # noqa: RUF012

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self.possible_agents = ["left", "right"]
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> Any:
        return spaces.Box(-1, 1, (2,), np.float32)

    def action_space(self, agent: str) -> Any:
        return spaces.Discrete(3)

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        if seed is not None or not hasattr(self, "random"):
            self.random = np.random.default_rng(seed)
        self.agents = list(self.possible_agents)
        self.turns = 0
        self.places = self.random.choice(CELLS, 2, replace=False)
        return self.observe(), {agent: {} for agent in self.agents}

    def observe(self) -> dict[str, Any]:
        seen = (self.places / (CELLS // 2) - 1).astype(np.float32)
        return {"left": seen.copy(), "right": seen[::-1].copy()}

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        moves = np.array([int(actions[agent]) - 1 for agent in self.possible_agents])
        self.places = np.clip(self.places + moves, 0, CELLS - 1)
        self.turns += 1
        met = bool(self.places[0] == self.places[1])
        over = not met and self.turns == 20
        playing = self.agents
        self.agents = [] if met or over else playing
        return (
            self.observe(),
            dict.fromkeys(playing, 1.0 if met else -0.1),
            dict.fromkeys(playing, met),
            dict.fromkeys(playing, over),
            {agent: {} for agent in playing},
        )

    def render(self) -> Any:
        assert self.render_mode == "rgb_array"
        picture = np.zeros((10, 10 * CELLS, 3), np.uint8)
        for channel, place in enumerate(self.places):
            picture[:, 10 * place : 10 * (place + 1), channel] = 255
        return picture


parallel_env = Meeting


def broken() -> Meeting:
    """Never makes one."""
    msg = "no table is free"
    raise RuntimeError(msg)


class Torn(Meeting):
    """Breaks down in its third turn."""

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        if self.turns == 2:
            msg = "the line is torn"
            raise RuntimeError(msg)
        return super().step(actions)


class Switches(Meeting):
    """Has actions that PPO does not choose."""

    def action_space(self, agent: str) -> Any:
        return spaces.Text(2)


class Wordy(Meeting):
    """Shows words."""

    def observation_space(self, agent: str) -> Any:
        return spaces.Sequence(spaces.Text(8))
