# SPDX-License-Identifier: Apache-2.0
"""Inference for several agents: a policy for each, environments in the middle.

::

    clock --go--> world[0..n) --observations--> player[0..agents)
                      ^                              |
                      +---------- actions -----------+

A turn is one tag: worlds show, players answer side by side, worlds step side by side.
With a deadline, a player that has not answered by then, counted from the time of the
tag, is answered for by its fallback action. Time is real then: turn k begins k periods
after the start, or when it can. Which deadlines were missed is all that a match takes
from the physical world; ``play(record=...)`` notes it, and ``play(replay=...)`` gives
the same turns again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias, Unpack

import numpy as np

from reactorl import (
    Duration,
    MultiInput,
    MultiOutput,
    Output,
    Reactor,
    Timer,
    interleaved,
    msec,
    param,
    reaction,
    run,
    startup,
)
from reactorl.rl._public import public
from reactorl.rl.checkpoint.registry import (
    StateRegistry,
    random_state,
    set_random_state,
)
from reactorl.rl.flow.algorithm import FlowError
from reactorl.rl.flow.run import DrivenRun, RunOptions
from reactorl.rl.multi_agent.env_reactor import Late, World, WorldPlan
from reactorl.rl.multi_agent.envs import Played, cast_of, parallel_shards

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from reactorl import Recording, Result
    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.flow.algorithm import Array, Random, Spaces
    from reactorl.rl.multi_agent.vector import Maker

    Policy: TypeAlias = Callable[[Array, Random], Array]
    """Gives an action for each row of observations, one of each environment in which
    the agent is; the generator is the agent's own."""


@dataclass(frozen=True, repr=False)  # programs are compared by what values show
class PlayerPlan:
    """What a player is to do."""

    policy: Policy
    num_envs: int
    fallback: Any
    """What it does if there is no time left."""
    registry: StateRegistry


class Agent(Reactor):
    """One agent, in all environments in which it is."""

    observations = MultiInput[Any]()
    actions = MultiOutput[Any](lambda self: self.plan.num_envs)

    plan: PlayerPlan = param()

    def setup(self) -> None:
        """Have at hand what every turn needs."""
        self.policy = self.plan.policy
        self.is_alone = self.plan.num_envs == 1

    @reaction(startup)
    def begin(self) -> None:
        """Take up what was saved."""
        saved = self.plan.registry.enter(self.name, self)
        if saved is not None:
            set_random_state(self.np_random, saved["random"])

    def ask(self) -> Array:
        """Return what the policy says, for each environment that shows something."""
        values = self.observations.values()
        # A row of one is a view; stacking it would take a third as long as the policy.
        rows = values[0][None] if len(values) == 1 else np.stack(values)
        return self.policy(rows, self.np_random)

    def answer(self, chosen: Array) -> None:
        """Send actions to the environments that show something."""
        if self.is_alone:
            self.actions[0].set(chosen[0])
            return
        present = [place for place, _ in self.observations.present()]
        for place, action in zip(present, chosen, strict=True):
            self.actions[place].set(action)

    def save(self) -> Data:
        """Return what the next turn depends on; policies keep nothing."""
        return {"random": random_state(self.np_random)}


class Player(Agent):
    """Answers at the tag at which it observes something."""

    @reaction(Agent.observations, effects=[Agent.actions])
    def act(self) -> None:
        """Ask the policy, once for all environments."""
        self.answer(self.ask())


class PunctualPlayer(Agent):
    """Answers at the tag at which it observes something, and before a deadline."""

    deadline: Duration = param()

    @reaction(Agent.observations, effects=[Agent.actions], deadline=deadline)
    def act(self) -> None:
        """Ask the policy; what it says too late does not count."""
        chosen = self.ask()
        if self.check_deadline(invoke_handler=False):
            self.give_up()
        else:
            self.answer(chosen)

    @act.deadline_handler
    def give_up(self) -> None:
        """Do what does not need the policy."""
        for place, _ in self.observations.present():
            self.actions[place].set(Late(self.plan.fallback))


PERIOD: Final = msec(1)
"""How long a turn is in logical time, if nothing else is said."""


class Turns(Reactor):
    """Says the number of a turn at the tag at which it begins."""

    go = Output[int]()
    period: Duration = param()
    first: int = param(1)
    tick = Timer(period * first, period)

    def setup(self) -> None:
        """Count from the first turn."""
        self.number = self.first

    @reaction(tick, effects=[go])
    def begin(self) -> None:
        """Begin a turn."""
        self.go.set(self.number)
        self.number += 1


@public
@dataclass(frozen=True, repr=False)
class Match:
    """Who plays what.

    Attributes:
        env: Makes an environment (PettingZoo's ``ParallelEnv``).
        policies: One for each agent that there can be.
        num_envs: How many environments are played in at once.
        deadline: By when policies answer, from the beginning of a turn; None: any time.
        fallback: What those do who do not, by agent; only with a deadline.
        period: From one turn to the next, in logical time.
        seed: Everything random follows from it.
    """

    env: Maker
    policies: Mapping[Any, Policy]
    num_envs: int = 1
    deadline: Duration | None = None
    fallback: Mapping[Any, Any] | None = None
    period: Duration = PERIOD
    seed: int = 1

    def __repr__(self) -> str:
        # Without addresses: a recording is for the program whose match shows the same.
        env = getattr(self.env, "__qualname__", type(self.env).__qualname__)
        return (
            f"Match({env}, {list(self.policies)}, num_envs={self.num_envs}, "
            f"deadline={self.deadline}, fallback={self.fallback}, "
            f"period={self.period}, seed={self.seed})"
        )

    @cached_property
    def cast(self) -> dict[Any, Spaces]:
        """The agents, and what each sees and does; one environment is made for it."""
        return cast_of(self.env)

    def check(self) -> None:
        """Refuse what does not fit together, before anything runs.

        Raises:
            FlowError: Something does not.
        """
        if self.num_envs < 1:
            msg = f"num_envs is {self.num_envs}"
            raise FlowError(msg, "It is 1 or more.")
        _check_all("policies", self.policies, self.cast)
        if self.deadline is None:
            if self.fallback is not None:
                msg = "there are fallback actions and no deadline"
                raise FlowError(msg, "Give deadline=..., or leave them out.")
            return
        _check_all("fallback", self.fallback or {}, self.cast)
        for agent, action in (self.fallback or {}).items():
            space = self.cast[agent].action
            if not space.contains(action):
                msg = f"the fallback of {agent!r} is {action!r}, not one of {space}"
                raise FlowError(msg, "Choose an action that it can do.")

    def main(self, registry: StateRegistry | None = None, first: int = 1) -> Reactor:
        """Return the main reactor; an ordinary one, to be driven or contained."""
        self.check()
        return Table(match=self, registry=registry or StateRegistry(), first=first)

    def play(
        self,
        turns: int,
        *,
        workers: int | None = None,
        record: bool | str | os.PathLike[str] = False,
        replay: Recording | str | os.PathLike[str] | None = None,
        fast: bool | None = None,
    ) -> tuple[list[tuple[Played, ...]], Result]:
        """Play so many turns.

        Args:
            turns: How many.
            workers: How many threads; None: what helps.
            record: Note which deadlines were missed; a path also saves that.
            replay: Miss the deadlines that were missed then, and no others.
            fast: Whether turns begin as soon as they can; None: without a deadline, or
                if it is a replay.

        Returns:
            What each turn gave, by environment, and how the run went.
        """
        self.check()
        notes = Notes()
        if fast is None:
            fast = self.deadline is None or replay is not None
        main = Hall(match=self, notes=notes, turns=turns)
        result = run(
            main,
            workers=workers,
            seed=self.seed,
            fast=fast,
            record=record,
            replay=replay,
            freeze=True,
        )
        return notes.turns, result


def _check_all(name: str, given: Mapping[Any, Any], cast: Mapping[Any, Any]) -> None:
    for agent in cast:
        if agent not in given:
            msg = f"{name} has nothing for {agent!r}"
            raise FlowError(msg, f"Agents are: {', '.join(map(repr, cast))}.")
    for agent in given:
        if agent not in cast:
            msg = f"{name} has something for {agent!r}, and there is no such agent"
            raise FlowError(msg, f"Agents are: {', '.join(map(repr, cast))}.")


class Table(Reactor):
    """All parts of a match. Its output is what a turn gives."""

    played = MultiOutput[Played](lambda self: self.match.num_envs)

    match: Match = param()
    registry: StateRegistry = param()
    first: int = param(1)

    def build(self) -> None:
        """Add the parts and connect them."""
        match = self.match
        clock = self.add("clock", Turns, period=match.period, first=self.first)
        plan = WorldPlan(
            parallel_shards(match.env), match.cast, match.seed, self.registry
        )
        world = self.add_bank("world", World(plan=plan), width=match.num_envs)
        plans = [
            PlayerPlan(
                match.policies[agent],
                match.num_envs,
                (match.fallback or {}).get(agent),
                self.registry,
            )
            for agent in match.cast
        ]
        member: Agent
        if match.deadline is None:
            member = Player(plan=plans[0])
        else:
            member = PunctualPlayer(plan=plans[0], deadline=match.deadline)
        player = self.add_bank(
            "player", member, width=len(plans), each=lambda k: {"plan": plans[k]}
        )
        self.connect(clock.go, world.go, broadcast=True)
        self.connect(interleaved(world.observations), player.observations)
        self.connect(interleaved(player.actions), world.actions)
        self.connect(world.played, self.played)


class Notes:
    """What happened, turn by turn."""

    def __init__(self) -> None:
        self.turns: list[tuple[Played, ...]] = []


class Hall(Reactor):
    """A match that runs by itself, with a recorder."""

    match: Match = param()
    notes: Notes = param()
    turns: int = param()

    def build(self) -> None:
        """Add the match and the recorder."""
        table: Any = self.add(
            "table", Table, match=self.match, registry=StateRegistry(), first=1
        )
        scribe = self.add("scribe", Scribe, notes=self.notes, turns=self.turns)
        self.connect(table.played, scribe.played)


class Scribe(Reactor):
    """Records the steps of a match, and ends it."""

    played = MultiInput[Played]()
    notes: Notes = param()
    turns: int = param()

    @reaction(played)
    def write(self) -> None:
        """Record one step of all environments."""
        self.notes.turns.append(tuple(self.played.values()))
        if len(self.notes.turns) == self.turns:
            self.request_stop()


@public
class MatchRun(DrivenRun[tuple[Played, ...]]):
    """A run of a match, step by step; a context manager.

    With a deadline, steps start in real time, and results depend on missed deadlines.

    Args:
        match: Who plays what.
        options: How to run: ``workers``, ``trace``, ``saved`` and more; see
            ``RunOptions``.
    """

    def __init__(self, match: Match, **options: Unpack[RunOptions]) -> None:
        self.match = match
        super().__init__(
            match.main,
            seed=match.seed,
            period=match.period,
            fast=match.deadline is None,
            options=options,
        )

    def step(self) -> tuple[Played, ...]:
        """Play one turn; return what it gave, by environment."""
        played = self._next()["played"]
        self.done += 1
        return tuple(played)
