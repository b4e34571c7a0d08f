# SPDX-License-Identifier: Apache-2.0
"""Referee: evaluates during a training, and says when it ends.

It runs in the process that trains. The time of evaluations does not count; everything
else does, from the start of the process: imports, compilation, making environments.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

EVALUATION_SEED = 1_000_000
"""Seed of the first episode of every evaluation, for all engines."""
LONGEST = 20_000
"""Steps after which an episode of an evaluation is cut off."""


class Referee:
    """Evaluates every so many environment steps.

    Args:
        request: Of the run; see ``benchmarks.results.runs.Request``.
        send: Called with each evaluation, as data of JSON.
    """

    def __init__(self, request: dict[str, Any], send: Callable[[Any], None]) -> None:
        self._task = request["task"]
        self._began: float = request["began"]
        self._send = send
        self._next: int = self._task["every"]
        self._paused = self._paused_cpu = 0.0
        self.steps = 0

    def due(self, steps: int) -> bool:
        """Return whether an evaluation is due after so many environment steps."""
        return steps >= self._next

    def evaluate(self, steps: int, play: Callable[[int, int], Sequence[float]]) -> bool:
        """Evaluate; return whether the training is to end.

        Args:
            steps: Environment steps so far.
            play: Plays a number of episodes greedily, the first with a seed, and
                returns their returns.
        """
        paused, paused_cpu = time.monotonic(), time.process_time()
        self.steps = steps
        seconds = paused - self._began - self._paused
        returns = [float(r) for r in play(self._task["episodes"], EVALUATION_SEED)]
        mean = sum(returns) / len(returns)
        self._send(
            {
                "steps": steps,
                "seconds": seconds,
                "cpu": paused_cpu - self._paused_cpu,
                "mean_return": mean,
            }
        )
        self._paused += time.monotonic() - paused
        self._paused_cpu += time.process_time() - paused_cpu
        while self._next <= steps:
            self._next += self._task["every"]
        task = self._task
        return bool(
            mean >= task["threshold"]
            or steps >= task["limit"]
            or seconds >= task["seconds"]
        )


def register(env_id: str) -> None:
    """Import the package that registers an environment."""
    if env_id.startswith("MinAtar/"):
        import gymnasium as gym

        if env_id not in gym.registry:
            from minatar.gym import register_envs

            register_envs()


def played(
    env_id: str, act: Callable[[Any], Any], episodes: int, seed: int
) -> list[float]:
    """Play episodes of a Gymnasium environment side by side; return their returns.

    Args:
        env_id: The environment.
        act: Returns actions for a batch of observations.
        episodes: How many.
        seed: Of the first one; others have the next ones.
    """
    import gymnasium as gym
    import numpy as np

    register(env_id)
    envs = [gym.make(env_id) for _ in range(episodes)]
    last = [env.reset(seed=seed + k)[0] for k, env in enumerate(envs)]
    returns = [0.0] * episodes
    playing = list(range(episodes))
    for _ in range(LONGEST):
        actions = np.asarray(act(np.stack([last[k] for k in playing])))
        still = []
        for k, action in zip(playing, actions, strict=True):
            space = envs[k].action_space
            chosen = np.asarray(action).reshape(space.shape)
            if isinstance(space, gym.spaces.Discrete):
                chosen = int(chosen)
            last[k], reward, ended, cut, _ = envs[k].step(chosen)
            returns[k] += float(reward)
            if not (ended or cut):
                still.append(k)
        playing = still
        if not playing:
            break
    for env in envs:
        env.close()
    return returns
