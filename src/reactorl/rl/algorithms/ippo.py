# SPDX-License-Identifier: Apache-2.0
"""Independent PPO: several agents, each of which learns as if it were alone.

::

    clock --go--> world[0..n) --observations--> pupil[0..agents) --weights--> evaluation
                      ^   |                         |   ^
                      |   +---------- played -------|---+
                      +-------------- actions ------+

Each agent is one reactor: it acts when it observes something, and learns, at the tag of
a turn, as soon as it has made enough steps in every environment. Agents act side by
side, environments step side by side, and agents learn side by side. To an agent the
others are part of the world, and its steps are all it knows: in an environment that it
left early it has made fewer steps than others, and waits for more. Evaluation plays one
step a turn, without exploring, in environments of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Unpack

import numpy as np

from reactorl import (
    MultiInput,
    MultiOutput,
    Output,
    Reactor,
    interleaved,
    param,
    reaction,
    startup,
)
from reactorl.diagram import Graph, graph
from reactorl.rl._public import public
from reactorl.rl.algorithms.ppo import PPO
from reactorl.rl.checkpoint.registry import Records, random_state, set_random_state
from reactorl.rl.flow.algorithm import FlowError
from reactorl.rl.flow.evaluation import Evaluated, EvaluationPlan, play
from reactorl.rl.flow.run import Driven, RunOptions
from reactorl.rl.flow.task import Round
from reactorl.rl.multi_agent.env_reactor import World, WorldPlan
from reactorl.rl.multi_agent.envs import (
    AgentsEnvs,
    Played,
    cast_of,
    parallel_shards,
)
from reactorl.rl.multi_agent.evaluation import AgentsEvaluation
from reactorl.rl.multi_agent.factory import ParallelRecipe
from reactorl.rl.multi_agent.inference import PERIOD, Turns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.envs.placement import PlacementOption
    from reactorl.rl.envs.rules import Restart
    from reactorl.rl.envs.shard_factory import ShardFactory
    from reactorl.rl.flow.algorithm import Batch, Metrics, Spaces, State, Weights
    from reactorl.rl.flow.trajectory import Episode
    from reactorl.rl.multi_agent.vector import Maker

EVALUATION_SEED: Final = 1_000_000
"""What evaluation adds to the seed, so that it never plays what agents learn from."""
EVALUATION_ENVS: Final = 4
"""In how many environments an evaluation plays at most."""


@public
@dataclass(frozen=True, repr=False)  # programs are compared by what values show
class IPPO:
    """What is trained, on what, and how long.

    Attributes:
        env: An environment of PettingZoo's: the name of a module that has
            ``parallel_env``, or a function that makes a ``ParallelEnv``.
        algorithm: How each agent acts and learns.
        num_envs: How many environments; each is a reactor.
        steps: How many steps in each environment an agent learns from at once; a round
            has as many turns.
        rounds: How many rounds the training has.
        evaluate_every: How many rounds from one evaluation to the next; 0: none.
        evaluation_episodes: How many episodes an evaluation has.
        seed: Everything random follows from it.
        placement: Where the environments live; see ``Flow``.
        env_timeout: Limit for one step or reset of an environment, in seconds.
        env_restart: What to do with an environment that fails; see ``Flow``.
    """

    env: str | Maker
    algorithm: PPO = field(default_factory=PPO)
    num_envs: int = 8
    steps: int = 32
    rounds: int = 100
    evaluate_every: int = 0
    evaluation_episodes: int = 10
    seed: int = 1
    placement: PlacementOption = field(default="auto", repr=False, compare=False)
    env_timeout: float | None = field(default=None, repr=False, compare=False)
    env_restart: Restart = field(default="never", repr=False, compare=False)

    name = "IPPO"

    def __repr__(self) -> str:
        # Without addresses: a trace is for the program whose task shows the same.
        env = self.env
        if not isinstance(env, str):
            env = getattr(env, "__qualname__", type(env).__qualname__)
        rest = (
            f"{f.name}={getattr(self, f.name)!r}" for f in fields(self)[1:] if f.repr
        )
        return f"IPPO({env}, {', '.join(rest)})"

    @cached_property
    def maker(self) -> Maker:
        """Makes one environment."""
        return ParallelRecipe(self.env) if isinstance(self.env, str) else self.env

    @cached_property
    def cast(self) -> dict[Any, Spaces]:
        """The agents, and what each sees and does; one environment is made for it."""
        return cast_of(self.maker)

    @cached_property
    def shards(self) -> ShardFactory:
        """Makes the environments of training and evaluation."""
        return parallel_shards(
            self.maker,
            self.placement,
            timeout=self.env_timeout,
            restart=self.env_restart,
            num_envs=self.num_envs,
        )

    @property
    def steps_per_round(self) -> int:
        """How many steps all environments do in a round, together."""
        return self.num_envs * self.steps

    def check(self) -> None:
        """Refuse what does not fit together, before anything runs.

        Raises:
            FlowError: Something does not.
        """
        for name in ("num_envs", "steps", "rounds", "evaluation_episodes"):
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

    def graph(self) -> Graph:
        """Return a picture of the program; notebooks show it, ``str()`` is its text."""
        return graph(self.main(), depth=1, title=f"{self.name} flow")

    def start(self, **options: Unpack[RunOptions]) -> IPPORun:
        """Return a training of it; the options are those of ``IPPORun``."""
        return IPPORun(self, **options)

    def run(self, *, workers: int | None = None) -> dict[Any, Weights]:
        """Train, and return what each agent learned."""
        with IPPORun(self, workers=workers) as run:
            for _ in run.rounds():
                pass
            return run.weights

    # -- what was learned -------------------------------------------------------------

    def begin(self, agent: Any) -> State:  # noqa: ANN401
        """Return what an agent begins with: other numbers for each, and each seed."""
        agents = list(self.cast)
        seed = self.seed * len(agents) + agents.index(agent)
        return self.algorithm.begin(self.cast[agent], seed)

    def learned(self, saved: Mapping[str, Data]) -> dict[Any, Weights]:
        """Return what acting needs of what ``IPPORun.save`` returned, by agent."""
        algorithm, parts = self.algorithm, saved["parts"]
        return {
            agent: algorithm.weights(
                algorithm.restored(self.begin(agent), parts[_pupil(place)]["state"])
            )
            for place, agent in enumerate(self.cast)
        }

    def play(
        self,
        weights: Mapping[Any, Weights],
        *,
        episodes: int,
        seed: int,
        watch: Callable[[Any], None] | None = None,
    ) -> list[Episode]:
        """Play episodes without exploring; see ``reactorl.rl.flow.task``."""
        maker = self.maker
        if watch is not None and isinstance(maker, ParallelRecipe):
            maker = replace(maker, kwargs={"render_mode": "rgb_array"})
            maker().close()  # one that cannot be drawn is refused here, in our words

        shards = parallel_shards(maker)
        return play(
            lambda count: AgentsEnvs(shards, self.cast, count, self.algorithm),
            weights,
            episodes=episodes,
            seed=seed,
            watch=watch,
        )


def _pupil(place: int) -> str:
    """Return the full name of the reactor that an agent is."""
    return f"main.pupil[{place}]"


@dataclass(frozen=True, repr=False)
class PupilPlan:
    """What one agent is to do."""

    agent: Any
    task: IPPO
    state: State
    """To begin with."""
    records: Records

    def __repr__(self) -> str:
        return f"PupilPlan({self.agent!r})"


class Pupil(Reactor):
    """One agent: acts when it observes, learns when it has made enough steps."""

    observations = MultiInput[Any]()
    actions = MultiOutput[Any](lambda self: self.plan.task.num_envs)
    played = MultiInput[Played]()
    metrics = Output[dict[str, float]]()
    weights = Output[Any]()
    """What acting needs of what was learned, at the tag at which it was."""

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
        self.known = self.plan.task.algorithm.weights(state)

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
        actions, extras = task.algorithm.act(self.known, rows, self.np_random, progress)
        for index, (place, _) in enumerate(present):
            self.said[place] = {name: value[index] for name, value in extras.items()}
            self.actions[place].set(actions[index])

    @reaction(played, effects=[metrics, weights])
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
            self.weights.set(self.known)

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
    evaluated = Output[Evaluated]()

    plan: IPPO = param()
    records: Records = param()
    first: int = param(1)

    def build(self) -> None:
        """Add the parts and connect them."""
        task, records = self.plan, self.records
        plans = [
            PupilPlan(agent, task, task.begin(agent), records) for agent in task.cast
        ]
        clock = self.add("clock", Turns, period=PERIOD, first=self.first)
        world_plan = WorldPlan(task.shards, task.cast, task.seed, records)
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
        if task.evaluate_every:
            known = {p.agent: task.algorithm.weights(p.state) for p in plans}
            evaluation = self.add(
                "evaluation", AgentsEvaluation, plan=self._evaluation_plan(known)
            )
            self.connect(clock.go, evaluation.round)
            self.connect(pupil.weights, evaluation.learned)
            self.connect(evaluation.result, self.evaluated)

    def _evaluation_plan(self, weights: dict[Any, Weights]) -> EvaluationPlan:
        """Return when and how to evaluate: what is a round there is a turn here."""
        task = self.plan
        count = min(task.evaluation_episodes, task.num_envs, EVALUATION_ENVS)
        return EvaluationPlan(
            task.evaluate_every * task.steps,
            task.evaluation_episodes,
            count,
            1,
            task.seed + EVALUATION_SEED,
            lambda: AgentsEnvs(task.shards, task.cast, count, task.algorithm),
            weights,
            self.records,
        )


@dataclass(frozen=True)
class IPPORound(Round):
    """What a round gave; ``metrics`` has means of agents, and what each says."""

    by_agent: dict[Any, Metrics]
    """What agents say that learned."""


class IPPORun(Driven[IPPORound]):
    """A training under way; a context manager.

    Args:
        task: What to train.
        options: How to run: ``workers``, ``trace``, ``saved``, ``timing``, ``at_start``
            and ``at_end``; see ``RunOptions``.
    """

    def __init__(self, task: IPPO, **options: Unpack[RunOptions]) -> None:
        self.task = task
        super().__init__(
            task.main,
            seed=task.seed,
            period=PERIOD,
            tags=task.steps,
            rounds=task.rounds,
            options=options,
        )

    def step(self) -> IPPORound:
        """Do one round."""
        task, agents = self.task, list(self.task.cast)
        episodes: list[Episode] = []
        metrics: dict[Any, Metrics] = {}
        evaluation: Evaluated | None = None
        for _ in range(task.steps):
            outputs = self._next()
            played: list[Played] = outputs["played"]
            episodes += [p.episode for p in played if p.episode is not None]
            told = outputs.get("metrics") or [None] * len(agents)
            pairs = zip(agents, told, strict=True)
            metrics |= {agent: said for agent, said in pairs if said is not None}
            found: Evaluated | None = outputs.get("evaluated")
            if found is not None:
                evaluation = replace(found, round=found.round // task.steps)
        self.done += 1
        return IPPORound(
            self.done,
            task.steps_per_round,
            tuple(episodes),
            together(metrics) or None,
            evaluation,
            metrics,
        )

    @property
    def weights(self) -> dict[Any, Weights]:
        """What acting needs of what each agent has learned so far."""
        found: dict[Any, Weights] = {}
        for place, agent in enumerate(self.task.cast):
            pupil: Any = self.records.keeper(_pupil(place))
            found[agent] = pupil.known
        return found


def together(metrics: Mapping[Any, Metrics]) -> Metrics:
    """Return the mean of what agents say, and the losses of each: ``KEY-AGENT``."""
    keys = dict.fromkeys(key for said in metrics.values() for key in said)
    found: Metrics = {}
    for key in keys:
        values = {agent: said[key] for agent, said in metrics.items() if key in said}
        found[key] = sum(values.values()) / len(values)
        if key.startswith("losses/"):
            found |= {f"{key}-{agent}": value for agent, value in values.items()}
    return found
