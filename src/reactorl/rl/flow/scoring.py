# SPDX-License-Identifier: Apache-2.0
"""Playing episodes with what was learned, without exploring: for a final score.

Environments are stepped side by side, each for its share of the episodes, whatever
their length: so that short episodes count no more than long ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from reactorl.rl.flow.encoding import Encoder
from reactorl.rl.flow.trajectory import Episode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reactorl.rl.envs.factory import Maker
    from reactorl.rl.flow.algorithm import Array

SIDE_BY_SIDE = 20


class Stage(Protocol):
    """One environment, for one agent or several, to whoever plays on it."""

    @property
    def env(self) -> Any:  # noqa: ANN401
        """The environment itself."""

    def begin(self, seed: int | None) -> None:
        """Begin an episode."""

    def step(self, action: Any, /) -> Episode | None:  # noqa: ANN401
        """Do an action, or those of all agents; return the episode, if it ended."""

    def close(self) -> None:
        """Close the environment."""


_S = TypeVar("_S", bound=Stage)


class Solo:
    """An environment for one agent; ``row`` is what that sees."""

    def __init__(self, maker: Maker) -> None:
        self.env = maker()
        self._encode = Encoder(self.env.observation_space).one
        self._score, self._length = 0.0, 0
        self.row: Array

    def begin(self, seed: int | None) -> None:
        """Begin an episode."""
        self.row = self._encode(self.env.reset(seed=seed)[0])
        self._score, self._length = 0.0, 0

    def step(self, action: Any, /) -> Episode | None:  # noqa: ANN401
        """Do an action; return the episode, if it ended."""
        observation, reward, terminated, truncated, _ = self.env.step(action)
        self.row = self._encode(observation)
        self._score += float(reward)
        self._length += 1
        ended = terminated or truncated
        return Episode(self._score, self._length) if ended else None

    def close(self) -> None:
        """Close the environment."""
        self.env.close()


def play(
    make: Callable[[int], _S],
    choose: Callable[[Sequence[_S]], Iterable[Any]],
    *,
    episodes: int,
    seed: int,
    watch: Callable[[Any], None] | None = None,
) -> list[Episode]:
    """Return episodes, in the order of environments.

    Args:
        make: Makes an environment; it is told which one.
        choose: Returns what to do on each of some stages.
        episodes: How many.
        seed: Of the first environment; others have the next ones.
        watch: Is called with the first environment, after each of its resets and
            steps; then there is only one.
    """
    count = 1 if watch is not None else min(episodes, SIDE_BY_SIDE)
    shares = [episodes // count + (k < episodes % count) for k in range(count)]
    stages: list[_S] = []
    found: list[list[Episode]] = [[] for _ in range(count)]
    try:
        stages.extend(make(k) for k in range(count))
        for k, stage in enumerate(stages):
            stage.begin(seed + k)
        going = list(range(count))
        while going:
            if watch is not None:
                watch(stages[0].env)
            chosen = choose([stages[k] for k in going])
            for k, action in zip(tuple(going), chosen, strict=True):
                ended = stages[k].step(action)
                if ended is None:
                    continue
                found[k].append(ended)
                if watch is not None:
                    watch(stages[k].env)
                if len(found[k]) == shares[k]:
                    going.remove(k)
                else:
                    stages[k].begin(None)
    finally:
        for stage in stages:
            stage.close()
    return [episode for mine in found for episode in mine]
