# SPDX-License-Identifier: Apache-2.0
"""A sub-environment with several agents (PettingZoo's ``ParallelEnv``).

Its episode is over when it has no agents left; until then agents come and go.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from gymnasium.vector import AutoresetMode

from reactorl.rl.envs.commands import Broadcast, Query
from reactorl.rl.envs.errors import FAILURES, EnvError
from reactorl.rl.envs.managed_env import ManagedEnv
from reactorl.rl.envs.timeout import unguarded
from reactorl.rl.multi_agent.results import (
    NO_LAST,
    AgentsDescription,
    Last,
    ParallelReset,
    ParallelStep,
    RestartedReset,
    RestartedStep,
    first_step,
    followed_by,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.envs.commands import Operation
    from reactorl.rl.envs.rules import Rules
    from reactorl.rl.envs.timeout import Guard
    from reactorl.rl.multi_agent.results import ByAgent


class ParallelSubEnv(ManagedEnv):
    """A sub-environment with several agents.

    Its results are replies: agents come and go, so they have no rows in arrays.
    """

    def __init__(
        self,
        index: int,
        make: Any,  # noqa: ANN401 - makes a ParallelEnv
        rules: Rules,
        guard: Guard = unguarded,
    ) -> None:
        super().__init__(index, make, rules, guard)
        self._mode = rules.autoreset
        self._can_restart = rules.restart != "never"
        self._last = NO_LAST
        self._episode = 0

    @property
    def _parallel(self) -> Any:  # noqa: ANN401 - a ParallelEnv
        return self._env

    def step_agents(self, actions: ByAgent | None) -> ParallelStep:
        """Step the environment; without agents, do what the autoreset mode says.

        Raises:
            EnvError: It raised or exceeded the timeout, and restarts are off.
        """
        if self._ended or (self._episode and not self._parallel.agents):
            return self._step_without_agents()
        self.steps += 1
        try:
            if self._plain:
                found = self.stepped.step(actions)
            else:
                found = self._guard(partial(self.stepped.step, actions))
            obs, rewards, terminated, truncated, infos = found
            agents = list(self._parallel.agents)
            step = ParallelStep(
                obs, rewards, terminated, truncated, infos, agents, self._episode
            )
        except FAILURES as error:
            failure = self.failure(error)
            if not self._can_restart or not self._last.agents:  # no agent to tell
                raise failure from error
            self._restart()
            return self._truncate_agents(failure)
        if not step.agents and self._mode is AutoresetMode.SAME_STEP:
            return followed_by(step, self.reset_agents(None, None))
        if self._can_restart:
            self._last = Last.of(step)
        return step

    def _step_without_agents(self) -> ParallelStep:
        failure = self.restarts.take_truncation()
        if failure is not None:
            return self._truncate_agents(failure)
        if self._mode is AutoresetMode.NEXT_STEP:
            return first_step(self.reset_agents(None, None))
        return ParallelStep({}, {}, {}, {}, {}, [], self._episode)

    def _truncate_agents(self, failure: EnvError) -> ParallelStep:
        """End the episode as truncated, with the last observations."""
        seen, agents, _ = self._last
        step = RestartedStep(
            seen,
            dict.fromkeys(agents, 0.0),
            dict.fromkeys(agents, False),
            dict.fromkeys(agents, True),
            {agent: self._restart_info(failure) for agent in agents},
            [],
            self._episode,
        )
        if self._mode is AutoresetMode.SAME_STEP:
            return followed_by(step, self.reset_agents(None, None))
        self._ended = True
        return step

    def reset_agents(
        self, seed: int | None, options: dict[str, Any] | None
    ) -> ParallelReset:
        """Reset the environment.

        Raises:
            EnvError: It raised or exceeded the timeout, also after a restart if
                restarts are on.
        """
        if seed is not None:
            self.restarts.seeded(seed)
        found, failure = self._retry(partial(self._try_agents, seed, options))
        if failure is not None:
            infos, restart = dict(found.infos), self._restart_info(failure)
            for agent in found.agents:
                infos[agent] = {**infos.get(agent, {}), **restart}
            found = RestartedReset(*found)._replace(infos=infos)
        if self._can_restart:
            self._last = Last.of(found)
        return found

    def _try_agents(
        self, seed: int | None, options: dict[str, Any] | None
    ) -> ParallelReset:
        replacement = self.restarts.take_seed()
        if seed is None:
            seed = replacement
        # Only arguments with a value: some environments take none.
        arguments: dict[str, Any] = {} if seed is None else {"seed": seed}
        if options is not None:
            arguments["options"] = options
        observations, infos = self._guard(partial(self.stepped.reset, **arguments))
        self._episode += 1
        agents = list(self._parallel.agents)
        return ParallelReset(observations, infos, agents, self._episode)

    def save(self, distrusted: Mapping[str, str]) -> Data:
        """Return a snapshot of the environment, and its restarts, as plain data.

        Agents of the last observations are given by their place among all agents.
        """
        if not self._can_restart:
            return super().save(distrusted)
        place = {agent: k for k, agent in enumerate(self._parallel.possible_agents)}
        seen = self._last.observations.items()
        last = [[place[agent], observation] for agent, observation in seen]
        return {
            **super().save(distrusted),
            "last": last,
            "agents": [place[agent] for agent in self._last.agents],
        }

    def load(self, saved: Data) -> str:
        """Restore a saved state; see ``ManagedEnv.load``."""
        reason = super().load(saved)
        if not reason and self._can_restart and "last" in saved:
            agents = self._parallel.possible_agents
            seen = {agents[k]: observation for k, observation in saved["last"]}
            present = [agents[k] for k in saved["agents"]]
            self._last = Last(seen, present, self._episode)
        return reason

    def step_deferred(self) -> ParallelStep:
        """Do the step that reports a deferred restart."""
        return self._step_without_agents()

    def _restore_last(self, last: Last) -> None:
        self._last = last
        self._episode = last.episode

    def _description(self) -> AgentsDescription:
        return AgentsDescription.of(self.env)

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
        """Call a method of the environment, or return an attribute."""
        found = getattr(self._parallel, name)
        return found(*args, **kwargs) if callable(found) else found

    @property
    def name(self) -> str:
        """The name of the environment."""
        return "not made yet" if not hasattr(self, "env") else str(self.env)


def try_parallel_steps(env: Any) -> Iterator[float]:  # noqa: ANN401 - a ParallelEnv
    """Step a ``ParallelEnv`` without end; yield the seconds of each step."""
    while True:
        env.reset(seed=0)
        for place, agent in enumerate(env.agents):
            env.action_space(agent).seed(place)
        while env.agents:
            actions = {agent: env.action_space(agent).sample() for agent in env.agents}
            began = time.perf_counter()
            env.step(actions)
            yield time.perf_counter() - began


@dataclass(frozen=True, slots=True)
class StepAgents(Query):
    """Step with these actions of all agents, by index."""

    operation: ClassVar[Operation] = "step"
    actions: Sequence[ByAgent | None] | Mapping[int, ByAgent | None]

    def apply(self, sub_env: ParallelSubEnv) -> ParallelStep:
        """Step one sub-environment."""
        return sub_env.step_agents(self.actions[sub_env.index])

    def part(self, indices: Sequence[int]) -> StepAgents:
        """Return the actions for some sub-environments."""
        return StepAgents({index: self.actions[index] for index in indices})


@dataclass(frozen=True, slots=True)
class ResetAgents(Broadcast):
    """Reset with these seeds, by index."""

    operation: ClassVar[Operation] = "reset"
    seeds: Mapping[int, int | None]
    options: dict[str, Any] | None = None

    def seed_for(self, index: int) -> int | None:
        """Return its seed."""
        return self.seeds.get(index)

    def apply(self, sub_env: ParallelSubEnv) -> ParallelReset:
        """Reset one sub-environment."""
        return sub_env.reset_agents(self.seeds[sub_env.index], self.options)
