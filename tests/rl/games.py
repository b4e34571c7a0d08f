# SPDX-License-Identifier: Apache-2.0
"""Games for several agents: some leave early, some misbehave."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv


class Auction(ParallelEnv):
    """Agents bid until their money is gone; the last round is the sixth.

    Everybody observes all purses in an order of their own, and what is on offer.

    Args:
        players: How many.
        rounds: How many rounds there are at most.
    """

    metadata = {"render_modes": ["ansi"], "name": "auction_v0"}  # noqa: RUF012

    def __init__(self, players: int = 3, rounds: int = 6) -> None:
        self.possible_agents = [f"bidder_{k}" for k in range(players)]
        self.agents: list[str] = []
        self.rounds = rounds
        self.render_mode = "ansi"
        self.made_by = threading.get_ident()
        self.used_by: set[int] = set()
        high = np.float32(50)
        self._observations = {
            agent: spaces.Box(0, high, (players + 1,), np.float32)
            for agent in self.possible_agents
        }
        self._actions = {
            agent: spaces.Discrete(4 + k)
            for k, agent in enumerate(self.possible_agents)
        }

    def observation_space(self, agent: str) -> Any:
        return self._observations[agent]

    def action_space(self, agent: str) -> Any:
        return self._actions[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        self.used_by.add(threading.get_ident())
        if seed is not None or not hasattr(self, "random"):
            self.random = np.random.default_rng(seed)
        self.agents = list(self.possible_agents)
        self.round = 0
        low = (options or {}).get("purse", 3)
        self.purses = self.random.integers(low, 9, len(self.agents))
        self.offer = self.random.uniform(0, 9)
        return self.observe(self.agents), {a: {"options": options} for a in self.agents}

    def observe(self, agents: list[str]) -> dict[str, Any]:
        found = {}
        for agent in agents:
            turned = np.roll(self.purses, -self.possible_agents.index(agent))
            found[agent] = np.array([*turned, self.offer], np.float32)
        return found

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        self.used_by.add(threading.get_ident())
        playing = self.agents
        self.round += 1
        bids = {agent: int(actions[agent]) for agent in playing}
        winner = max(playing, key=lambda agent: bids[agent])
        place = self.possible_agents.index(winner)
        self.purses[place] = max(self.purses[place] - bids[winner], 0)
        rewards = dict.fromkeys(playing, -0.1)
        rewards[winner] = float(self.offer) - bids[winner]
        self.offer = self.random.uniform(0, 9)
        over = self.round >= self.rounds
        poor = {
            agent: bool(self.purses[self.possible_agents.index(agent)] == 0)
            for agent in playing
        }
        self.agents = [agent for agent in playing if not over and not poor[agent]]
        infos = {
            agent: {"bid": bids[agent], "won": agent == winner} for agent in playing
        }
        cut_off = dict.fromkeys(playing, over)
        return self.observe(playing), rewards, poor, cut_off, infos

    def render(self) -> str:
        return f"{self.round}: {self.purses.tolist()}"

    def state(self) -> Any:
        return self.purses.astype(np.float32)

    @property
    def pid(self) -> int:
        return os.getpid()


class SlowAuction(Auction):
    """Takes its time."""

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        time.sleep(0.005)
        return super().step(actions)


class BrokenAuction(Auction):
    """Breaks down in its third step."""

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        if self.round == 2:
            msg = "the hammer is lost"
            raise LookupError(msg)
        return super().step(actions)


class EndlessAuction(Auction):
    """Never comes to an end of its second step."""

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        while self.round == 1:
            pass
        return super().step(actions)


class FrailAuction(Auction):
    """Fails in one of its steps, or in its second reset.

    Args:
        kind: How: raise, sleep, kill, reset or kill reset.
        at: In which round.
    """

    def __init__(self, kind: str, at: int = 2) -> None:
        super().__init__()
        self.kind = kind
        self.at = at
        self.resets = 0

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        self.resets += 1
        if self.resets == 2 and self.kind == "reset":
            msg = "the room is taken"
            raise LookupError(msg)
        if self.resets == 2 and self.kind == "kill reset":
            os.kill(os.getpid(), signal.SIGKILL)
        return super().reset(seed, options)

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        found = super().step(actions)
        if self.round == self.at:
            if self.kind == "raise":
                # What it observed before may be changed by then.
                self.purses[:] = 0
                msg = "the hammer is lost"
                raise LookupError(msg)
            if self.kind == "sleep":
                time.sleep(600)
            if self.kind == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
        return found


class ReusingAuction(FrailAuction):
    """Shows the same arrays each time, and changes them."""

    def observe(self, agents: list[str]) -> dict[str, Any]:
        seen = super().observe(agents)
        if not hasattr(self, "shown"):
            self.shown = seen
        for agent, values in seen.items():
            self.shown[agent][:] = values
        return {agent: self.shown[agent] for agent in agents}
