# SPDX-License-Identifier: Apache-2.0
"""The reactor program of a ``MultiAgentFlow``: clock, environments, agents, evaluation.

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

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

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
from reactorl.rl.checkpoint.registry import (
    StateRegistry,
    random_state,
    set_random_state,
)
from reactorl.rl.flow.action_encoding import ActionDecoder
from reactorl.rl.flow.action_masks import stacked_masks
from reactorl.rl.flow.algorithm import ActInput
from reactorl.rl.flow.evaluation import Evaluated, EvaluationPlan
from reactorl.rl.flow.policy_memory import PolicyMemory, memory_columns
from reactorl.rl.multi_agent.env_reactor import World, WorldPlan
from reactorl.rl.multi_agent.envs import (
    AgentsEnvs,
    Played,
)
from reactorl.rl.multi_agent.evaluation import AgentsEvaluation
from reactorl.rl.multi_agent.inference import PERIOD, Turns
from reactorl.rl.multi_agent.masks import MaskedObservation

if TYPE_CHECKING:
    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.flow.algorithm import (
        Array,
        Batch,
        State,
        Weights,
    )
    from reactorl.rl.flow.multi_agent import MultiAgentFlow

EVALUATION_SEED: Final = 1_000_000
"""Added to the seed for evaluation, so that it plays other episodes than training."""
AGENT: Final = "pupil"
ENV: Final = "world"
"""Names of the banks. Random streams are derived from them: other names would change
the results of a seed."""
EVALUATION_ENVS: Final = 4
"""Upper bound of the number of environments of an evaluation."""


def agent_path(index: int) -> str:
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
        algorithm = self.plan.task.algorithm
        count, spaces = algorithm.num_envs, self.plan.task.agent_spaces[self.plan.agent]
        self.decoder = ActionDecoder(spaces.action)
        self.memory = PolicyMemory(algorithm, spaces, count)
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
            self.memory.load(saved.get("memory"))

    @reaction(observations, effects=[actions])
    def act(self) -> None:
        """Choose actions, for all environments at once."""
        algorithm = self.plan.task.algorithm
        present = [(index, port.value) for index, port in self.observations.present()]
        rows, mask = _rows_and_masks([seen for _, seen in present])
        turn = self.elapsed // PERIOD - 1
        iteration = turn // algorithm.num_steps
        progress = min(1.0, iteration / algorithm.iterations)
        indices = [index for index, _ in present]
        inputs = ActInput(rows, mask, self.memory.of(indices))
        output = algorithm.act(self.current, inputs, self.np_random, progress)
        self.memory.put(output.memory, indices)
        extras = {
            "actions": output.actions,
            **output.extras,
            **memory_columns(inputs.memory),
        }
        if mask is not None:
            extras["action_masks"] = mask
        actions = self.decoder.batch(output.actions)
        for row, index in enumerate(indices):
            self.extras[index] = {name: value[row] for name, value in extras.items()}
            self.actions[index].set(actions[row])

    @reaction(played, effects=[metrics, weights])
    def learn(self) -> None:
        """Store transitions, and learn if there are enough."""
        agent, algorithm = self.plan.agent, self.plan.task.algorithm
        over = []
        for index, port in self.played.present():
            played = port.value
            if index in self.extras:
                new = _transition(played, agent)
                self.transitions[index].append({**new, **self.extras[index]})
            if played.scores is not None or _left(played, agent):
                over.append(index)
        self.memory.begin(over)
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
        memory = self.memory.save()
        return {
            **({} if memory is None else {"memory": memory}),
            "state": self.plan.task.algorithm.serialize(self.state),
            "random": random_state(self.np_random),
            "steps": [list(mine) for mine in self.transitions],
        }


def _left(played: Played, agent: Any) -> bool:  # noqa: ANN401
    """Return whether the episode of one agent ended in this step."""
    ends = played.terminations.get(agent), played.truncations.get(agent)
    return any(ends)


def _transition(played: Played, agent: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the transition of one agent, without its encoded action."""
    return {
        "observations": played.observations[agent],
        "rewards": played.rewards[agent],
        "next_observations": played.reached[agent],
        "terminations": played.terminations[agent],
        "truncations": played.truncations[agent],
    }


def _rows_and_masks(seen: list[Any]) -> tuple[Array, Array | None]:
    """Return observations and masks as rows; None: there are no masks."""
    masked = [isinstance(each, MaskedObservation) for each in seen]
    if not any(masked):
        return np.stack(seen), None
    rows = [
        s.row if is_masked else s for s, is_masked in zip(seen, masked, strict=True)
    ]
    masks = [
        s.mask if is_masked else None for s, is_masked in zip(seen, masked, strict=True)
    ]
    return np.stack(rows), stacked_masks(masks)


def _complete_masks(transitions: list[list[dict[str, Any]]]) -> None:
    """Give all transitions a mask if one of them has one."""
    every = [step for mine in transitions for step in mine]
    masks = stacked_masks([step.get("action_masks") for step in every])
    if masks is not None:
        for step, mask in zip(every, masks, strict=True):
            step["action_masks"] = mask


def stack(transitions: list[list[dict[str, Any]]]) -> Batch:
    """Return transitions, by environment, as arrays ``[step, environment, ...]``."""
    _complete_masks(transitions)
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
        env_plan = WorldPlan(
            task.shards, task.agent_spaces, task.seed, registry, masks=True
        )
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
            lambda: AgentsEnvs(
                task.shards, task.agent_spaces, count, algorithm, task.max_eval_steps
            ),
            weights,
            self.registry,
        )
