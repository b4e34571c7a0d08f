# SPDX-License-Identifier: Apache-2.0
"""The reactor of a multi-agent environment, between the policies of its agents.

At the tag of a step it sends each agent its observation, and steps when all actions are
there: at the same tag, since its second reaction depends on the policies, and they on
its first.
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
from reactorl.rl.multi_agent.envs import AgentsEnv, Played
from reactorl.rl.multi_agent.masks import MaskedObservation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reactorl.rl.checkpoint.registry import Data, StateRegistry
    from reactorl.rl.envs.shard_factory import ShardFactory
    from reactorl.rl.flow.algorithm import Spaces


class Late(NamedTuple):
    """The fallback action of an agent whose policy missed the deadline."""

    fallback: Any


@dataclass(frozen=True, repr=False)  # programs are compared by what values show
class WorldPlan:
    """Settings of all environments of a program."""

    shards: ShardFactory
    cast: Mapping[Any, Spaces]
    seed: int
    """Environment k is reset with ``seed + k`` first, and without a seed afterwards."""
    registry: StateRegistry
    masks: bool = False
    """Whether to read action masks, and to send observations as
    ``MaskedObservation`` to agents that have one."""


class World(Reactor):
    """One environment: observations out, actions in, joint steps out."""

    go = Input[int]()
    observations = MultiOutput[Any](lambda self: len(self.plan.cast))
    """One for each agent, in order; absent for agents that are not present."""
    actions = MultiInput[Any]()
    """The action of each present agent; ``Late`` if it is a fallback."""
    played = Output[Played]()

    plan: WorldPlan = param()
    bank_index: int = param(0)

    def setup(self) -> None:
        """Start a worker process, if the environment lives in one."""
        plan = self.plan
        self.env: AgentsEnv | None = AgentsEnv(
            self.bank_index, plan.shards, plan.cast, masks=plan.masks
        )
        self.agents = list(plan.cast)

    @reaction(startup)
    def make(self) -> None:
        """Make the environment, on this reactor's home worker."""
        plan = self.plan
        assert self.env is not None
        self.env.open()
        self.env.begin(plan.seed + self.bank_index)
        saved = plan.registry.enter(self.name, self)
        if saved is not None:
            self.env.load(saved)

    @reaction(go, effects=[observations])
    def show(self) -> None:
        """Send observations to the agents; begin an episode if there is none."""
        assert self.env is not None
        if not self.env.rows:
            self.env.begin(None, str(self.tag))
        rows, masks = self.env.rows, self.env.masks
        for agent, port in zip(self.agents, self.observations, strict=True):
            if agent in masks:
                port.set(MaskedObservation(rows[agent], masks[agent]))
            elif agent in rows:
                port.set(rows[agent])

    @reaction(actions, effects=[played])
    def step(self) -> None:
        """Do a joint step."""
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
        self.played.set(self.env.play(actions, late, str(self.tag)))

    def save(self) -> Data:
        """Return the state between two steps."""
        assert self.env is not None
        return self.env.save()

    @reaction(shutdown)
    def close(self) -> None:
        """Close the environment."""
        self.teardown()

    def teardown(self) -> None:
        """Close the environment if it is still open."""
        env, self.env = self.env, None
        if env is not None:
            env.close()
