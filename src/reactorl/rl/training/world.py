# SPDX-License-Identifier: Apache-2.0
"""An environment with several agents, as the reactor in the middle of their policies.

At the tag of a turn it shows each agent what that agent observes, and steps as soon as
all have answered: at the same tag, for its second reaction comes after the policies,
and they after its first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gymnasium.vector import AutoresetMode

from reactorl import (
    Input,
    MultiInput,
    MultiOutput,
    Output,
    Reactor,
    param,
    reaction,
    shutdown,
    startup,
)
from reactorl.rl.agents import AgentsSeat
from reactorl.rl.failures import EnvFailure
from reactorl.rl.seat import Rules
from reactorl.rl.training.algorithm import FlowError, Spaces
from reactorl.rl.training.cloning import heard, restore_env, saved_env, told
from reactorl.rl.training.encoding import Encoder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reactorl.rl.agents import ByAgent
    from reactorl.rl.parallel import Maker
    from reactorl.rl.training.saved import Data, Records


class Choice(NamedTuple):
    """What a policy answers."""

    action: Any
    late: bool = False
    """Whether its time was up, so that this is its fallback."""


class Played(NamedTuple):
    """What a turn was, by agent; only of agents that took part.

    Observations are arrays, as ``Encoder`` makes them of any space.
    """

    observations: ByAgent
    """Before the step."""
    actions: ByAgent
    late: tuple[Any, ...]
    """Who did not answer in time, so that an action is a fallback."""
    reached: ByAgent
    """Observations after the step; of an episode that ended, its last."""
    rewards: ByAgent
    terminations: ByAgent
    truncations: ByAgent
    scores: ByAgent | None
    """Sums of rewards, of all agents, if the episode ended."""


def cast_of(maker: Maker) -> dict[Any, Spaces]:
    """Return the agents of an environment, and what each sees and does.

    Raises:
        FlowError: It does not say which agents there can be, or what they observe is
            no numbers.
    """
    env = maker()
    try:
        agents = getattr(env, "possible_agents", None)
        if not agents:
            msg = f"{env} does not say which agents it can have"
            remedy = "Each has a policy: let it have possible_agents."
            raise FlowError(msg, remedy)
        cast = {
            agent: Spaces(env.observation_space(agent), env.action_space(agent))
            for agent in agents
        }
        for spaces in cast.values():
            Encoder(spaces.observation)
        return cast
    finally:
        env.close()


@dataclass(frozen=True, repr=False)  # programs are compared by what values show
class WorldPlan:
    """What all environments of a match are."""

    maker: Maker
    cast: Mapping[Any, Spaces]
    seed: int
    """Environment k is reset with this and k first, and with none afterwards."""
    records: Records


class World(Reactor):
    """One environment: observations out, actions in, and what became of them."""

    go = Input[int]()
    observations = MultiOutput[Any](lambda self: len(self.plan.cast))
    """One for each agent, in order; absent for those that are not there."""
    actions = MultiInput[Choice]()
    played = Output[Played]()

    plan: WorldPlan = param()
    bank_index: int = param(0)

    def setup(self) -> None:
        """Have no environment yet."""
        self.seat: AgentsSeat | None = None
        self.agents = list(self.plan.cast)
        self.encoders = {
            agent: Encoder(spaces.observation)
            for agent, spaces in self.plan.cast.items()
        }
        self.plain = all(encoder.is_plain for encoder in self.encoders.values())
        self.rows: ByAgent = {}
        self.scores: ByAgent = {}

    @reaction(startup)
    def make(self) -> None:
        """Make the environment, on this reactor's home worker."""
        plan = self.plan
        rules = Rules(AutoresetMode.DISABLED)
        self.seat = AgentsSeat(self.bank_index, plan.maker, rules)
        self._begin(plan.seed + self.bank_index)
        saved = plan.records.enter(self.name, self)
        if saved is not None:
            self._load(saved)

    @reaction(go, effects=[observations])
    def show(self) -> None:
        """Show agents what they observe; begin an episode if there is none."""
        if not self.rows:
            self._begin(None)
        for place, agent in enumerate(self.agents):
            if agent in self.rows:
                self.observations[place].set(self.rows[agent])

    @reaction(actions, effects=[played])
    def step(self) -> None:
        """Do what the agents chose."""
        assert self.seat is not None
        actions, late = {}, []
        for agent, port in zip(self.agents, self.actions, strict=True):
            if port.is_present:
                actions[agent], is_late = port.value
                if is_late:
                    late.append(agent)
        try:
            turn = self.seat.play(actions)
        except EnvFailure as failure:
            raise failure.at(str(self.tag)) from failure
        observations, given, ended, cut_off, _, agents, _ = turn
        everything = self._encoded(observations)
        scores = self.scores
        reached, rewards, terminations, truncations = {}, {}, {}, {}
        for agent in actions:
            reached[agent] = everything[agent]
            reward = rewards[agent] = float(given[agent])
            scores[agent] = scores.get(agent, 0.0) + reward
            terminations[agent] = bool(ended[agent])
            truncations[agent] = bool(cut_off[agent])
        over = not agents
        self.played.set(
            Played(
                self.rows,
                actions,
                tuple(late),
                reached,
                rewards,
                terminations,
                truncations,
                scores if over else None,
            )
        )
        # Mostly the same agents are there as before, and then so is what they see.
        same = len(agents) == len(everything) == len(reached)
        self.rows = reached if same else {agent: everything[agent] for agent in agents}
        if over:
            self.scores = {}

    def _begin(self, seed: int | None) -> None:
        assert self.seat is not None
        beginning = self.seat.begin(seed, None)
        rows = self._encoded(beginning.observations)
        self.rows = {agent: rows[agent] for agent in beginning.agents}
        self.scores = {}

    def _encoded(self, observations: ByAgent) -> ByAgent:
        # A copy: environments may go on writing into what they gave.
        if self.plain:
            return {agent: np.array(seen) for agent, seen in observations.items()}
        return {
            agent: np.array(self.encoders[agent].one(seen))
            for agent, seen in observations.items()
        }

    # -- between turns ----------------------------------------------------------------

    def save(self) -> Data:
        """Return everything that the next turn depends on; agents by place."""
        assert self.seat is not None
        place = {agent: k for k, agent in enumerate(self.agents)}
        return {
            "rows": [[place[agent], told(row)] for agent, row in self.rows.items()],
            "scores": [[place[agent], s] for agent, s in self.scores.items()],
            "env": saved_env(self.seat.env),
        }

    def _load(self, saved: Data) -> None:
        assert self.seat is not None
        self.rows = {self.agents[k]: heard(row) for k, row in saved["rows"]}
        self.scores = {self.agents[k]: float(score) for k, score in saved["scores"]}
        restore_env(self.seat.env, saved["env"])

    @reaction(shutdown)
    def close(self) -> None:
        """Close the environment."""
        self.teardown()

    def teardown(self) -> None:
        """Close the environment, if that has not happened yet."""
        seat, self.seat = self.seat, None
        if seat is not None:
            seat.close()
