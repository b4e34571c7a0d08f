# SPDX-License-Identifier: Apache-2.0
"""One environment with several agents, and what it can be told.

An environment is done when it has no agents left; until then they come and go.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from gymnasium.vector import AutoresetMode

from reactorl.rl.commands import Answer, ForAll
from reactorl.rl.seat import Seat

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from reactorl.rl.seat import Rules

ByAgent: TypeAlias = dict[Any, Any]


class Turn(NamedTuple):
    """What a step gave, and who is left."""

    observations: ByAgent
    rewards: ByAgent
    terminations: ByAgent
    truncations: ByAgent
    infos: ByAgent
    agents: list[Any]
    episode: int
    """How often there was a reset."""


class Beginning(NamedTuple):
    """What a reset gave, and who is there."""

    observations: ByAgent
    infos: ByAgent
    agents: list[Any]
    episode: int


class AgentsSeat(Seat):
    """One environment with several agents; see ``Seat``."""

    def __init__(
        self,
        index: int,
        make: Any,  # noqa: ANN401 - makes a ParallelEnv
        rules: Rules,
        guard: AbstractContextManager[object] | None = None,
    ) -> None:
        super().__init__(index, make, rules, guard)
        self._mode = rules.autoreset
        self._episode = 0
        self._world: Any = self.env

    def play(self, actions: ByAgent | None) -> Turn:
        """Step the environment; without agents, do what the autoreset mode says.

        Raises:
            EnvFailure: It raised, or took too long.
        """
        if self._episode and not self._world.agents:
            if self._mode is AutoresetMode.NEXT_STEP:
                return _first_turn(self.begin(None, None))
            return Turn({}, {}, {}, {}, {}, [], self._episode)
        self.steps += 1
        try:
            with self._guard:
                obs, rewards, terminated, truncated, infos = self._world.step(actions)
            agents = list(self._world.agents)
            turn = Turn(
                obs, rewards, terminated, truncated, infos, agents, self._episode
            )
        except (Exception, SystemExit) as error:
            raise self._failure(error) from error
        if not turn.agents and self._mode is AutoresetMode.SAME_STEP:
            return _continued(turn, self.begin(None, None))
        return turn

    def begin(self, seed: int | None, options: dict[str, Any] | None) -> Beginning:
        """Reset the environment.

        Raises:
            EnvFailure: It raised, or took too long.
        """
        # As a loop would call it: not everybody's reset takes what it does not need.
        given: dict[str, Any] = {} if seed is None else {"seed": seed}
        if options is not None:
            given["options"] = options
        try:
            with self._guard:
                observations, infos = self._world.reset(**given)
            self._episode += 1
            agents = list(self._world.agents)
            return Beginning(observations, infos, agents, self._episode)
        except (Exception, SystemExit) as error:
            raise self._failure(error) from error

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
        """Return what a method of the environment returns, or an attribute of it."""
        found = getattr(self._world, name)
        return found(*args, **kwargs) if callable(found) else found

    @property
    def name(self) -> str:
        """What the environment calls itself."""
        return "not made yet" if not hasattr(self, "env") else str(self.env)


def try_turns(env: Any) -> Iterator[float]:  # noqa: ANN401 - a ParallelEnv
    """Step an environment for ever; how long takes each step?"""
    while True:
        env.reset(seed=0)
        for place, agent in enumerate(env.agents):
            env.action_space(agent).seed(place)
        while env.agents:
            actions = {agent: env.action_space(agent).sample() for agent in env.agents}
            began = time.perf_counter()
            env.step(actions)
            yield time.perf_counter() - began


def _first_turn(new: Beginning) -> Turn:
    """Return a beginning in the form of a step, in which nothing has happened yet."""
    agents = new.agents
    return Turn(
        new.observations,
        dict.fromkeys(agents, 0.0),
        dict.fromkeys(agents, False),
        dict.fromkeys(agents, False),
        new.infos,
        agents,
        new.episode,
    )


def _continued(last: Turn, new: Beginning) -> Turn:
    """Return the last step of an episode, with what the next one begins with."""
    infos = {agent: dict(info) for agent, info in new.infos.items()}
    for agent, observation in last.observations.items():
        info = infos.setdefault(agent, {})
        info["final_obs"] = observation
        info["final_info"] = last.infos.get(agent, {})
    return last._replace(
        observations=new.observations,
        infos=infos,
        agents=new.agents,
        episode=new.episode,
    )


@dataclass(frozen=True, slots=True)
class Play:
    """Step with these actions of all agents, by index."""

    actions: Sequence[ByAgent | None] | Mapping[int, ByAgent | None]

    def apply(self, seat: Seat) -> Turn:
        """Step one environment."""
        assert isinstance(seat, AgentsSeat)
        return seat.play(self.actions[seat.index])

    def part(self, indices: Sequence[int]) -> Play:
        """Return the actions of some."""
        return Play({index: self.actions[index] for index in indices})


@dataclass(frozen=True, slots=True)
class Begin(ForAll):
    """Reset with these seeds, by index."""

    seeds: Mapping[int, int | None]
    options: dict[str, Any] | None

    def apply(self, seat: Seat) -> Beginning:
        """Reset one environment."""
        assert isinstance(seat, AgentsSeat)
        return seat.begin(self.seeds[seat.index], self.options)


@dataclass(frozen=True, slots=True)
class Introduce(ForAll):
    """Tell what it is."""

    def apply(self, seat: Seat) -> Answer:
        """Describe one environment."""
        return Answer.of(lambda: AgentsDescription.of(seat.env))


@dataclass(frozen=True, slots=True)
class AgentsDescription:
    """What an environment with several agents is, as far as a runner needs to know."""

    name: str
    metadata: dict[str, Any]
    render_mode: str | None
    possible_agents: list[Any] | None
    """None if it does not say."""
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
