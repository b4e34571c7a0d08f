# SPDX-License-Identifier: Apache-2.0
"""A limit on the steps of an episode with several agents."""

from __future__ import annotations

from typing import Any


class ParallelTimeLimit:
    """Truncates an episode of a ``ParallelEnv`` for all agents after some steps.

    Args:
        env: The environment.
        max_episode_steps: Number of steps.
    """

    def __init__(self, env: Any, max_episode_steps: int) -> None:  # noqa: ANN401
        self.env = env
        self.max_episode_steps = max_episode_steps
        self._steps = 0

    @property
    def agents(self) -> list[Any]:
        """The agents that act next; none when the limit is reached."""
        return [] if self._steps >= self.max_episode_steps else list(self.env.agents)

    @property
    def unwrapped(self) -> Any:  # noqa: ANN401
        """The environment without wrappers."""
        return self.env.unwrapped

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> Any:  # noqa: ANN401
        """Reset the environment, and begin to count."""
        self._steps = 0
        given: dict[str, Any] = {} if seed is None else {"seed": seed}
        if options is not None:
            given["options"] = options
        return self.env.reset(**given)

    def step(self, actions: dict[Any, Any]) -> tuple[Any, ...]:
        """Step the environment; at the limit the agents that are left are truncated."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        self._steps += 1
        if self._steps >= self.max_episode_steps:
            truncations = {**truncations, **dict.fromkeys(self.env.agents, True)}
        return observations, rewards, terminations, truncations, infos

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        if name == "env":  # not made yet, while it is copied
            raise AttributeError(name)
        return getattr(self.env, name)

    def __str__(self) -> str:
        return str(self.env)
