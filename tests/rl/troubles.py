# SPDX-License-Identifier: Apache-2.0
"""An environment that misbehaves when told to, and a vector of some of these."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

import numpy as np
from gymnasium import spaces

from tests.rl.toy_envs import Toy

SPACE = spaces.Dict(a=spaces.Box(-9, 9, (2,), np.float32), b=spaces.Discrete(50))


class Trouble(Toy):
    """Misbehaves in one of its steps, in each reset, or when it is made or closed.

    Args:
        kind: How; empty: not at all.
        at: In which step since it was made.
    """

    def __init__(self, kind: str = "", at: int = 0, *, longest: int = 6) -> None:
        super().__init__(SPACE, chatty=False, longest=longest)
        self.kind = kind
        self.at = at
        self.steps = 0
        if kind == "init":
            msg = "cannot be made"
            raise OSError(msg)
        if kind == "exit when made":
            sys.exit(3)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        observation, info = super().reset(seed=seed, options=options)
        if self.kind == "reset":
            msg = "cannot be reset"
            raise KeyError(msg)
        if self.kind == "second reset" and self.episodes == 2:
            msg = "cannot be reset right now"
            raise KeyError(msg)
        if self.kind == "nan reset":
            observation = {**observation, "a": np.full(2, np.nan, np.float32)}
        if self.kind == "info reset":
            info = 3  # type: ignore[assignment]
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        self.steps += 1
        result = super().step(action)
        if self.steps == self.at:
            return self.misbehave(*result)
        return result

    def misbehave(
        self, observation: Any, reward: Any, *rest: Any
    ) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        a, b = observation["a"], observation["b"]
        if self.kind == "step":
            deeply(3)
        elif self.kind == "exit":
            sys.exit(3)
        elif self.kind == "generator exit":
            raise GeneratorExit
        elif self.kind == "nan":
            observation = {"a": np.array([1.0, np.nan], np.float32), "b": b}
        elif self.kind == "nan reward":
            reward = float("nan")
        elif self.kind == "shape":
            observation = {"b": b, "a": np.zeros(3, np.float32)}
        elif self.kind == "dtype":
            # What fits comes first: it must not stay behind.
            observation = {"a": a + 1, "b": np.float64(1.5)}
        elif self.kind == "structure":
            observation = {"a": a}
        elif self.kind == "no dict":
            observation = a
        elif self.kind == "reward":
            reward = "much"
        elif self.kind == "info":
            return observation, reward, rest[0], rest[1], ["info"]  # type: ignore[return-value]
        elif self.kind == "four values":
            return observation, reward, *rest[:2]  # type: ignore[return-value]
        elif self.kind == "spin":
            while True:
                for _ in range(1000):
                    pass
        elif self.kind == "spin and shrug":
            while True:
                try:
                    self.kind.upper()
                except Exception:
                    continue
        elif self.kind == "sleep":
            time.sleep(600)
        elif self.kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        return observation, reward, *rest  # type: ignore[return-value]

    def close(self) -> None:
        if self.kind == "close":
            msg = "cannot be closed"
            raise ConnectionError(msg)


def deeply(depth: int) -> None:
    """Raise from further down."""
    if not depth:
        msg = "bad step"
        raise ValueError(msg)
    deeply(depth - 1)


class Weary(Trouble):
    """Ends its episodes after two steps, and misbehaves in its second reset.

    Args:
        kind: How: raise, spin or kill; empty: not at all.
    """

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        found = super().reset(seed=seed, options=options)
        self.length = 2
        if self.episodes == 2:
            if self.kind == "raise":
                deeply(3)
            while self.kind == "spin":
                time.sleep(0.001)  # Python code, but the core is free for other tests
            if self.kind == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
        return found
