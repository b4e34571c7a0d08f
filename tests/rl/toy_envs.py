# SPDX-License-Identifier: Apache-2.0
"""Toy environments: every kind of space, info, and bad habit that results allow."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces


class Word(gym.Space[str]):
    """A space of somebody's own: words of three letters."""

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        return "".join(self.np_random.choice(list("abc"), 3).tolist())

    def contains(self, x: object) -> bool:
        return isinstance(x, str) and len(x) == 3

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Word)

    __hash__ = None  # type: ignore[assignment]


def every_space() -> dict[str, gym.Space[Any]]:
    """Return a space of every kind that Gymnasium batches."""
    plain: dict[str, gym.Space[Any]] = {
        "float32": spaces.Box(-1, 1, (3,), np.float32),
        "float64": spaces.Box(-1, 1, (2, 2), np.float64),
        "float16": spaces.Box(-1, 1, (4,), np.float16),
        "uint8": spaces.Box(0, 255, (4, 3, 2), np.uint8),
        "int64": spaces.Box(-9, 9, (2,), np.int64),
        "bool": spaces.Box(0, 1, (3,), np.bool_),
        "scalar": spaces.Box(-1, 1, (), np.float32),
        "empty": spaces.Box(-1, 1, (0,), np.float32),
        "unbounded": spaces.Box(-np.inf, np.inf, (2,), np.float64),
        "discrete": spaces.Discrete(5, start=-2),
        "small discrete": spaces.Discrete(5, dtype=np.int8),
        "multidiscrete": spaces.MultiDiscrete([3, 4, 2]),
        "multidiscrete 2d": spaces.MultiDiscrete(np.array([[3, 4], [2, 5]])),
        "multibinary": spaces.MultiBinary(4),
        "multibinary 2d": spaces.MultiBinary((2, 3)),
        "text": spaces.Text(6),
        "graph": spaces.Graph(spaces.Box(-1, 1, (2,)), spaces.Discrete(3)),
        "sequence": spaces.Sequence(spaces.Box(-1, 1, (2,))),
        "stacked": spaces.Sequence(spaces.Box(-1, 1, (2,)), stack=True),
        "oneof": spaces.OneOf((spaces.Discrete(3), spaces.Box(-1, 1, (2,)))),
        "own": Word(),
    }
    return {
        **plain,
        "dict": spaces.Dict(b=spaces.Discrete(3), a=spaces.Box(-1, 1, (2,))),
        "tuple": spaces.Tuple((spaces.Discrete(3), spaces.Box(-1, 1, (2,)))),
        "everything": spaces.Dict(
            all=spaces.Dict(plain),
            pair=spaces.Tuple(
                (
                    spaces.Dict(t=spaces.Text(3), x=spaces.Box(0, 1, (1,))),
                    spaces.Tuple((spaces.MultiBinary(2), Word())),
                )
            ),
        ),
    }


ACTION_SPACES: dict[str, gym.Space[Any]] = {
    "discrete": spaces.Discrete(3),
    "box": spaces.Box(-1, 1, (2,), np.float32),
    "multidiscrete": spaces.MultiDiscrete([3, 2]),
    "multibinary": spaces.MultiBinary(3),
    "dict": spaces.Dict(a=spaces.Discrete(3), b=spaces.Box(-1, 1, (2,))),
    "tuple": spaces.Tuple((spaces.Discrete(3), spaces.Box(-1, 1, (2,)))),
    "text": spaces.Text(4),
}


class Toy(gym.Env[Any, Any]):
    """Observes samples of a space; they follow from the seed and the actions alone.

    Args:
        space: What it observes.
        actions: What it is told.
        longest: How many steps an episode has at most.
        chatty: Whether its infos hold something.
        render_mode: As Gymnasium says.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012

    def __init__(
        self,
        space: gym.Space[Any] | None = None,
        actions: gym.Space[Any] | None = None,
        *,
        longest: int = 6,
        chatty: bool = True,
        render_mode: str | None = None,
    ) -> None:
        self.observation_space = deepcopy(
            spaces.Box(-1, 1, (3,)) if space is None else space
        )
        self.action_space = deepcopy(spaces.Discrete(3) if actions is None else actions)
        self.render_mode = render_mode
        self.longest = longest
        self.chatty = chatty
        self.color = 0
        self.views: list[Any] = []
        self.turn = 0
        self.episodes = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.turn = 0
        self.episodes += 1
        self.length = int(self.np_random.integers(1, self.longest + 1))
        if seed is not None or not self.views:
            self.observation_space.seed(seed)
            self.views = [self.observation_space.sample() for _ in range(8)]
        info = self.info() if self.chatty else {}
        if options is not None:
            info["options"] = repr(options)
        return self.observe(0), info

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        self.turn += 1
        key = checksum(action)
        over = self.turn >= self.length
        reward = float(self.np_random.normal()) + key
        info = self.info() if self.chatty else {}
        return (
            self.observe(key),
            # All of these are seen in the wild.
            (reward, np.float32(reward), int(key))[self.turn % 3],
            over and self.length % 3 != 0,
            np.bool_(over and self.length % 3 != 1),
            info,
        )

    def observe(self, key: int) -> Any:
        return self.views[(int(self.np_random.integers(8)) + key) % 8]

    def info(self) -> dict[str, Any]:
        """Return one of six infos, also an empty one."""
        turn = (self.turn + self.episodes) % 100
        kinds: list[dict[str, Any]] = [
            {},
            {"turn": turn, "ratio": turn / 3, "odd": turn % 2 == 1},
            {"vector": np.arange(3) * turn, "word": "w" * turn, "f": np.float32(turn)},
            {"in": {"deep": {"er": turn}, "v": np.ones((2, 2)) * turn}, "list": [turn]},
            {"ratio": turn, "none": None, "turn": float(turn), "f": np.int8(turn)},
            {"in": {"x": turn / 7, "deep": {}}, "empty": {}, "tuple": (turn, "t")},
        ]
        return kinds[int(self.np_random.integers(len(kinds)))]

    def render(self) -> Any:
        return np.full((4, 6, 3), (self.color + self.turn) % 256, np.uint8)

    def double(self, number: int, *, plus: int = 0) -> int:
        return 2 * number + plus


class Reuser(Toy):
    """Returns the same array, dict and list each time, and changes them."""

    def __init__(self) -> None:
        super().__init__(spaces.Box(-1, 1, (3,), np.float64), chatty=False)
        self._observation = np.zeros(3)
        self._info: dict[str, Any] = {
            "turn": 0,
            "array": np.zeros(2),
            "in": {"turn": 0, "array": np.zeros(1)},
        }

    def observe(self, key: int) -> Any:
        self._observation[:] = self.np_random.uniform(-1, 1, 3) + key
        return self._observation

    def _changed(self) -> dict[str, Any]:
        number = self.turn + 10 * self.episodes
        self._info["turn"] = number
        self._info["array"] += 1
        self._info["in"]["turn"] = number
        self._info["in"]["array"][0] = number
        return self._info

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        observation, _ = super().reset(seed=seed, options=options)
        return observation, self._changed()

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        observation, reward, terminated, truncated, _ = super().step(action)
        return observation, reward, terminated, truncated, self._changed()


def checksum(action: Any) -> int:
    """Return a small number that depends on all of an action."""
    if isinstance(action, dict):
        return sum((i + 1) * checksum(part) for i, part in enumerate(action.values()))
    if isinstance(action, tuple | list):
        return sum((i + 1) * checksum(part) for i, part in enumerate(action))
    if isinstance(action, str):
        return sum(map(ord, action)) % 97
    return int(np.abs(np.asarray(action, np.float64) * 100).sum()) % 97


def toys(count: int, space: gym.Space[Any] | None = None, **options: Any) -> list[Any]:
    """Return functions that make so many toys."""
    return [lambda: Toy(space, **options) for _ in range(count)]
