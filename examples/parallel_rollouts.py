# SPDX-License-Identifier: Apache-2.0
"""Parallel rollouts that learn: the cross-entropy method on CartPole.

A ``Search`` proposes one linear policy per environment. Each ``Rollout`` plays with the
policy it got, and the search moves towards those that did best::

    search --candidates, after=0--> rollout[0..n) --score--> search

Candidates arrive one microstep later: that is what makes a round. Rollouts of a round
depend on nothing but their candidate, so they run in parallel, in whatever order the
machine likes. What is learned is the same bits for any number of workers.

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

EPISODES = 2  # that each candidate plays
ELITE = 4  # how many of the best are followed


class Rollout(Reactor):
    """Plays episodes in an environment of its own."""

    candidate = Input[Any]()
    score = Output[float]()
    env: Any = state(None)

    @reaction(startup)
    def open(self) -> None:
        """Make the environment; its seed follows from the run's and this name."""
        self.env = gym.make("CartPole-v1", max_episode_steps=200)
        self.env.reset(seed=self.seed)

    @reaction(candidate, effects=[score])
    def play(self) -> None:
        """Play with one policy: push right if the weighted sum is positive."""
        total = 0.0
        for _ in range(EPISODES):
            seen, over = self.env.reset()[0], False
            while not over:
                push = int(self.candidate.value @ seen > 0)
                seen, reward, fell, timeout, _ = self.env.step(push)
                over = fell or timeout
                total += reward
        self.score.set(total / EPISODES)

    def teardown(self) -> None:
        """Runs at the very end, also after an error."""
        if self.env is not None:
            self.env.close()


class Search(Reactor):
    """A normal distribution of policies that follows its elite."""

    width: int = param()
    rounds: int = param()
    report: list[float] = param()

    scores = MultiInput[float]()
    candidates = MultiOutput[Any](width)

    def setup(self) -> None:
        """Begin with no preference."""
        self.mean, self.deviation = np.zeros(4), np.ones(4)

    @reaction(startup, effects=[candidates])
    def begin(self) -> None:
        """Propose the first policies."""
        self.propose()

    @reaction(scores, effects=[candidates])
    def improve(self) -> None:
        """Learn from a round; then the next one, or the end."""
        scores = np.array(self.scores.values())  # by channel, whoever was first
        elite = self.tried[np.argsort(-scores, kind="stable")[:ELITE]]
        self.mean, self.deviation = elite.mean(axis=0), elite.std(axis=0) + 0.05
        self.report.append(float(scores.mean()))
        if len(self.report) < self.rounds:
            self.propose()

    def propose(self) -> None:
        """Draw a policy for each rollout, from this reactor's own generator."""
        noise = self.np_random.standard_normal((self.width, 4))
        self.tried = self.mean + self.deviation * noise
        for index, policy in enumerate(self.tried):
            self.candidates[index].set(policy)


class Training(Reactor):
    """One search and a bank of rollouts."""

    width: int = param(16)
    rounds: int = param(5)
    report: list[float] = param()

    search = Search(width=width, rounds=rounds, report=report)
    rollout = bank(Rollout, width=width)

    def build(self) -> None:
        """Connect them as in the picture above."""
        self.connect(self.search.candidates, self.rollout.candidate, after=0)
        self.connect(self.rollout.score, self.search.scores)


def main() -> None:
    """Train with one worker and with several, and compare everything that happened."""
    digests = []
    for workers in (1, 2, 4):
        scores: list[float] = []
        training = Training(report=scores)
        result = run(training, workers=workers, seed=7, fast=True, trace="values")
        digests.append(result.digest)
    print(f"{len(scores)} rounds, {result.reactions} reactions")
    print(f"the mean return is more than twice as high: {scores[-1] > 2 * scores[0]}")
    print(f"1, 2, 4 workers: {len(set(digests))} digest")


if __name__ == "__main__":
    main()
