# SPDX-License-Identifier: Apache-2.0
"""Independent PPO: several agents, each of which learns as if it were alone.

::

    clock --go--> world[0..n) --observations--> pupil[0..agents)
                      ^   |                         |   ^
                      |   +---------- played -------|---+
                      +-------------- actions ------+

Each agent is one reactor: it acts when it observes something, and learns, at the tag of
a turn, as soon as it has made enough steps in every environment. Agents act side by
side, environments step side by side, and agents learn side by side. To an agent the
others are part of the world, and its steps are all it knows: in an environment that it
left early it has made fewer steps than others, and waits for more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reactorl import (
    MultiInput,
    MultiOutput,
    Output,
    Reactor,
    drive,
    interleaved,
    param,
    reaction,
    startup,
)
from reactorl.rl.algo.ppo import PPO
from reactorl.rl.training.algorithm import FlowError
from reactorl.rl.training.multi_agent import PERIOD, Turns
from reactorl.rl.training.saved import Records, random_state, set_random_state
from reactorl.rl.training.world import Choice, Played, World, WorldPlan, cast_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reactorl.rl.agents import ByAgent
    from reactorl.rl.parallel import Maker
    from reactorl.rl.training.algorithm import Batch, Metrics, Spaces, State, Weights
    from reactorl.rl.training.saved import Data


@dataclass(frozen=True, repr=False)  # programs are compared by what values show
class IPPO:
    """What is trained, on what, and how long.

    Attributes:
        env: Makes an environment (PettingZoo's ``ParallelEnv``).
        algorithm: How each agent acts and learns.
        num_envs: How many environments; each is a reactor.
        steps: How many steps in each environment an agent learns from at once; a round
            has as many turns.
        rounds: How many rounds the training has.
        seed: Everything random follows from it.
    """

    env: Maker
    algorithm: PPO = field(default_factory=PPO)
    num_envs: int = 8
    steps: int = 32
    rounds: int = 100
    seed: int = 1

    @cached_property
    def cast(self) -> dict[Any, Spaces]:
        """The agents, and what each sees and does; one environment is made for it."""
        return cast_of(self.env)

    def check(self) -> None:
        """Refuse what does not fit together, before anything runs.

        Raises:
            FlowError: Something does not.
        """
        for name in ("num_envs", "steps", "rounds"):
            if getattr(self, name) < 1:
                msg = f"{name} is {getattr(self, name)}"
                raise FlowError(msg, "It is 1 or more.")
        for agent, spaces in self.cast.items():
            try:
                self.algorithm.check(spaces)
                self.algorithm.check_round(self.steps, self.num_envs)
            except FlowError as error:
                msg = f"agent {agent!r}: {error.what}"
                raise FlowError(msg, error.remedy) from error

    def main(self, records: Records | None = None, first: int = 1) -> Reactor:
        """Return the main reactor; an ordinary one, to be driven or contained.

        Args:
            records: What parts begin with, and where they can be asked.
            first: The number of the first turn.
        """
        self.check()
        return School(plan=self, records=records or Records(), first=first)

    def run(self, *, workers: int | None = None) -> dict[Any, Weights]:
        """Train, and return what each agent learned."""
        with IPPORun(self, workers=workers) as run:
            for _ in run.rounds():
                pass
            return run.weights


@dataclass(frozen=True, repr=False)
class PupilPlan:
    """What one agent is to do."""

    agent: Any
    task: IPPO
    state: State
    """To begin with."""
    records: Records


class Pupil(Reactor):
    """One agent: acts when it observes, learns when it has made enough steps."""

    observations = MultiInput[Any]()
    actions = MultiOutput[Choice](lambda self: self.plan.task.num_envs)
    played = MultiInput[Played]()
    metrics = Output[dict[str, float]]()

    plan: PupilPlan = param()

    def setup(self) -> None:
        """Begin with the plan's state."""
        self._know(self.plan.state)
        self.said: dict[int, dict[str, Any]] = {}  # of this turn, by environment
        self.steps: list[list[dict[str, Any]]] = [
            [] for _ in range(self.plan.task.num_envs)
        ]

    def _know(self, state: State) -> None:
        self.state = state
        self.weights = self.plan.task.algorithm.weights(state)

    @reaction(startup)
    def begin(self) -> None:
        """Take up what was saved."""
        saved = self.plan.records.enter(self.name, self)
        if saved is not None:
            algorithm = self.plan.task.algorithm
            self._know(algorithm.restored(self.state, saved["state"]))
            set_random_state(self.np_random, saved["random"])
            self.steps = [list(mine) for mine in saved["steps"]]

    @reaction(observations, effects=[actions])
    def act(self) -> None:
        """Choose actions, for all environments at once."""
        task = self.plan.task
        present = [(place, port.value) for place, port in self.observations.present()]
        rows = np.stack([row for _, row in present])
        turn = self.elapsed // PERIOD - 1
        progress = min(1.0, turn // task.steps / task.rounds)
        actions, extras = task.algorithm.act(
            self.weights, rows, self.np_random, progress
        )
        for index, (place, _) in enumerate(present):
            self.said[place] = {name: value[index] for name, value in extras.items()}
            self.actions[place].set(Choice(actions[index]))

    @reaction(played, effects=[metrics])
    def learn(self) -> None:
        """Note what became of the actions, and learn if it is enough."""
        agent, task = self.plan.agent, self.plan.task
        for place, port in self.played.present():
            if place in self.said:
                self.steps[place].append(
                    {**_step(port.value, agent), **self.said[place]}
                )
        self.said = {}  # there may be no observation, and so no answer, next time
        if all(len(mine) >= task.steps for mine in self.steps):
            batch = side_by_side([mine[: task.steps] for mine in self.steps])
            self.steps = [mine[task.steps :] for mine in self.steps]
            state, metrics, _ = task.algorithm.update(self.state, [batch])
            self._know(state)
            self.metrics.set(metrics)

    def save(self) -> Data:
        """Return everything that the next turn depends on."""
        return {
            "state": self.plan.task.algorithm.saved(self.state),
            "random": random_state(self.np_random),
            "steps": [list(mine) for mine in self.steps],
        }


def _step(played: Played, agent: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return what a turn was to one agent."""
    return {
        "observations": played.observations[agent],
        "actions": played.actions[agent],
        "rewards": played.rewards[agent],
        "next_observations": played.reached[agent],
        "terminations": played.terminations[agent],
        "truncations": played.truncations[agent],
    }


def side_by_side(steps: list[list[dict[str, Any]]]) -> Batch:
    """Return steps, by environment, as arrays ``[step, environment, ...]``."""
    return {
        name: np.stack([np.stack([step[name] for step in mine]) for mine in steps], 1)
        for name in steps[0][0]
    }


class School(Reactor):
    """All parts of a training. Its outputs are what a turn gives."""

    played = MultiOutput[Played](lambda self: self.plan.num_envs)
    metrics = MultiOutput[dict[str, float]](lambda self: len(self.plan.cast))

    plan: IPPO = param()
    records: Records = param()
    first: int = param(1)

    def build(self) -> None:
        """Add the parts and connect them."""
        task, records = self.plan, self.records
        agents = list(task.cast)
        plans = [
            PupilPlan(
                agent,
                task,
                # Other numbers for each agent, and for each seed.
                task.algorithm.begin(task.cast[agent], task.seed * len(agents) + place),
                records,
            )
            for place, agent in enumerate(agents)
        ]
        clock = self.add("clock", Turns, period=PERIOD, first=self.first)
        world_plan = WorldPlan(task.env, task.cast, task.seed, records)
        world = self.add_bank("world", World(plan=world_plan), width=task.num_envs)
        pupil = self.add_bank(
            "pupil",
            Pupil(plan=plans[0]),
            width=len(plans),
            each=lambda k: {"plan": plans[k]},
        )
        self.connect(clock.go, world.go, broadcast=True)
        self.connect(interleaved(world.observations), pupil.observations)
        self.connect(interleaved(pupil.actions), world.actions)
        self.connect(world.played, pupil.played, broadcast=True)
        self.connect(world.played, self.played)
        self.connect(pupil.metrics, self.metrics)


@dataclass(frozen=True)
class IPPORound:
    """What a round gave."""

    number: int
    episodes: tuple[ByAgent, ...]
    """The scores of those that ended in it, by agent; in the order of turns."""
    metrics: dict[Any, Metrics]
    """What agents say that learned, by agent."""


class IPPORun:
    """A training under way; a context manager.

    Args:
        task: What to train.
        workers: How many threads; None: what helps.
        trace: Whether to keep a trace.
        saved: The state of an earlier run of the same task, to go on from.
    """

    def __init__(
        self,
        task: IPPO,
        *,
        workers: int | None = None,
        trace: bool = False,
        saved: Mapping[str, Data] | None = None,
    ) -> None:
        self.task = task
        self.done = 0 if saved is None else int(saved["round"])
        self._records = Records(None if saved is None else saved["parts"])
        # The first turn is at its own time: what comes before is empty.
        self._skip = self.done * task.steps
        main = task.main(self._records, self._skip + 1)
        self._session = drive(
            main, workers=workers, seed=task.seed, trace=trace, freeze=True
        )

    def __enter__(self) -> IPPORun:
        """Make all parts."""
        self._session.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:  # noqa: ANN401
        """End the program."""
        self._session.__exit__(*error)

    def rounds(self) -> Iterator[IPPORound]:
        """Do the rounds that are left, one by one; yields what each gave."""
        while self.done < self.task.rounds:
            yield self.step()

    def step(self) -> IPPORound:
        """Do one round."""
        agents = list(self.task.cast)
        episodes: list[ByAgent] = []
        metrics: dict[Any, Metrics] = {}
        for _ in range(self.task.steps):
            after, self._skip = (self._skip + 1) * PERIOD, 0
            outputs = self._session.step(after=after)
            found: list[Played] = outputs.played
            episodes += [p.scores for p in found if p.scores is not None]
            told = outputs.get("metrics") or [None] * len(agents)
            pairs = zip(agents, told, strict=True)
            metrics |= {agent: said for agent, said in pairs if said is not None}
        self.done += 1
        return IPPORound(self.done, tuple(episodes), metrics)

    def save(self) -> dict[str, Data]:
        """Return the state of everything between two rounds, as plain data."""
        return {"round": self.done, "parts": self._records.save()}

    @property
    def weights(self) -> dict[Any, Weights]:
        """What acting needs of what each agent has learned so far."""
        found: dict[Any, Weights] = {}
        for place, agent in enumerate(self.task.cast):
            pupil: Any = self._records.keeper(f"main.pupil[{place}]")
            found[agent] = pupil.weights
        return found
