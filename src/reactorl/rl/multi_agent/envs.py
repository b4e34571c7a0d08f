# SPDX-License-Identifier: Apache-2.0
"""An environment with several agents: encoded observations and episode returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gymnasium.vector import AutoresetMode

from reactorl.rl.envs.commands import Describe
from reactorl.rl.envs.errors import EnvError
from reactorl.rl.envs.shard_factory import ShardFactory
from reactorl.rl.envs.snapshot_policy import load
from reactorl.rl.flow.action_encoding import ActionDecoder
from reactorl.rl.flow.action_masks import MaskError, stacked_masks
from reactorl.rl.flow.algorithm import ActInput, FlowError, Spaces
from reactorl.rl.flow.encoding import Encoder
from reactorl.rl.flow.policy_memory import PolicyMemory
from reactorl.rl.flow.shard_envs import execute_or_raise, local_env, log_restart
from reactorl.rl.flow.trajectory import Episode
from reactorl.rl.multi_agent.masks import AgentMasks
from reactorl.rl.multi_agent.sub_env import (
    ParallelSubEnv,
    ResetAgents,
    StepAgents,
    try_parallel_steps,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.envs.commands import Command
    from reactorl.rl.envs.placement import PlacementOption
    from reactorl.rl.envs.rules import Restart
    from reactorl.rl.envs.shard import Replies
    from reactorl.rl.flow.algorithm import Algorithm, Array, Weights
    from reactorl.rl.multi_agent.results import ByAgent, ParallelReset, ParallelStep
    from reactorl.rl.multi_agent.vector import Maker


class Played(NamedTuple):
    """A joint step, by agent; only of agents that took part.

    Observations are arrays, as ``Encoder`` makes them of any space.
    """

    observations: ByAgent
    """Before the step."""
    actions: ByAgent
    late: tuple[Any, ...]
    """Agents whose policy missed the deadline, so that the action is a fallback."""
    reached: ByAgent
    """Observations after the step; of an episode that ended, the last ones."""
    rewards: ByAgent
    terminations: ByAgent
    truncations: ByAgent
    scores: ByAgent | None
    """Episode returns of all agents, if the episode ended."""
    turns: int
    """Steps of the episode, this one included."""

    @property
    def episode(self) -> Episode | None:
        """The episode, if it ended; its return is the mean over the agents."""
        if self.scores is None:
            return None
        each = tuple((str(agent), score) for agent, score in self.scores.items())
        mean = sum(score for _, score in each) / max(len(each), 1)
        return Episode(mean, self.turns, each)


def cast_of(maker: Maker) -> dict[Any, Spaces]:
    """Return the agents of an environment with their spaces.

    Raises:
        FlowError: It has no ``possible_agents``, or observations are not numbers.
    """
    env = maker()
    try:
        agents = getattr(env, "possible_agents", None)
        if not agents:
            msg = f"{env} must have possible_agents"
            raise FlowError(msg, "Each agent has a policy, so all must be known.")
        cast = {
            agent: Spaces(env.observation_space(agent), env.action_space(agent))
            for agent in agents
        }
        for spaces in cast.values():
            Encoder(spaces.observation)
        return cast
    finally:
        env.close()


def parallel_shards(
    maker: Maker,
    placement: PlacementOption = "thread",
    *,
    timeout: float | None = None,
    restart: Restart = "never",
    num_envs: int = 1,
) -> ShardFactory:
    """Return a factory of shards with one multi-agent environment each."""
    return ShardFactory(
        maker,
        placement,
        timeout=timeout,
        restart=restart,
        num_shards=num_envs,
        sub_env=ParallelSubEnv,
        trial=try_parallel_steps,
    )


class AgentsEnv:
    """One multi-agent environment, in a shard of its own; resets are explicit.

    Args:
        index: Its index, for failures.
        shards: Makes the shard.
        cast: All possible agents with their spaces.
        masks: Whether observations and infos have action masks, which are read.
    """

    def __init__(
        self,
        index: int,
        shards: ShardFactory,
        cast: Mapping[Any, Spaces],
        *,
        masks: bool = False,
    ) -> None:
        self._reader = AgentMasks(cast) if masks else None
        self.masks: ByAgent = {}
        """Action masks of the present agents that have one."""
        self._index = index
        self._shard = shards.make(1, AutoresetMode.DISABLED, first=index)
        self._snapshots = shards.snapshots
        self._agents = list(cast)
        self._encoders = {a: Encoder(spaces.observation) for a, spaces in cast.items()}
        self._returns: ByAgent = {}
        self._turns = 0
        self.rows: ByAgent = {}
        """Observations of the present agents; empty between episodes."""

    def open(self) -> None:
        """Make the environment, or wait for the process that makes it.

        Raises:
            EnvError: It cannot be made.
        """
        self._shard.open()

    @property
    def env(self) -> Any:  # noqa: ANN401
        """The environment itself; only in this process."""
        return local_env(self._shard)

    def begin(self, seed: int | None, tag: str = "") -> None:
        """Begin an episode.

        Raises:
            EnvError: The reset failed.
        """
        found = self._execute(ResetAgents({self._index: seed}), tag)
        self._log_restart(found.infos, tag)
        rows = self._encoded(found.observations)
        self.rows = {agent: rows[agent] for agent in found.agents}
        self._returns, self._turns = {}, 0
        self._read_masks(found, tag)

    def play(
        self, actions: ByAgent, late: tuple[Any, ...] = (), tag: str = ""
    ) -> Played:
        """Do a joint step.

        Args:
            actions: Of all present agents.
            late: Agents whose policy missed the deadline.
            tag: The current tag, for failures.

        Raises:
            EnvError: The step failed, and restarts are off.
        """
        found = self._execute(StepAgents({self._index: actions}), tag)
        if found.restarted:
            self._log_restart(found.infos, tag)
        everything = self._encoded(found.observations)
        returns = self._returns
        reached = everything
        if everything.keys() != actions.keys():
            reached = {agent: everything[agent] for agent in actions}
        rewards = {agent: float(found.rewards[agent]) for agent in actions}
        terminations = {agent: bool(found.terminations[agent]) for agent in actions}
        truncations = {agent: bool(found.truncations[agent]) for agent in actions}
        for agent, reward in rewards.items():
            returns[agent] = returns.get(agent, 0.0) + reward
        self._turns += 1
        agents = found.agents
        played = Played(
            self.rows,
            actions,
            late,
            reached,
            rewards,
            terminations,
            truncations,
            None if agents else returns,
            self._turns,
        )
        # Mostly the same agents are present as before, with the same observations.
        same = reached is everything and len(agents) == len(everything)
        self.rows = reached if same else {agent: everything[agent] for agent in agents}
        self._read_masks(found, tag)
        return played

    def _read_masks(self, found: ParallelStep | ParallelReset, tag: str) -> None:
        if self._reader is None:
            return
        try:
            self.masks = self._reader.read(
                found.observations, found.infos, found.agents
            )
        except MaskError as error:
            name = self._execute(Describe()).name
            raise EnvError(self._index, name, self._turns, tag, str(error)) from None

    def cut(self) -> Episode:
        """Return the episode so far; ``begin`` begins the next one."""
        each = tuple((str(agent), score) for agent, score in self._returns.items())
        mean = sum(score for _, score in each) / max(len(each), 1)
        return Episode(mean, self._turns, each, is_cut=True)

    def _encoded(self, observations: ByAgent) -> ByAgent:
        # Copies: environments may write into the arrays that they returned.
        reader = self._reader
        if reader is not None:
            observations = {
                a: reader.observation(a, s) for a, s in observations.items()
            }
        return {
            agent: np.array(self._encoders[agent].one(seen))
            for agent, seen in observations.items()
        }

    def save(self) -> Data:
        """Return the state as plain data; agents by their place."""
        place = {agent: k for k, agent in enumerate(self._agents)}
        return {
            "rows": [[place[agent], row] for agent, row in self.rows.items()],
            "masks": [[place[agent], mask] for agent, mask in self.masks.items()],
            "scores": [[place[agent], s] for agent, s in self._returns.items()],
            "turns": self._turns,
            "env": self._snapshots.save(self._replies, [self._index])[self._index],
        }

    def load(self, saved: Data) -> bool:
        """Restore a saved state; the environment must have been reset before.

        Returns:
            Whether that was possible; else it begins a new episode.
        """
        seeds = load(self._replies, {self._index: saved["env"]})
        if seeds:
            self.begin(seeds[self._index])
            return False
        self.rows = {self._agents[k]: row for k, row in saved["rows"]}
        self.masks = {self._agents[k]: mask for k, mask in saved["masks"]}
        self._returns = {self._agents[k]: float(each) for k, each in saved["scores"]}
        self._turns = int(saved["turns"])
        return True

    def close(self) -> None:
        """Close the environment."""
        self._shard.close()

    def _execute(self, command: Command, tag: str = "") -> Any:  # noqa: ANN401
        return self._replies(command, tag)[self._index]

    def _replies(self, command: Command, tag: str = "") -> Replies:
        return execute_or_raise(self._shard, command, tag)

    def _log_restart(self, infos: ByAgent, tag: str) -> None:
        for info in infos.values():
            if "failure" in info:
                log_restart(info, tag)
                return


class AgentsEnvs:
    """Multi-agent environments in which an evaluation acts greedily.

    Args:
        shards: Makes a shard for each.
        cast: The agents with their spaces.
        count: Number of environments.
        algorithm: The algorithm of each agent.
        max_steps: Steps after which an episode is cut.
    """

    def __init__(
        self,
        shards: ShardFactory,
        cast: Mapping[Any, Spaces],
        count: int,
        algorithm: Algorithm,
        max_steps: int,
    ) -> None:
        self._algorithm = algorithm
        self._max_steps = max_steps
        self._memories = {
            agent: PolicyMemory(algorithm, spaces, count)
            for agent, spaces in cast.items()
        }
        self._decoders = {a: ActionDecoder(spaces.action) for a, spaces in cast.items()}
        self._envs: list[AgentsEnv] = []
        try:
            for index in range(count):
                self._envs.append(AgentsEnv(index, shards, cast, masks=True))
        except BaseException:
            self.close()
            raise

    @property
    def env(self) -> Any:  # noqa: ANN401
        """The first environment itself; only in this process."""
        return self._envs[0].env

    def open(self) -> None:
        """Make the environments, or wait for the processes that make them."""
        for env in self._envs:
            env.open()

    def reset(self, seeds: Mapping[int, int | None]) -> None:
        """Begin an episode in some environments, by index."""
        for index, seed in seeds.items():
            self._envs[index].begin(seed)
        for memory in self._memories.values():
            memory.begin(list(seeds))

    def steps_greedily(
        self,
        weights: Mapping[Any, Weights],
        active: Sequence[int],
        limit: int,
        tag: str = "",
    ) -> tuple[int, list[tuple[int, Episode]]]:
        """Do one greedy step, in some environments; see ``GreedyEnvs``."""
        return 1, self.step_greedily(weights, active, tag)

    def step_greedily(
        self, weights: Mapping[Any, Weights], active: Sequence[int], tag: str = ""
    ) -> list[tuple[int, Episode]]:
        """Do a greedy step in some environments.

        Returns:
            The episodes that ended or were cut, by index.
        """
        envs = [self._envs[index] for index in active]
        chosen = self._greedy_actions(weights, active)
        ended = []
        for index, env, actions in zip(active, envs, chosen, strict=True):
            played = env.play(actions, tag=tag)
            episode = played.episode
            if episode is None and played.turns >= self._max_steps:
                episode = env.cut()
            if episode is not None:
                ended.append((index, episode))
        return ended

    def _greedy_actions(
        self, weights: Mapping[Any, Weights], active: Sequence[int]
    ) -> list[ByAgent]:
        """Return the actions of all agents; each policy is called once for all envs."""
        chosen: dict[int, ByAgent] = {index: {} for index in active}
        for agent, known in weights.items():
            present = [index for index in active if agent in self._envs[index].rows]
            if present:
                rows = np.stack([self._envs[k].rows[agent] for k in present])
                memory = self._memories[agent]
                mask = self._mask(agent, present)
                inputs = ActInput(rows, mask, memory.of(present))
                output = self._algorithm.act_greedy(known, inputs)
                memory.put(output.memory, present)
                actions = self._decoders[agent].batch(output.actions)
                for index, action in zip(present, actions, strict=True):
                    chosen[index][agent] = action
        return list(chosen.values())

    def _mask(self, agent: Any, present: Sequence[int]) -> Array | None:  # noqa: ANN401
        """Return the masks of an agent in some environments; None: it has none."""
        masks = [self._envs[index].masks.get(agent) for index in present]
        return stacked_masks(masks)

    def save(self) -> Data:
        """Return the state of all environments as plain data."""
        return {
            "envs": [env.save() for env in self._envs],
            "memories": [memory.save() for memory in self._memories.values()],
        }

    def load(self, saved: Data) -> None:
        """Restore a saved state; the environments must have been reset before."""
        each = enumerate(zip(self._envs, saved["envs"], strict=True))
        begun = [index for index, (env, data) in each if not env.load(data)]
        memories = self._memories.values()
        for memory, data in zip(memories, saved["memories"], strict=True):
            memory.load(data)
            memory.begin(begun)

    def close(self) -> None:
        """Close the environments."""
        for env in self._envs:
            env.close()
