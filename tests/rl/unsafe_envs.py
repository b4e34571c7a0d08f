# SPDX-License-Identifier: Apache-2.0
"""Environments that are wrong in concurrent threads, each in another way."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import gymnasium as gym
import numpy as np


class Plain(gym.Env[Any, Any]):
    """Draws its observations from its own generator; safe."""

    observation_space = gym.spaces.Box(0, 1, (2,), np.float64)
    action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.count = 0
        return self.observe(), {}

    def observe(self) -> Any:
        return self.np_random.random(2)

    def step(self, action: Any) -> Any:
        self.count += 1
        return self.observe(), float(action), False, self.count == 10, {}


class Scratch(Plain):
    """Computes in an array that all share; only correct if nobody comes in between."""

    scratch = np.zeros(2)

    def observe(self) -> Any:
        self.scratch[:] = self.np_random.random(2)
        total = 0.0
        for _ in range(2_000):
            total += 1e-9
        return self.scratch.copy()


class Crashing(Plain):
    """Ends its process if two of them step at the same time, as C code may."""

    last: Any = None

    def step(self, action: Any) -> Any:
        Crashing.last = self
        for _ in range(2_000):
            if Crashing.last is not self:
                os.kill(os.getpid(), signal.SIGSEGV)
        return super().step(action)


class Counting(Plain):
    """Counts its episodes in its infos, so that a used one differs from a new one."""

    episodes = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.episodes += 1
        return super().reset(seed=seed)[0], {"episodes": self.episodes}


class Raising(Plain):
    """Fails in its third step, always."""

    def step(self, action: Any) -> Any:
        if self.count == 2:
            msg = "the third step"
            raise RuntimeError(msg)
        return super().step(action)


class Timing(Plain):
    """Reports the time in its infos, as Gymnasium's RecordEpisodeStatistics does."""

    def step(self, action: Any) -> Any:
        *results, _ = super().step(action)
        return *results, {"at": time.perf_counter(), "episode": {"l": self.count}}


class Unrepeatable(Plain):
    """Ignores its seed."""

    def observe(self) -> Any:
        return np.random.default_rng().random(2)


class WrongInfo(Timing):
    """Shares what it reports in its infos."""

    scratch = 0

    def step(self, action: Any) -> Any:
        *results, info = super().step(action)
        number = int(self.np_random.integers(1 << 40))
        WrongInfo.scratch = number
        total = 0.0
        for _ in range(2_000):
            total += 1e-9
        return *results, {**info, "number": WrongInfo.scratch}


class Moves:
    """A multi-agent environment of PettingZoo's interface, safe or not."""

    possible_agents = ("a", "b")
    metadata: dict[str, Any] = {}  # noqa: RUF012
    render_mode = None
    scratch = np.zeros(2)

    def __init__(self, *, shared: bool) -> None:
        self.agents: list[str] = []
        self.memory = Moves.scratch if shared else np.zeros(2)

    def observation_space(self, agent: str) -> Any:
        return gym.spaces.Box(0, 1, (2,), np.float64)

    def action_space(self, agent: str) -> Any:
        return gym.spaces.Discrete(3)

    def _observe(self) -> dict[str, Any]:
        found = {}
        for agent in self.possible_agents:
            self.memory[:] = self.random.random(2)
            total = 0.0
            for _ in range(2_000):
                total += 1e-9
            found[agent] = self.memory.copy()
        return found

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        if seed is not None:
            self.random = np.random.default_rng(seed)
        self.agents, self.count = list(self.possible_agents), 0
        return self._observe(), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, Any]) -> Any:
        self.count += 1
        over = self.count == 5
        rewards = {agent: float(actions[agent]) for agent in self.agents}
        ends = dict.fromkeys(self.agents, over)
        infos: dict[str, Any] = {agent: {} for agent in self.agents}
        if over:
            self.agents = []
        return self._observe(), rewards, ends, dict(ends), infos

    def close(self) -> None:
        pass
