# SPDX-License-Identifier: Apache-2.0
"""Parallel rollouts written as reactors: the cross-entropy method on CartPole.

A ``Search`` proposes one linear policy per environment. Each ``Rollout`` runs episodes
with its policy, and the search moves its distribution towards the best policies::

    search --candidates, after=0--> rollout[0..n) --returns--> search

Candidates arrive one microstep later, which starts the next iteration. The rollouts of
an iteration depend only on their candidates, so they run in parallel and in any order.
The result is bit-identical for any number of workers.

Run it: ``python examples/parallel_rollouts.py`` (needs ``reactorl[rl]``)
"""

from typing import Any

import gymnasium as gym
import numpy as np

from reactorl import (
    Input,
    MultiInput,
    MultiOutput,
    Output,
    Reactor,
    bank,
    param,
    reaction,
    run,
    startup,
    state,
)

EPISODES = 2  # per candidate
ELITE = 4  # number of best candidates that the distribution is fitted to


class Rollout(Reactor):
    """Runs episodes in its own environment."""

    candidate = Input[Any]()
    mean_return = Output[float]()
    env: Any = state(None)

    @reaction(startup)
    def open(self) -> None:
        """Make the environment; its seed is derived from the run's seed."""
        self.env = gym.make("CartPole-v1", max_episode_steps=200)
        self.env.reset(seed=self.seed)

    @reaction(candidate, effects=[mean_return])
    def run_episodes(self) -> None:
        """Evaluate one policy: push right if the weighted sum is positive."""
        total = 0.0
        for _ in range(EPISODES):
            observation, done = self.env.reset()[0], False
            while not done:
                action = int(self.candidate.value @ observation > 0)
                observation, reward, terminated, truncated, _ = self.env.step(action)
                done = terminated or truncated
                total += reward
        self.mean_return.set(total / EPISODES)

    def teardown(self) -> None:
        """Runs at the very end, also after an error."""
        if self.env is not None:
            self.env.close()


class Search(Reactor):
    """A normal distribution of policies, fitted to the best candidates."""

    width: int = param()
    iterations: int = param()
    report: list[float] = param()

    returns = MultiInput[float]()
    candidates = MultiOutput[Any](width)

    def setup(self) -> None:
        """Start with a standard normal distribution."""
        self.mean, self.deviation = np.zeros(4), np.ones(4)

    @reaction(startup, effects=[candidates])
    def begin(self) -> None:
        """Propose the first policies."""
        self.propose()

    @reaction(returns, effects=[candidates])
    def improve(self) -> None:
        """Fit the distribution to the elite; start the next iteration, if any."""
        returns = np.array(self.returns.values())  # ordered by channel
        elite = self.tried[np.argsort(-returns, kind="stable")[:ELITE]]
        self.mean, self.deviation = elite.mean(axis=0), elite.std(axis=0) + 0.05
        self.report.append(float(returns.mean()))
        if len(self.report) < self.iterations:
            self.propose()

    def propose(self) -> None:
        """Sample a policy for each rollout from this reactor's own generator."""
        noise = self.np_random.standard_normal((self.width, 4))
        self.tried = self.mean + self.deviation * noise
        for index, policy in enumerate(self.tried):
            self.candidates[index].set(policy)


class Training(Reactor):
    """Connects one search to a bank of rollouts."""

    width: int = param(16)
    iterations: int = param(5)
    report: list[float] = param()

    search = Search(width=width, iterations=iterations, report=report)
    rollout = bank(Rollout, width=width)

    def build(self) -> None:
        """Connect them as drawn above."""
        self.connect(self.search.candidates, self.rollout.candidate, after=0)
        self.connect(self.rollout.mean_return, self.search.returns)


def main() -> None:
    """Train with 1, 2 and 4 workers, and compare the traces."""
    digests = []
    for workers in (1, 2, 4):
        returns: list[float] = []
        training = Training(report=returns)
        result = run(training, workers=workers, seed=7, fast=True, trace="values")
        digests.append(result.digest)
    print(f"{len(returns)} iterations, {result.reactions} reactions")
    print(f"the mean return has more than doubled: {returns[-1] > 2 * returns[0]}")
    print(f"1, 2, 4 workers: {len(set(digests))} digest")


if __name__ == "__main__":
    main()
