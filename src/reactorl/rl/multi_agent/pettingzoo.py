# SPDX-License-Identifier: Apache-2.0
"""PettingZoo's ``ParallelEnv`` on the environment stack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reactorl.rl._public import public
from reactorl.rl.multi_agent.vector import ParallelVectorEnv

try:
    from pettingzoo import ParallelEnv
except ImportError as error:
    _MSG = "this module needs PettingZoo: pip install 'reactorl[pettingzoo]'"
    raise ImportError(_MSG) from error

if TYPE_CHECKING:
    from reactorl.rl.envs.observation_buffer import Space
    from reactorl.rl.envs.placement import Placement
    from reactorl.rl.envs.rules import Restart
    from reactorl.rl.multi_agent.results import ByAgent
    from reactorl.rl.multi_agent.vector import Maker

__all__ = ["ParallelRunner", "ParallelVectorEnv"]


@public
class ParallelRunner(ParallelEnv):  # type: ignore[misc]
    """A ``ParallelEnv`` with placement, restarts and timeouts.

    One worker makes, steps and closes the environment.

    Args:
        env: A function that makes the environment.
        placement: ``"thread"``: in this process; ``"process"``: in a worker process.
        restart: What to do if it fails; see ``ParallelVectorEnv``.
        timeout: Limit for one step or reset, in seconds.

    Raises:
        EnvError: The environment cannot be made.

    Example:
        >>> game = ParallelRunner(lambda: make_game())
        >>> observations, infos = game.reset(seed=1)
    """

    def __init__(
        self,
        env: Maker,
        *,
        placement: Placement = "thread",
        restart: Restart = "never",
        timeout: float | None = None,
    ) -> None:
        self.vector = ParallelVectorEnv(
            env,
            1,
            workers=1,
            placement=placement,
            restart=restart,
            timeout=timeout,
            pin=True,
        )
        found = self.vector.descriptions[0]
        self.metadata = found.metadata
        self.render_mode = found.render_mode
        self.agents = found.agents
        if found.possible_agents is not None:
            self.possible_agents = found.possible_agents
        self._name = found.name

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ByAgent, ByAgent]:
        """Reset the environment.

        Raises:
            EnvError: It failed.
        """
        (observations,), (infos,) = self.vector.reset(seed=seed, options=options)
        self.agents = self.vector.agents[0]
        return observations, infos

    def step(
        self, actions: ByAgent
    ) -> tuple[ByAgent, ByAgent, ByAgent, ByAgent, ByAgent]:
        """Step the environment with an action of each agent.

        Raises:
            EnvError: It failed.
        """
        results = self.vector.step([actions])
        self.agents = self.vector.agents[0]
        (observations,), (rewards,), (terminations,), (truncations,), (infos,) = results
        return observations, rewards, terminations, truncations, infos

    def observation_space(self, agent: Any) -> Space:  # noqa: ANN401
        """Return the observation space of an agent."""
        return self.vector.observation_space(agent)

    def action_space(self, agent: Any) -> Space:  # noqa: ANN401
        """Return the action space of an agent."""
        return self.vector.action_space(agent)

    @property
    def observation_spaces(self) -> dict[Any, Space]:
        """The observation spaces of all possible agents."""
        return {agent: self.observation_space(agent) for agent in self.possible_agents}

    @property
    def action_spaces(self) -> dict[Any, Space]:
        """The action spaces of all possible agents."""
        return {agent: self.action_space(agent) for agent in self.possible_agents}

    def state(self) -> Any:  # noqa: ANN401
        """Return the global state, if the environment has one."""
        return self.vector.call("state")[0]

    def render(self) -> Any:  # noqa: ANN401
        """Render the environment."""
        return self.vector.call("render")[0]

    def close(self) -> None:
        """Close the environment; may be called again."""
        self.vector.close()

    def __str__(self) -> str:
        return self._name
