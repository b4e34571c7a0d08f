# SPDX-License-Identifier: Apache-2.0
"""Training of several agents, each of which learns independently."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Unpack

from reactorl.rl._public import public
from reactorl.rl.checkpoint.registry import (
    StateRegistry,
)
from reactorl.rl.envs.factory import Wrapped
from reactorl.rl.flow.algorithm import FlowError
from reactorl.rl.flow.environment import described_steps
from reactorl.rl.flow.evaluation import Evaluated, play
from reactorl.rl.flow.multi_agent_program import MultiAgentLoop, agent_path
from reactorl.rl.flow.run import DrivenRun, RunOptions
from reactorl.rl.flow.task import Iteration, Task
from reactorl.rl.multi_agent.envs import (
    AgentsEnvs,
    Played,
    cast_of,
    parallel_shards,
)
from reactorl.rl.multi_agent.factory import ParallelRecipe
from reactorl.rl.multi_agent.inference import PERIOD
from reactorl.rl.multi_agent.masks import without_mask
from reactorl.rl.multi_agent.time_limit import ParallelTimeLimit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reactorl import Reactor
    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.envs.shard_factory import ShardFactory
    from reactorl.rl.flow.algorithm import (
        Algorithm,
        Metrics,
        Spaces,
        State,
        Weights,
    )
    from reactorl.rl.flow.evaluation import PlayProgress
    from reactorl.rl.flow.trajectory import Episode
    from reactorl.rl.multi_agent.vector import Maker


@public
@dataclass(frozen=True, kw_only=True, repr=False)
class MultiAgentFlow(Task):
    """A training task for several agents: an environment, and their algorithm.

    Raises:
        FlowError: An option is invalid.

    Example:
        >>> weights = MultiAgentFlow("mpe2.simple_spread_v3", IPPO()).run()
    """

    env: str | Maker = field(kw_only=False)
    """The PettingZoo environment: the name of a module that has ``parallel_env``, or a
    function that makes a ``ParallelEnv``."""
    algorithm: Algorithm = field(kw_only=False)
    """The algorithm of every agent, with its hyper-parameters, e.g.
    ``IPPO(gamma=0.9)``."""

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
        kwargs, wrappers = dict(self.env_kwargs), self.loaded_wrappers()
        if self.time_limit is not None:
            limit = partial(ParallelTimeLimit, max_episode_steps=self.time_limit)
            wrappers = (limit, *wrappers)
        if isinstance(self.env, str):
            return ParallelRecipe(self.env, kwargs, wrappers)
        return Wrapped(self.env, kwargs, wrappers) if kwargs or wrappers else self.env

    @property
    def preprocessing_steps(self) -> tuple[str, ...]:
        """What happens between the environment and the agents, in words, in order."""
        return described_steps(self)

    @cached_property
    def agent_spaces(self) -> dict[Any, Spaces]:
        """The agents and their spaces; makes one environment and closes it."""
        cast = cast_of(self.maker)
        found = {agent: without_mask(spaces) for agent, spaces in cast.items()}
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
        found = {}
        for index, agent in enumerate(self.agent_spaces):
            data = parts[agent_path(index)]["state"]
            state = algorithm.deserialize(self.init(agent), data)
            found[agent] = algorithm.weights(state)
        return found

    def play(
        self,
        weights: Mapping[Any, Weights],
        *,
        episodes: int,
        seed: int,
        watch: Callable[[Any], None] | None = None,
        report: Callable[[PlayProgress], None] | None = None,
    ) -> list[Episode]:
        """Play episodes greedily."""
        maker = self.maker
        if watch is not None and isinstance(maker, ParallelRecipe):
            maker = replace(maker, kwargs={**maker.kwargs, "render_mode": "rgb_array"})
            maker().close()  # raises FlowError if it cannot be rendered

        shards = parallel_shards(maker)
        return play(
            lambda count: AgentsEnvs(
                shards, self.agent_spaces, count, self.algorithm, self.max_eval_steps
            ),
            weights,
            episodes=episodes,
            seed=seed,
            watch=watch,
            report=report,
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
            agent: self.registry.reactor(agent_path(index)).current
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
