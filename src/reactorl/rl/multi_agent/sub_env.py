# SPDX-License-Identifier: Apache-2.0
"""One environment with several agents, and what it can be told.

An environment is done when it has no agents left; until then they come and go.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

from gymnasium.vector import AutoresetMode

from reactorl.rl.envs.commands import Asking, ForAll
from reactorl.rl.envs.sub_env import SubEnv, as_it_is
from reactorl.rl.envs.timeout import unguarded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reactorl.rl.envs.commands import Deed
    from reactorl.rl.envs.errors import EnvError
    from reactorl.rl.envs.sub_env import Rules
    from reactorl.rl.envs.timeout import Guard

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

    @property
    def restarted(self) -> bool:
        """Whether its infos tell of a restart."""
        return False


class RestartedTurn(Turn):
    """A step with a restart, of which its infos tell."""

    @property
    def restarted(self) -> bool:
        """Its infos tell of a restart."""
        return True


class Beginning(NamedTuple):
    """What a reset gave, and who is there."""

    observations: ByAgent
    infos: ByAgent
    agents: list[Any]
    episode: int

    @property
    def restarted(self) -> bool:
        """Whether its infos tell of a restart."""
        return False


class RestartedBeginning(Beginning):
    """A reset with a restart, of which its infos tell."""

    @property
    def restarted(self) -> bool:
        """Its infos tell of a restart."""
        return True


class Last(NamedTuple):
    """What a restart needs to know of an episode that it cuts off."""

    observations: ByAgent
    agents: list[Any]
    episode: int

    @classmethod
    def of(cls, found: Turn | Beginning, *, seen: bool = True) -> Last:
        """Return what is to be remembered; nobody else can change it.

        Args:
            found: What a step or reset gave.
            seen: Whether observations are remembered, too.
        """
        agents = list(found.agents)
        shown = found.observations if seen else {}
        last = {agent: as_it_is(shown[agent]) for agent in agents if agent in shown}
        return cls(last, agents, found.episode)


NOTHING = Last({}, [], 0)
"""Before the first reset."""


class ParallelSubEnv(SubEnv):
    """One environment with several agents; see ``SubEnv``.

    Its results are replies. Arrays have no place for agents that come and go.
    """

    NEEDS = ("reset", "step")

    def __init__(
        self,
        index: int,
        make: Any,  # noqa: ANN401 - makes a ParallelEnv
        rules: Rules,
        guard: Guard = unguarded,
    ) -> None:
        super().__init__(index, make, rules, guard)
        self._mode = rules.autoreset
        self._remembers = rules.restart != "never"
        self._last = NOTHING
        self._episode = 0
        self._world: Any = self.env

    def play(self, actions: ByAgent | None) -> Turn:
        """Step the environment; without agents, do what the autoreset mode says.

        Raises:
            EnvError: It raised or took too long, and is not to be restarted.
        """
        if self._ended or (self._episode and not self._world.agents):
            return self._rest()
        self.steps += 1
        try:
            if self._plain:
                found = self._world.step(actions)
            else:
                found = self._guard(partial(self._world.step, actions))
            obs, rewards, terminated, truncated, infos = found
            agents = list(self._world.agents)
            turn = Turn(
                obs, rewards, terminated, truncated, infos, agents, self._episode
            )
        except (Exception, SystemExit) as error:
            failure = self._failure(error)
            if not self._remembers or not self._last.agents:  # nobody would be told
                raise failure from error
            self._restart()
            return self._cut_short(failure)
        if not turn.agents and self._mode is AutoresetMode.SAME_STEP:
            return _continued(turn, self.begin(None, None))
        if self._remembers:
            self._last = Last.of(turn)
        return turn

    def _rest(self) -> Turn:
        """Do what there is to do without agents."""
        if self._owed is not None and self._owes_end:
            failure, self._owed = self._owed, None
            return self._cut_short(failure)
        if self._mode is AutoresetMode.NEXT_STEP:
            return _first_turn(self.begin(None, None))
        return Turn({}, {}, {}, {}, {}, [], self._episode)

    def _cut_short(self, failure: EnvError) -> Turn:
        """End the episode as truncated, with the last observations there were."""
        seen, agents, _ = self._last
        turn = RestartedTurn(
            seen,
            dict.fromkeys(agents, 0.0),
            dict.fromkeys(agents, False),
            dict.fromkeys(agents, True),
            {agent: self._log(failure) for agent in agents},
            [],
            self._episode,
        )
        if self._mode is AutoresetMode.SAME_STEP:
            return _continued(turn, self.begin(None, None))
        self._ended = True
        return turn

    def begin(self, seed: int | None, options: dict[str, Any] | None) -> Beginning:
        """Reset the environment.

        Raises:
            EnvError: It raised or took too long, also after a restart if there may be
                one.
        """
        if seed is not None:
            self._seed, self.lives, self._newborn_seed = seed, 0, None
        new, failure = self._insist(partial(self._try_begin, seed, options))
        if failure is not None:
            infos, log = dict(new.infos), self._log(failure)
            for agent in new.agents:
                infos[agent] = {**infos.get(agent, {}), **log}
            new = RestartedBeginning(*new)._replace(infos=infos)
        if self._remembers:
            self._last = Last.of(new)
        return new

    def _try_begin(self, seed: int | None, options: dict[str, Any] | None) -> Beginning:
        if seed is None:
            seed = self._newborn_seed
        self._newborn_seed = None
        # As a loop would call it: not everybody's reset takes what it does not need.
        given: dict[str, Any] = {} if seed is None else {"seed": seed}
        if options is not None:
            given["options"] = options
        observations, infos = self._guard(partial(self._world.reset, **given))
        self._episode += 1
        return Beginning(observations, infos, list(self._world.agents), self._episode)

    def go_on(self) -> Turn:
        """Do what a step does that tells of a restart; see ``owe``."""
        return self._rest()

    def _restart(self) -> None:
        super()._restart()
        self._world = self.env

    def _recall(self, last: Last) -> None:
        self._last = last
        self._episode = last.episode

    def _description(self) -> AgentsDescription:
        return AgentsDescription.of(self.env)

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
    kind = RestartedTurn if new.restarted else Turn
    return kind(
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
    kind = RestartedTurn if last.restarted or new.restarted else Turn
    return kind(*last)._replace(
        observations=new.observations,
        infos=infos,
        agents=new.agents,
        episode=new.episode,
    )


@dataclass(frozen=True, slots=True)
class Play(Asking):
    """Step with these actions of all agents, by index."""

    deed: ClassVar[Deed] = "step"
    actions: Sequence[ByAgent | None] | Mapping[int, ByAgent | None]

    def apply(self, seat: SubEnv) -> Turn:
        """Step one environment."""
        assert isinstance(seat, ParallelSubEnv)
        return seat.play(self.actions[seat.index])

    def part(self, indices: Sequence[int]) -> Play:
        """Return the actions of some."""
        return Play({index: self.actions[index] for index in indices})


@dataclass(frozen=True, slots=True)
class Begin(ForAll):
    """Reset with these seeds, by index."""

    deed: ClassVar[Deed] = "reset"
    seeds: Mapping[int, int | None]
    options: dict[str, Any] | None

    def seed_for(self, index: int) -> int | None:
        """Return its seed."""
        return self.seeds.get(index)

    def apply(self, seat: SubEnv) -> Beginning:
        """Reset one environment."""
        assert isinstance(seat, ParallelSubEnv)
        return seat.begin(self.seeds[seat.index], self.options)


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
