# SPDX-License-Identifier: Apache-2.0
"""One environment with several agents: what they see as arrays, what they scored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gymnasium.vector import AutoresetMode

from reactorl.rl.checkpoint.env_state import restore_env, saved_env
from reactorl.rl.envs.sub_env import Rules
from reactorl.rl.flow.algorithm import FlowError, Spaces
from reactorl.rl.flow.encoding import Encoder
from reactorl.rl.flow.trajectory import Episode
from reactorl.rl.multi_agent.sub_env import ParallelSubEnv

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.flow.algorithm import Algorithm, Weights
    from reactorl.rl.multi_agent.sub_env import ByAgent
    from reactorl.rl.multi_agent.vector import Maker


class Played(NamedTuple):
    """What a turn was, by agent; only of agents that took part.

    Observations are arrays, as ``Encoder`` makes them of any space.
    """

    observations: ByAgent
    """Before the step."""
    actions: ByAgent
    late: tuple[Any, ...]
    """Who did not answer in time, so that an action is a fallback."""
    reached: ByAgent
    """Observations after the step; of an episode that ended, its last."""
    rewards: ByAgent
    terminations: ByAgent
    truncations: ByAgent
    scores: ByAgent | None
    """Sums of rewards, of all agents, if the episode ended."""
    turns: int
    """How many turns the episode has, this one included."""

    @property
    def episode(self) -> Episode | None:
        """The episode, if it ended: its score is the mean of its agents' scores."""
        if self.scores is None:
            return None
        each = tuple((str(agent), score) for agent, score in self.scores.items())
        mean = sum(score for _, score in each) / max(len(each), 1)
        return Episode(mean, self.turns, each)


def cast_of(maker: Maker) -> dict[Any, Spaces]:
    """Return the agents of an environment, and what each sees and does.

    Raises:
        FlowError: It does not say which agents there can be, or what they observe is
            no numbers.
    """
    env = maker()
    try:
        agents = getattr(env, "possible_agents", None)
        if not agents:
            msg = f"{env} does not say which agents it can have"
            remedy = "Each has a policy: let it have possible_agents."
            raise FlowError(msg, remedy)
        cast = {
            agent: Spaces(env.observation_space(agent), env.action_space(agent))
            for agent in agents
        }
        for spaces in cast.values():
            Encoder(spaces.observation)
        return cast
    finally:
        env.close()


class AgentsEnv:
    """One environment, which begins an episode when it is told to.

    Args:
        index: Which one it is, for whoever hears of its failures.
        maker: Makes it.
        cast: The agents that there can be, and what each sees and does.

    Raises:
        EnvError: It cannot be made; other methods raise it, too.
    """

    def __init__(self, index: int, maker: Maker, cast: Mapping[Any, Spaces]) -> None:
        self._seat = ParallelSubEnv(index, maker, Rules(AutoresetMode.DISABLED))
        self._agents = list(cast)
        self._encoders = {a: Encoder(spaces.observation) for a, spaces in cast.items()}
        self._plain = all(encoder.is_plain for encoder in self._encoders.values())
        self._scores: ByAgent = {}
        self._turns = 0
        self.rows: ByAgent = {}
        """What agents observe that are there; nothing between episodes."""

    @property
    def env(self) -> Any:  # noqa: ANN401
        """The environment itself."""
        return self._seat.env

    def begin(self, seed: int | None) -> None:
        """Begin an episode."""
        beginning = self._seat.begin(seed, None)
        rows = self._encoded(beginning.observations)
        self.rows = {agent: rows[agent] for agent in beginning.agents}
        self._scores, self._turns = {}, 0

    def play(self, actions: ByAgent, late: tuple[Any, ...] = ()) -> Played:
        """Do what the agents chose.

        Args:
            actions: Of all agents that are there.
            late: Who did not answer in time.
        """
        observations, given, ended, cut_off, _, agents, _ = self._seat.play(actions)
        everything = self._encoded(observations)
        scores = self._scores
        reached = everything
        if everything.keys() != actions.keys():
            reached = {agent: everything[agent] for agent in actions}
        rewards = {agent: float(given[agent]) for agent in actions}
        terminations = {agent: bool(ended[agent]) for agent in actions}
        truncations = {agent: bool(cut_off[agent]) for agent in actions}
        for agent, reward in rewards.items():
            scores[agent] = scores.get(agent, 0.0) + reward
        self._turns += 1
        played = Played(
            self.rows,
            actions,
            late,
            reached,
            rewards,
            terminations,
            truncations,
            None if agents else scores,
            self._turns,
        )
        # Mostly the same agents are there as before, and then so is what they see.
        same = reached is everything and len(agents) == len(everything)
        self.rows = reached if same else {agent: everything[agent] for agent in agents}
        return played

    def step(self, actions: ByAgent) -> Episode | None:
        """Do what the agents chose; return the episode, if it ended."""
        return self.play(actions).episode

    def _encoded(self, observations: ByAgent) -> ByAgent:
        # A copy: environments may go on writing into what they gave.
        if self._plain:
            return {agent: np.array(seen) for agent, seen in observations.items()}
        return {
            agent: np.array(self._encoders[agent].one(seen))
            for agent, seen in observations.items()
        }

    def save(self) -> Data:
        """Return everything that the next turn depends on; agents by place."""
        place = {agent: k for k, agent in enumerate(self._agents)}
        return {
            "rows": [[place[agent], row] for agent, row in self.rows.items()],
            "scores": [[place[agent], s] for agent, s in self._scores.items()],
            "turns": self._turns,
            "env": saved_env(self._seat.env),
        }

    def load(self, saved: Data) -> None:
        """Go on where another one stopped; it must have been reset before."""
        self.rows = {self._agents[k]: row for k, row in saved["rows"]}
        self._scores = {self._agents[k]: float(score) for k, score in saved["scores"]}
        self._turns = int(saved["turns"])
        restore_env(self._seat.env, saved["env"])

    def close(self) -> None:
        """Close it."""
        self._seat.close()


def best_actions(
    algorithm: Algorithm, weights: Mapping[Any, Weights], envs: Sequence[AgentsEnv]
) -> list[ByAgent]:
    """Return what all agents do in some environments, without exploring.

    Args:
        algorithm: How each acts.
        weights: What each has learned.
        envs: Where to act; each agent is asked once for all of them.
    """
    chosen: list[ByAgent] = [{} for _ in envs]
    for agent, known in weights.items():
        there = [k for k, env in enumerate(envs) if agent in env.rows]
        if there:
            rows = np.stack([envs[k].rows[agent] for k in there])
            actions = algorithm.act_greedy(known, rows)
            for k, action in zip(there, actions, strict=True):
                chosen[k][agent] = action
    return chosen
