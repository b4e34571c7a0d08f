# SPDX-License-Identifier: Apache-2.0
"""Plays a game and times the parts of its steps.

Emulator, resizing and the wrappers' steps are timed from outside while the game is
played: what no part accounts for is overhead.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from benchmarks.workloads.atari_parts import GAME, PARTS, STACKED

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.harness.engine import Engine

RESETS = 5


class Clock:
    """Adds up the time of parts."""

    def __init__(self) -> None:
        self._spent: dict[str, list[float]] = {}

    def timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with its time added to a part."""
        spent = self._spent[part] = [0.0]

        def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            began = perf_counter()
            result = function(*args, **kwargs)
            spent[0] += perf_counter() - began
            return result

        return call

    def take(self) -> dict[str, float]:
        """Return the time of each part and start again; stacking without its input."""
        found = {part: self._spent.get(part, [0.0])[0] for part in PARTS}
        found["stack"] -= self._spent.get("prepare", [0.0])[0]
        for spent in self._spent.values():
            spent[0] = 0.0
        return found


class TimedEmulator:
    """An emulator whose expensive methods are timed."""

    def __init__(self, ale: Any, clock: Clock) -> None:  # noqa: ANN401
        self._ale = ale
        self.act = clock.timed("emulate", ale.act)
        self.getScreenRGB = clock.timed("rgb", ale.getScreenRGB)
        self.getScreenGrayscale = clock.timed("grey", ale.getScreenGrayscale)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        found = getattr(self._ale, name)
        setattr(self, name, found)  # looked up once, then as fast as any
        return found


def make(variant: str, clock: Clock | None) -> Any:  # noqa: ANN401
    """Return a game, timed if there is a clock."""
    import ale_py
    import gymnasium as gym
    from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation

    from reactorl.rl import AtariPreprocessing as OurPreprocessing

    gym.register_envs(ale_py)
    env: Any
    if variant == "game":
        env = gym.make(GAME)
    elif variant == "gymnasium":
        env = AtariPreprocessing(gym.make(GAME, frameskip=1))
    else:
        env = OurPreprocessing(gym.make(GAME, frameskip=1))
    if clock is not None:
        game = env.unwrapped
        game.ale = TimedEmulator(game.ale, clock)
        if variant == "gymnasium":
            import cv2

            cv2.resize = clock.timed("resize", cv2.resize)
        elif variant == "ours":
            env._resize = clock.timed("resize", env._resize)
    if variant != "game":
        prepared = env
        env = FrameStackObservation(env, STACKED)
        if clock is not None:
            prepared.step = clock.timed("prepare", prepared.step)
            env.step = clock.timed("stack", env.step)
    return env


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Play; return the parts of a step, slice by slice, and the times of resets."""
    del engine
    clock = Clock() if params["timed"] else None
    env = make(params["variant"], clock)
    resets = []
    for seed in range(RESETS):
        began = perf_counter()
        env.reset(seed=seed)
        resets.append(perf_counter() - began)
    env.action_space.seed(1)
    env.reset(seed=1)
    slices: list[dict[str, float]] = []
    turn = watch.turn

    def take_parts(ended: Any) -> bool:  # noqa: ANN401
        if clock is not None:
            parts = clock.take()
            if ended is not None:
                slices.append({k: v / ended.rounds for k, v in parts.items()})
        return bool(turn(ended))

    watch.turn = take_parts
    while True:
        _, _, terminated, truncated, _ = env.step(int(env.action_space.sample()))
        if terminated or truncated:
            env.reset()
        if not watch.tick():
            break
    env.close()
    watch.digest = ""
    return {"slices": slices, "resets": resets}
