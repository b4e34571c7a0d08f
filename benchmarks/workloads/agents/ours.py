# SPDX-License-Identifier: Apache-2.0
"""A bank of policies around the environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import reactorl
from benchmarks.workloads.agents import parts
from reactorl import Input, MultiInput, Output, Reactor, bank, param, reaction, startup

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


class World(Reactor):
    """The environment: sends observations, and steps when it has all actions."""

    observations = Output[Any]()
    actions = MultiInput[int]()
    world: parts.World = param()

    @reaction(startup, effects=[observations])
    def begin(self) -> None:
        """Send the first observations."""
        self.observations.set(self.world.observations)

    @reaction(actions, effects=[observations])
    def step(self) -> None:
        """Step, and send the next observations."""
        if self.world.step(self.actions.values()):
            self.observations.set(self.world.observations)


class Policy(Reactor):
    """Replies with an action."""

    observations = Input[Any]()
    action = Output[int]()
    params: dict[str, Any] = param()

    @reaction(startup)
    def make(self) -> None:
        """Make the network, on this reactor's home worker."""
        self.policy = parts.Policy(self.bank_index)
        self.policy.begin(self.params)

    @reaction(observations, effects=[action])
    def act(self) -> None:
        """Send the greedy action."""
        self.action.set(self.policy.act(self.observations.value))


class Main(Reactor):
    """The environment and the policies."""

    params: dict[str, Any] = param()
    middle: parts.World = param()

    world = World(world=middle)
    policies = bank(Policy(params=params), width=lambda self: self.params["agents"])

    def build(self) -> None:
        """Connect them."""
        self.connect(
            self.world.observations, self.policies.observations, after=0, broadcast=True
        )
        self.connect(self.policies.action, self.world.actions)


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Play until the watch has enough slices."""
    program = Main(params=params, middle=parts.World(params, watch))
    result = reactorl.run(program, workers=engine.workers, fast=True)
    return {"tags": result.tags, "shared_tags": result.shared_tags}
