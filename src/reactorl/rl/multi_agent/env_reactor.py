# SPDX-License-Identifier: Apache-2.0
"""An environment with several agents, as the reactor in the middle of their policies.

At the tag of a turn it shows each agent what that agent observes, and steps as soon as
all have answered: at the same tag, for its second reaction comes after the policies,
and they after its first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

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
from reactorl.rl.envs.errors import EnvError
from reactorl.rl.multi_agent.envs import AgentsEnv, Played

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reactorl.rl.checkpoint.registry import Data, StateRegistry
    from reactorl.rl.flow.algorithm import Spaces
    from reactorl.rl.multi_agent.vector import Maker


class Late(NamedTuple):
    """What an agent does whose policy did not answer in time."""

    fallback: Any


@dataclass(frozen=True, repr=False)  # programs are compared by what values show
class WorldPlan:
    """What all environments of a match are."""

    maker: Maker
    cast: Mapping[Any, Spaces]
    seed: int
    """Environment k is reset with this and k first, and with none afterwards."""
    registry: StateRegistry


class World(Reactor):
    """One environment: observations out, actions in, and what became of them."""

    go = Input[int]()
    observations = MultiOutput[Any](lambda self: len(self.plan.cast))
    """One for each agent, in order; absent for those that are not there."""
    actions = MultiInput[Any]()
    """What each agent that observes something does; ``Late`` if that is a fallback."""
    played = Output[Played]()

    plan: WorldPlan = param()
    bank_index: int = param(0)

    def setup(self) -> None:
        """Have no environment yet."""
        self.env: AgentsEnv | None = None
        self.agents = list(self.plan.cast)

    @reaction(startup)
    def make(self) -> None:
        """Make the environment, on this reactor's home worker."""
        plan = self.plan
        self.env = AgentsEnv(self.bank_index, plan.maker, plan.cast)
        self.env.begin(plan.seed + self.bank_index)
        saved = plan.registry.enter(self.name, self)
        if saved is not None:
            self.env.load(saved)

    @reaction(go, effects=[observations])
    def show(self) -> None:
        """Show agents what they observe; begin an episode if there is none."""
        assert self.env is not None
        if not self.env.rows:
            self.env.begin(None)
        rows = self.env.rows
        for agent, port in zip(self.agents, self.observations, strict=True):
            if agent in rows:
                port.set(rows[agent])

    @reaction(actions, effects=[played])
    def step(self) -> None:
        """Do what the agents chose."""
        assert self.env is not None
        agents, chosen = self.agents, self.actions.values()
        if len(chosen) < len(agents):
            each = zip(agents, self.actions, strict=True)
            agents = [agent for agent, port in each if port.is_present]
        actions = dict(zip(agents, chosen, strict=True))
        late: tuple[Any, ...] = ()
        if Late in map(type, chosen):
            late = tuple(a for a, action in actions.items() if type(action) is Late)
            actions.update((agent, actions[agent].fallback) for agent in late)
        try:
            played = self.env.play(actions, late)
        except EnvError as failure:
            raise failure.at(str(self.tag)) from failure
        self.played.set(played)

    def save(self) -> Data:
        """Return everything that the next turn depends on."""
        assert self.env is not None
        return self.env.save()

    @reaction(shutdown)
    def close(self) -> None:
        """Close the environment."""
        self.teardown()

    def teardown(self) -> None:
        """Close the environment, if that has not happened yet."""
        env, self.env = self.env, None
        if env is not None:
            env.close()
