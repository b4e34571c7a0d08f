# SPDX-License-Identifier: Apache-2.0
"""Evaluation on the side for several agents, all of which play their best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reactorl import MultiInput, reaction
from reactorl.rl.envs.errors import EnvError
from reactorl.rl.flow.evaluation import Evaluation
from reactorl.rl.multi_agent.envs import AgentsEnv, best_actions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.flow.algorithm import Algorithm, Spaces, Weights
    from reactorl.rl.flow.trajectory import Episode
    from reactorl.rl.multi_agent.vector import Maker


class ExaminedAgents:
    """Environments in which an evaluation tries weights, by agent.

    Args:
        maker: Makes one.
        cast: The agents, and what each sees and does.
        count: How many environments.
        algorithm: How each agent acts.

    Raises:
        EnvError: One cannot be made.
    """

    def __init__(
        self,
        maker: Maker,
        cast: Mapping[Any, Spaces],
        count: int,
        algorithm: Algorithm,
    ) -> None:
        self._algorithm = algorithm
        self._envs: list[AgentsEnv] = []
        try:
            for index in range(count):
                self._envs.append(AgentsEnv(index, maker, cast))
        except BaseException:
            self.close()
            raise

    def open(self) -> None:
        """Do nothing: the environments are made by the constructor."""

    def reset(self, seeds: Sequence[int]) -> None:
        """Begin an episode in each."""
        for env, seed in zip(self._envs, seeds, strict=True):
            env.begin(seed)

    def advance(
        self, weights: Mapping[Any, Weights], tag: str
    ) -> list[tuple[int, Episode]]:
        """Do the best step in each; return the episodes that ended, and whose."""
        found = []
        chosen = best_actions(self._algorithm, weights, self._envs)
        for who, (env, actions) in enumerate(zip(self._envs, chosen, strict=True)):
            try:
                ended = env.step(actions)
                if ended is not None:
                    found.append((who, ended))
                    env.begin(None)
            except EnvError as failure:
                raise failure.at(tag) from failure
        return found

    def save(self) -> Data:
        """Return the state of all of them as plain data."""
        return [env.save() for env in self._envs]

    def load(self, saved: Data) -> None:
        """Go on where others stopped; they must have been reset before."""
        for env, data in zip(self._envs, saved, strict=True):
            env.load(data)

    def close(self) -> None:
        """Close all of them."""
        for env in self._envs:
            env.close()


class AgentsEvaluation(Evaluation):
    """Evaluates what all agents have learned, together."""

    learned = MultiInput[Any]()
    """What each has learned, in order; used from the next tag on."""

    @reaction(learned)
    def note(self) -> None:
        """Evaluate these when the next evaluation begins.

        After the steps of this tag, so that they need not wait until all have learned.
        """
        agents = list(self.latest)
        arrived = {agents[k]: port.value for k, port in self.learned.present()}
        self.latest = {**self.latest, **arrived}
