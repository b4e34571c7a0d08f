# SPDX-License-Identifier: Apache-2.0
"""Environments that fail if an action is not in the mask that they gave."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from pettingzoo import ParallelEnv


class Masked(gym.Env[Any, Any]):
    """Allows some of five actions, others after each step; episodes of 4 or 5 steps."""

    observation_space: gym.Space[Any] = gym.spaces.Discrete(7, start=1)
    action_space: gym.Space[Any] = gym.spaces.Discrete(5, start=3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.turn = 0
        self.length = int(self.np_random.integers(4, 6))
        return self.state(), self.info()

    def state(self) -> Any:
        return np.int64(1 + self.turn)

    def info(self) -> dict[str, Any]:
        self.mask = self.np_random.random(5) < 0.4
        self.mask[self.np_random.integers(5)] = True
        return {"action_mask": self.mask.astype(np.int8)}

    def allows(self, action: Any) -> bool:
        return bool(self.mask[action - 3])

    def step(self, action: Any) -> Any:
        if not self.allows(action):
            msg = f"action {action} must be in the mask {self.mask}"
            raise ValueError(msg)
        self.turn += 1
        over = self.turn == self.length
        reward = float(np.sum(action))
        info = self.info()
        if over and self.length == 4:  # at the end there may be no action
            info["action_mask"] = np.zeros(5, np.int8)
        return self.state(), reward, over and self.length == 4, over, info


class MaskedParts(Masked):
    """The same with the parts of a ``Dict``, two of which have no mask."""

    action_space = gym.spaces.Dict(
        force=gym.spaces.Box(-1, 1, (2,), np.float32),
        move=gym.spaces.Discrete(5, start=3),
        rest=gym.spaces.Tuple(
            (gym.spaces.MultiBinary(2), gym.spaces.MultiDiscrete([2, 3], start=[0, 7]))
        ),
    )

    def info(self) -> dict[str, Any]:
        one = super().info()["action_mask"]
        self.pairs = [np.zeros(count, np.int8) for count in (2, 3)]
        for each in self.pairs:
            each[self.np_random.integers(len(each))] = 1
        return {"action_mask": {"move": one, "rest": (None, self.pairs)}}

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(action)
        first, second = action["rest"][1] - [0, 7]
        if not (self.pairs[0][first] and self.pairs[1][second]):
            msg = f"actions {first}, {second} must be in the masks {self.pairs}"
            raise ValueError(msg)
        result = super().step(action["move"])
        info = result[-1]
        if "move" not in info["action_mask"]:  # at the end there may be no action
            info["action_mask"] = {"move": info["action_mask"]}
        return result


class MaskedPairs(Masked):
    """The same with two components of a ``MultiDiscrete``."""

    action_space = gym.spaces.MultiDiscrete([2, 3], start=[0, 7])

    def info(self) -> dict[str, Any]:
        first, second = self.np_random.random(2) < 0.6, self.np_random.random(3) < 0.4
        first[self.np_random.integers(2)] = True
        second[self.np_random.integers(3)] = True
        self.mask = np.concatenate([first, second])
        return {"action_mask": (first, second)}

    def allows(self, action: Any) -> bool:
        return bool(self.mask[action[0]] and self.mask[2 + action[1] - 7])


class Broken(Masked):
    """Fails in every ninth step, and continues after a restart."""

    count = 0

    def step(self, action: Any) -> Any:
        found = super().step(action)
        Broken.count += 1
        if Broken.count % 9 == 0:
            msg = "out of luck"
            raise RuntimeError(msg)
        return found


class Stuck(Masked):
    """Forbids all actions after two steps."""

    def info(self) -> dict[str, Any]:
        info = super().info()
        if self.turn == 2:
            info["action_mask"] = np.zeros(5, np.int8)
        return info


class Short(Masked):
    """Gives masks that are too short."""

    def info(self) -> dict[str, Any]:
        super().info()
        return {"action_mask": np.ones(4, np.int8)}


class Late(Masked):
    """Gives masks in steps only."""

    def allows(self, action: Any) -> bool:
        return True

    def info(self) -> dict[str, Any]:
        return super().info() if self.turn else {}


class Continuous(Masked):
    """Gives masks although actions are numbers."""

    action_space = gym.spaces.Box(-1, 1)


class MaskedTeam(ParallelEnv):
    """Two agents with a mask in the observation, one with a mask in the info.

    "late" leaves early. Fails if an action is not in the mask.
    """

    def __init__(self) -> None:
        self.possible_agents = ["left", "late", "right"]
        self.agents: list[str] = []
        self.random = np.random.default_rng(0)

    def observation_space(self, agent: str) -> Any:
        seen = gym.spaces.Box(0, 9, (2,), np.float32)
        if agent == "right":
            return seen
        mask = gym.spaces.Box(0, 1, (3,), np.int8)
        return gym.spaces.Dict(observation=seen, action_mask=mask)

    def action_space(self, agent: str) -> Any:
        return gym.spaces.Discrete(3, start=1)

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        if seed is not None:
            self.random = np.random.default_rng(seed)
        self.agents, self.turn = list(self.possible_agents), 0
        return self.results(self.agents)

    def results(self, agents: list[str]) -> Any:
        self.masks = {agent: self.random.random(3) < 0.4 for agent in agents}
        for mask in self.masks.values():
            mask[self.random.integers(3)] = True
        row = np.full(2, self.turn, np.float32)
        seen: dict[str, Any] = {}
        infos: dict[str, Any] = {}
        for agent in agents:
            mask = self.masks[agent].astype(np.int8)
            if agent == "right":
                seen[agent], infos[agent] = row, {"action_mask": mask}
            else:
                seen[agent] = {"observation": row, "action_mask": mask}
                infos[agent] = {}
        return seen, infos

    def step(self, actions: Any) -> Any:
        for agent, action in actions.items():
            if not self.masks[agent][action - 1]:
                msg = f"action {action} of {agent} must be in {self.masks[agent]}"
                raise ValueError(msg)
        self.turn += 1
        over = {agent: self.turn == (3 if agent == "late" else 5) for agent in actions}
        seen, infos = self.results(list(actions))
        self.agents = [agent for agent in actions if not over[agent]]
        never = dict.fromkeys(actions, False)
        return seen, {a: float(x) for a, x in actions.items()}, over, never, infos


class StuckTeam(MaskedTeam):
    """Forbids all actions of "right" after a step."""

    def results(self, agents: list[str]) -> Any:
        seen, infos = super().results(agents)
        if self.turn == 1:
            infos["right"]["action_mask"] = np.zeros(3, np.int8)
        return seen, infos
