# SPDX-License-Identifier: Apache-2.0
"""The environments, their actions, and which results are compared.

All engines step the same environments with the same seeds and the same table of
actions. An environment whose episode ended is reset by the next step, whose action is
ignored: Gymnasium's default (``AutoresetMode.NEXT_STEP``).
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.harness.seen import Seen
from benchmarks.workloads.atari.games import make_game, prepared_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.harness.engine import Engine

SEED = 1
"""Environment i has seed SEED + i."""
ROWS = 1_000
"""Rows of the table of actions, which is then repeated."""


def params_for(params: dict[str, Any], engine: Engine) -> dict[str, Any]:
    """Return params as an engine needs them."""
    return prepared_for(params, engine) if "game" in params else params


def make_env(params: dict[str, Any]) -> Any:  # noqa: ANN401
    """Return an environment."""
    import gymnasium

    if "game" in params:
        return make_game(params)
    if params["env"] == "busy":
        from benchmarks.workloads.gym.busy import Busy

        return Busy(round(params["us"] * params["turns_per_us"]))
    if params["env"].startswith("ALE/"):
        import ale_py

        gymnasium.register_envs(ale_py)
    return gymnasium.make(params["env"])


def actions(params: dict[str, Any]) -> Any:  # noqa: ANN401
    """Return the table of actions: a row for each round, an action for each env."""
    random = np.random.default_rng(SEED)
    count = params["envs"]
    if "bound" in params:
        shape = (ROWS, count, 1)
        return random.uniform(-params["bound"], params["bound"], shape).astype("f4")
    return random.integers(params["actions"], size=(ROWS, count))


def rows(params: dict[str, Any]) -> Iterator[Any]:
    """Yield the actions of round after round, without end."""
    return itertools.cycle(list(actions(params)))


class Player:
    """One environment with the autoreset of Gymnasium's vectors."""

    def __init__(self, index: int) -> None:
        self._index = index

    def begin(self, params: dict[str, Any]) -> None:
        """Make the environment and reset it."""
        self._env = make_env(params)
        self._env.reset(seed=SEED + self._index)
        self._ended = False

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:  # noqa: ANN401
        """Step it, or reset it if its episode ended."""
        if self._ended:
            observation, info = self._env.reset()
            self._ended = False
            return observation, 0.0, False, False, info
        result = self._env.step(action)
        self._ended = result[2] or result[3]
        return result  # type: ignore[no-any-return]

    def close(self) -> None:
        """Close the environment."""
        self._env.close()


class Sight:
    """Digests of results, whether these are a list or batches.

    Prepared frames have a digest of their own, as libraries round differently.
    """

    def __init__(self, watch: Any, params: dict[str, Any]) -> None:  # noqa: ANN401
        self._seen = Seen(watch)
        self._apart = bool(params.get("prepared"))
        self._frames = Seen(watch) if self._apart else self._seen
        self._tick: Callable[[Any], bool] = watch.tick

    def results(self, results: Sequence[Any]) -> bool:
        """Add a result for each environment; return whether another round follows."""
        if self._seen.open:
            columns = zip(*(result[:4] for result in results), strict=True)
            observations, *others = columns
            self._add(list(map(np.asarray, observations)), *others)
        return self._tick(self._seen)

    def batch(self, batch: Sequence[Any]) -> bool:
        """Add a batch; return whether another round follows."""
        if self._seen.open:
            observations, *others = batch[:4]
            if isinstance(observations, tuple):
                observations = np.stack(observations, axis=1)
            self._add(observations, *others)
        return self._tick(self._seen)

    def more(self) -> dict[str, Any]:
        """Return the digest of prepared frames."""
        return {"frames": repr(self._frames)} if self._apart else {}

    def _add(
        self,
        observations: Any,  # noqa: ANN401
        rewards: Any,  # noqa: ANN401
        terminated: Any,  # noqa: ANN401
        truncated: Any,  # noqa: ANN401
    ) -> None:
        array = np.asarray(observations)
        if array.dtype != np.uint8:
            array = array.astype(np.float64)
        self._frames.add(array)
        self._seen.add(
            np.asarray(rewards, np.float64),
            np.asarray(terminated, bool),
            np.asarray(truncated, bool),
        )
