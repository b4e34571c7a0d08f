# SPDX-License-Identifier: Apache-2.0
"""Results of multi-agent environments, by agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from reactorl.rl.envs.autoreset import own_copy

ByAgent: TypeAlias = dict[Any, Any]


class ParallelStep(NamedTuple):
    """The result of a step, by agent, and the agents that are left."""

    observations: ByAgent
    rewards: ByAgent
    terminations: ByAgent
    truncations: ByAgent
    infos: ByAgent
    agents: list[Any]
    episode: int
    """Number of resets so far."""

    @property
    def restarted(self) -> bool:
        """Whether its infos report a restart."""
        return False


class RestartedStep(ParallelStep):
    """A step whose infos report a restart."""

    @property
    def restarted(self) -> bool:
        """Its infos report a restart."""
        return True


class ParallelReset(NamedTuple):
    """The result of a reset, by agent, and the agents of the episode."""

    observations: ByAgent
    infos: ByAgent
    agents: list[Any]
    episode: int

    @property
    def restarted(self) -> bool:
        """Whether its infos report a restart."""
        return False


class RestartedReset(ParallelReset):
    """A reset whose infos report a restart."""

    @property
    def restarted(self) -> bool:
        """Its infos report a restart."""
        return True


class Last(NamedTuple):
    """The last observations of an episode, for a restart that truncates it."""

    observations: ByAgent
    agents: list[Any]
    episode: int

    @classmethod
    def of(cls, found: ParallelStep | ParallelReset, *, seen: bool = True) -> Last:
        """Return copies of the last observations.

        Args:
            found: The result of a step or reset.
            seen: Whether observations are included.
        """
        agents = list(found.agents)
        shown = found.observations if seen else {}
        last = {agent: own_copy(shown[agent]) for agent in agents if agent in shown}
        return cls(last, agents, found.episode)


NO_LAST = Last({}, [], 0)
"""Before the first reset."""


def first_step(first: ParallelReset) -> ParallelStep:
    """Return a reset in the form of a step (``NEXT_STEP``): no rewards, no ends."""
    agents = first.agents
    kind = RestartedStep if first.restarted else ParallelStep
    return kind(
        first.observations,
        dict.fromkeys(agents, 0.0),
        dict.fromkeys(agents, False),
        dict.fromkeys(agents, False),
        first.infos,
        agents,
        first.episode,
    )


def followed_by(last: ParallelStep, first: ParallelReset) -> ParallelStep:
    """Return the last step of an episode with the reset after it (``SAME_STEP``)."""
    infos = {agent: dict(info) for agent, info in first.infos.items()}
    for agent, observation in last.observations.items():
        info = infos.setdefault(agent, {})
        info["final_obs"] = observation
        info["final_info"] = last.infos.get(agent, {})
    kind = RestartedStep if last.restarted or first.restarted else ParallelStep
    return kind(*last)._replace(
        observations=first.observations,
        infos=infos,
        agents=first.agents,
        episode=first.episode,
    )


@dataclass(frozen=True, slots=True)
class AgentsDescription:
    """The agents and metadata of a ``ParallelEnv``."""

    name: str
    metadata: dict[str, Any]
    render_mode: str | None
    possible_agents: list[Any] | None
    """None if the environment does not say."""
    agents: list[Any]

    @classmethod
    def of(cls, env: Any) -> AgentsDescription:  # noqa: ANN401
        """Return the description of an environment."""
        possible = getattr(env, "possible_agents", None)
        return cls(
            str(env),
            dict(getattr(env, "metadata", {})),
            getattr(env, "render_mode", None),
            None if possible is None else list(possible),
            list(getattr(env, "agents", [])),
        )
