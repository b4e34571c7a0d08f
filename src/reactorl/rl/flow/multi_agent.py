# SPDX-License-Identifier: Apache-2.0
"""Training of several agents, each of which learns independently.

::

    clock --go--> world[0..n) --observations--> pupil[0..m) --weights--> evaluation
                    ^   |                         |   ^
                    |   +-------- played ---------|---+
                    +------------ actions --------+

Each agent is one reactor: it acts when it observes something, and learns as soon as it
has enough transitions of every environment. Agents act concurrently, environments step
concurrently, and agents learn concurrently. To an agent the others are part of the
environment. In an environment that it left early it has fewer transitions than others,
and waits for more. Evaluation plays one step per tag, greedily, in environments of its
own.
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
from reactorl.rl._public import public
from reactorl.rl.checkpoint.registry import (
    StateRegistry,
    random_state,
    set_random_state,
)
from reactorl.rl.flow.algorithm import FlowError
from reactorl.rl.flow.evaluation import Evaluated, EvaluationPlan, play
from reactorl.rl.flow.run import DrivenRun, RunOptions
from reactorl.rl.flow.task import Iteration, Task
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
    from reactorl.rl.envs.shard_factory import ShardFactory
    from reactorl.rl.flow.algorithm import (
        Algorithm,
        Batch,
        Metrics,
        Spaces,
        State,
        Weights,
    )
    from reactorl.rl.flow.trajectory import Episode
    from reactorl.rl.multi_agent.vector import Maker

EVALUATION_SEED: Final = 1_000_000
"""Added to the seed for evaluation, so that it plays other episodes than training."""
AGENT: Final = "pupil"
ENV: Final = "world"
"""Names of the banks. Random streams are derived from them: other names would change
the results of a seed."""
EVALUATION_ENVS: Final = 4
"""Upper bound of the number of environments of an evaluation."""


@public
@dataclass(frozen=True, kw_only=True, repr=False)
class MultiAgentFlow(Task):
    """Several agents: a PettingZoo environment, and the algorithm of every agent.

    Attributes:
        env: The name of a module that has ``parallel_env``, or a function that makes a
            ``ParallelEnv``.
        algorithm: The algorithm with its hyper-parameters, e.g. ``IPPO(gamma=0.9)``.
        seed: Seed; all randomness follows from it.
        eval_every: Environment steps between two evaluations; 0: none.
        eval_episodes: Episodes of an evaluation.

    Raises:
        FlowError: Something does not fit together.

    Example:
        >>> weights = MultiAgentFlow("mpe2.simple_spread_v3", IPPO()).run()
    """

    env: str | Maker = field(kw_only=False)
    algorithm: Algorithm = field(kw_only=False)

    def __repr__(self) -> str:
        # Without addresses: a trace belongs to the program whose task shows the same.
        env = self.env
        if not isinstance(env, str):
            env = getattr(env, "__qualname__", type(env).__qualname__)
        rest = (f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
        shown = ", ".join(text for text in rest if not text.startswith("env="))
        return f"MultiAgentFlow({env}, {shown})"

    @cached_property
    def maker(self) -> Maker:
        """Makes one environment."""
        return ParallelRecipe(self.env) if isinstance(self.env, str) else self.env

    @cached_property
    def agent_spaces(self) -> dict[Any, Spaces]:
        """The agents and their spaces; makes one environment and closes it."""
        found = cast_of(self.maker)
        for agent, spaces in found.items():
            try:
                self.algorithm.check_spaces(spaces)
            except FlowError as error:
                msg = f"agent {agent!r}: {error.what}"
                raise FlowError(msg, error.remedy) from error
        return found

    @cached_property
    def shards(self) -> ShardFactory:
        """Makes the environments of training and evaluation."""
        return parallel_shards(
            self.maker,
            self.placement,
            timeout=self.env_timeout,
            restart=self.env_restart,
            num_envs=self.algorithm.num_envs,
        )

    def check(self) -> None:
        """Check that the algorithm can handle the spaces of all agents."""
        _ = self.shards, self.agent_spaces

    def main(self, registry: StateRegistry | None = None, first: int = 1) -> Reactor:
        """Return the main reactor, to be driven or contained in another."""
        self.check()
        registry = registry or StateRegistry()
        return MultiAgentLoop(task=self, registry=registry, first=first)

    def start(self, **options: Unpack[RunOptions]) -> MultiAgentRun:
        """Return a run of the task, a context manager; see ``RunOptions``."""
        return MultiAgentRun(self, **options)

    # -- trained weights --------------------------------------------------------------

    def init(self, agent: Any) -> State:  # noqa: ANN401
        """Return the initial state of an agent, which differs by agent and seed."""
        agents = list(self.agent_spaces)
        seed = self.seed * len(agents) + agents.index(agent)
        return self.algorithm.init(self.agent_spaces[agent], seed)

    def trained_weights(self, saved: Mapping[str, Data]) -> dict[Any, Weights]:
        """Return the weights of each agent in a saved state."""
        algorithm, parts = self.algorithm, saved["parts"]
        return {
            agent: algorithm.weights(
                algorithm.deserialize(self.init(agent), parts[_path(index)]["state"])
            )
            for index, agent in enumerate(self.agent_spaces)
        }

    def play(
        self,
        weights: Mapping[Any, Weights],
        *,
        episodes: int,
        seed: int,
        watch: Callable[[Any], None] | None = None,
    ) -> list[Episode]:
        """Play episodes greedily."""
        maker = self.maker
        if watch is not None and isinstance(maker, ParallelRecipe):
            maker = replace(maker, kwargs={"render_mode": "rgb_array"})
            maker().close()  # raises FlowError if it cannot be rendered

        shards = parallel_shards(maker)
        return play(
            lambda count: AgentsEnvs(shards, self.agent_spaces, count, self.algorithm),
            weights,
            episodes=episodes,
            seed=seed,
            watch=watch,
        )


def _path(index: int) -> str:
    """Return the full name of an agent's reactor."""
    return f"main.{AGENT}[{index}]"


@dataclass(frozen=True, repr=False)
class AgentPlan:
    """Parameters of one agent."""

    agent: Any
    task: MultiAgentFlow
    state: State
    """The initial state."""
    registry: StateRegistry

    def __repr__(self) -> str:
        return f"AgentPlan({self.agent!r})"


class LearningAgent(Reactor):
    """One agent: acts on observations, learns when it has enough transitions."""

    observations = MultiInput[Any]()
    actions = MultiOutput[Any](lambda self: self.plan.task.algorithm.num_envs)
    played = MultiInput[Played]()
    metrics = Output[dict[str, float]]()
    weights = Output[Any]()
    """New weights, at the tag at which it learned."""

    plan: AgentPlan = param()

    def setup(self) -> None:
        """Start with the plan's state."""
        self._set(self.plan.state)
        self.extras: dict[int, dict[str, Any]] = {}  # of this tag, by environment
        count = self.plan.task.algorithm.num_envs
        self.transitions: list[list[dict[str, Any]]] = [[] for _ in range(count)]

    def _set(self, state: State) -> None:
        self.state = state
        self.current = self.plan.task.algorithm.weights(state)

    @reaction(startup)
    def begin(self) -> None:
        """Restore what was saved."""
        saved = self.plan.registry.enter(self.name, self)
        if saved is not None:
            algorithm = self.plan.task.algorithm
            self._set(algorithm.deserialize(self.state, saved["state"]))
            set_random_state(self.np_random, saved["random"])
            self.transitions = [list(mine) for mine in saved["steps"]]

    @reaction(observations, effects=[actions])
    def act(self) -> None:
        """Choose actions, for all environments at once."""
        algorithm = self.plan.task.algorithm
        present = [(index, port.value) for index, port in self.observations.present()]
        rows = np.stack([row for _, row in present])
        turn = self.elapsed // PERIOD - 1
        iteration = turn // algorithm.num_steps
        progress = min(1.0, iteration / algorithm.iterations)
        actions, extras = algorithm.act(self.current, rows, self.np_random, progress)
        for row, (index, _) in enumerate(present):
            self.extras[index] = {name: value[row] for name, value in extras.items()}
            self.actions[index].set(actions[row])

    @reaction(played, effects=[metrics, weights])
    def learn(self) -> None:
        """Store transitions, and learn if there are enough."""
        agent, algorithm = self.plan.agent, self.plan.task.algorithm
        for index, port in self.played.present():
            if index in self.extras:
                self.transitions[index].append(
                    {**_transition(port.value, agent), **self.extras[index]}
                )
        self.extras = {}  # without an observation there is no action next time
        count = algorithm.num_steps
        if all(len(mine) >= count for mine in self.transitions):
            batch = stack([mine[:count] for mine in self.transitions])
            self.transitions = [mine[count:] for mine in self.transitions]
            state, metrics, _ = algorithm.update(self.state, [batch])
            self._set(state)
            self.metrics.set(metrics)
            self.weights.set(self.current)

    def save(self) -> Data:
        """Return everything that the next tag depends on."""
        return {
            "state": self.plan.task.algorithm.serialize(self.state),
            "random": random_state(self.np_random),
            "steps": [list(mine) for mine in self.transitions],
        }


def _transition(played: Played, agent: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the transition of one agent."""
    return {
        "observations": played.observations[agent],
        "actions": played.actions[agent],
        "rewards": played.rewards[agent],
        "next_observations": played.reached[agent],
        "terminations": played.terminations[agent],
        "truncations": played.truncations[agent],
    }


def stack(transitions: list[list[dict[str, Any]]]) -> Batch:
    """Return transitions, by environment, as arrays ``[step, environment, ...]``."""
    return {
        name: np.stack(
            [np.stack([step[name] for step in mine]) for mine in transitions], 1
        )
        for name in transitions[0][0]
    }


class MultiAgentLoop(Reactor):
    """The main reactor. Its outputs are what a tag gives."""

    played = MultiOutput[Played](lambda self: self.task.algorithm.num_envs)
    metrics = MultiOutput[dict[str, float]](lambda self: len(self.task.agent_spaces))
    evaluated = Output[Evaluated]()

    task: MultiAgentFlow = param()
    registry: StateRegistry = param()
    first: int = param(1)

    def build(self) -> None:
        """Add the reactors and connect them."""
        task, registry = self.task, self.registry
        plans = [
            AgentPlan(agent, task, task.init(agent), registry)
            for agent in task.agent_spaces
        ]
        clock = self.add("clock", Turns, period=PERIOD, first=self.first)
        env_plan = WorldPlan(task.shards, task.agent_spaces, task.seed, registry)
        env = self.add_bank(ENV, World(plan=env_plan), width=task.algorithm.num_envs)
        agent = self.add_bank(
            AGENT,
            LearningAgent(plan=plans[0]),
            width=len(plans),
            each=lambda k: {"plan": plans[k]},
        )
        self.connect(clock.go, env.go, broadcast=True)
        self.connect(interleaved(env.observations), agent.observations)
        self.connect(interleaved(agent.actions), env.actions)
        self.connect(env.played, agent.played, broadcast=True)
        self.connect(env.played, self.played)
        self.connect(agent.metrics, self.metrics)
        if task.eval_interval:
            weights = {p.agent: task.algorithm.weights(p.state) for p in plans}
            evaluation = self.add(
                "evaluation", AgentsEvaluation, plan=self._evaluation_plan(weights)
            )
            self.connect(clock.go, evaluation.iteration)
            self.connect(agent.weights, evaluation.learned)
            self.connect(evaluation.result, self.evaluated)

    def _evaluation_plan(self, weights: dict[Any, Weights]) -> EvaluationPlan:
        """Return the plan of an evaluation that counts tags instead of iterations."""
        task, algorithm = self.task, self.task.algorithm
        count = min(task.eval_episodes, algorithm.num_envs, EVALUATION_ENVS)
        return EvaluationPlan(
            task.eval_interval * algorithm.num_steps,
            task.eval_episodes,
            count,
            1,
            task.seed + EVALUATION_SEED,
            lambda: AgentsEnvs(task.shards, task.agent_spaces, count, algorithm),
            weights,
            self.registry,
        )


@public
@dataclass(frozen=True)
class MultiAgentIteration(Iteration):
    """What one iteration gave; ``metrics`` has the mean over agents, and each one's."""

    by_agent: dict[Any, Metrics]
    """Metrics of the agents that learned."""


class MultiAgentRun(DrivenRun[MultiAgentIteration]):
    """A run of a multi-agent task; a context manager.

    Args:
        task: What to train.
        options: How to run: ``workers``, ``trace``, ``saved``, ``timing``, ``shuffle``,
            ``at_start`` and ``at_end``; see ``RunOptions``.
    """

    def __init__(self, task: MultiAgentFlow, **options: Unpack[RunOptions]) -> None:
        self.task = task
        super().__init__(
            task.main,
            seed=task.seed,
            period=PERIOD,
            tags=task.algorithm.num_steps,
            limit=task.iterations,
            options=options,
        )

    def step(self) -> MultiAgentIteration:
        """Do one iteration."""
        task, agents = self.task, list(self.task.agent_spaces)
        episodes: list[Episode] = []
        metrics: dict[Any, Metrics] = {}
        evaluation: Evaluated | None = None
        count = task.algorithm.num_steps
        for _ in range(count):
            outputs = self._next()
            played: list[Played] = outputs["played"]
            episodes += [p.episode for p in played if p.episode is not None]
            each = outputs.get("metrics") or [None] * len(agents)
            pairs = zip(agents, each, strict=True)
            metrics |= {agent: found for agent, found in pairs if found is not None}
            ended: Evaluated | None = outputs.get("evaluated")
            if ended is not None:
                evaluation = replace(ended, iteration=ended.iteration // count)
        self.done += 1
        return MultiAgentIteration(
            self.done,
            task.steps_per_iteration,
            tuple(episodes),
            combined(metrics) or None,
            evaluation,
            metrics,
        )

    @property
    def weights(self) -> dict[Any, Weights]:
        """The current weights of each agent."""
        return {
            agent: self.registry.reactor(_path(index)).current
            for index, agent in enumerate(self.task.agent_spaces)
        }


def combined(metrics: Mapping[Any, Metrics]) -> Metrics:
    """Return the mean of all agents' metrics, and their losses as ``KEY-AGENT``."""
    keys = dict.fromkeys(key for found in metrics.values() for key in found)
    result: Metrics = {}
    for key in keys:
        values = {agent: found[key] for agent, found in metrics.items() if key in found}
        result[key] = sum(values.values()) / len(values)
        if key.startswith("losses/"):
            result |= {f"{key}-{agent}": value for agent, value in values.items()}
    return result
