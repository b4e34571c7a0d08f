# SPDX-License-Identifier: Apache-2.0
"""Atari preprocessing without OpenCV.

OpenCV has no wheel for free-threaded CPython, and Gymnasium's ``AtariPreprocessing``
needs it. This one replaces it, on every Python::

    import ale_py  # registers the games
    from reactorl.rl import VectorEnv
    from reactorl.rl.wrappers.atari import AtariPreprocessing
    from reactorl.rl.wrappers.frame_stack import FrameStack

    envs = VectorEnv(
        "ALE/Pong-v5",
        num_envs=16,
        env_kwargs={"frameskip": 1},
        wrappers=[AtariPreprocessing, lambda env: FrameStack(env, 4)],
    )
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete
from gymnasium.utils import RecordConstructorArgs
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker

from reactorl.rl._public import public
from reactorl.rl.wrappers.resize import AreaResize

if TYPE_CHECKING:
    from reactorl.rl.envs.observation_buffer import Array

__all__ = ["AtariPreprocessing"]

Frame: TypeAlias = "tuple[float, bool, bool, dict[str, Any]]"
"""The result of an emulated frame: reward, terminated, truncated, info."""


@public
class AtariPreprocessing(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Preprocesses frames like Gymnasium's wrapper of this name.

    Arguments, spaces, rewards, ends of episodes and infos are the same. Observations
    differ at most by rounding: the mean of an area between two grey levels may be
    rounded the other way. Frames that are not observed are not drawn, which saves a
    good part of a step; a wrapper between the game and this one gets all frames.

    Args:
        env: A game made with ``frameskip=1``; with any type of observation.
        noop_max: A reset is followed by 1 to this many no-op frames; 0: by none.
        frame_skip: Number of frames for which an action is repeated. Observations are
            the pixelwise maximum of the last two frames, because some objects flicker.
        screen_size: Width and height of observations, or both in one number.
        terminal_on_life_loss: Whether the loss of a life terminates the episode.
        grayscale_obs: Whether observations are grayscale instead of RGB.
        grayscale_newaxis: Whether grayscale observations have a channel axis.
        scale_obs: Whether observations are floats from 0 to 1.

    Raises:
        ValueError: An argument is out of range, the game skips frames itself, or its
            first action is not a no-op.
        TypeError: The environment is not an Atari game.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        noop_max: int = 30,
        frame_skip: int = 4,
        screen_size: int | tuple[int, int] = 84,
        *,
        terminal_on_life_loss: bool = False,
        grayscale_obs: bool = True,
        grayscale_newaxis: bool = False,
        scale_obs: bool = False,
    ) -> None:
        RecordConstructorArgs.__init__(
            self,
            noop_max=noop_max,
            frame_skip=frame_skip,
            screen_size=screen_size,
            terminal_on_life_loss=terminal_on_life_loss,
            grayscale_obs=grayscale_obs,
            grayscale_newaxis=grayscale_newaxis,
            scale_obs=scale_obs,
        )
        gym.Wrapper.__init__(self, env)
        size = (screen_size,) * 2 if isinstance(screen_size, int) else screen_size
        _check(env, noop_max, frame_skip)
        self.noop_max = noop_max
        self.frame_skip = frame_skip
        self.screen_size: tuple[int, int] = size
        self.terminal_on_life_loss = terminal_on_life_loss
        self.grayscale_obs = grayscale_obs
        self.grayscale_newaxis = grayscale_newaxis
        self.scale_obs = scale_obs
        self.lives = 0
        self.game_over = False

        channels = () if grayscale_obs else (3,)
        screen = (*self.ale.getScreenDims(), *channels)
        self._resize = AreaResize(screen, size)
        self._last = np.empty(screen, np.uint8)
        self._last_but_one = np.empty(screen, np.uint8)
        self._newaxis = grayscale_obs and grayscale_newaxis
        self.observation_space = Box(
            0,
            1 if scale_obs else 255,
            (size[1], size[0], *((1,) if self._newaxis else channels)),
            np.float32 if scale_obs else np.uint8,
        )
        self._has_begun = False
        self._is_bare = _is_bare(env)
        if self._is_bare:
            self._actions = self.ale.getMinimalActionSet()
            if env.action_space.n != len(self._actions):  # type: ignore[attr-defined]
                self._actions = self.ale.getLegalActionSet()

    @property
    def ale(self) -> Any:  # noqa: ANN401
        """The emulator."""
        return self.env.unwrapped.ale  # type: ignore[attr-defined]

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:  # noqa: ANN401
        """Repeat an action for ``frame_skip`` frames, or until the episode ends.

        If it ends, the observation is that of the step before.
        """
        if self._is_bare:
            return self._emulate_step(action)
        total, terminated, truncated = 0.0, False, False
        info: dict[str, Any] = {}
        ale = self.ale
        for left in range(self.frame_skip - 1, -1, -1):
            reward, terminated, truncated, info = self._step_env(action)
            total += reward
            terminated = self._has_ended(ale, terminated)
            if terminated or truncated:
                break
            if left < 2:
                self._draw(ale, self._last_but_one if left else self._last)
        return self._observation(), total, terminated, truncated, info

    def _emulate_step(
        self,
        action: Any,  # noqa: ANN401
    ) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Do the same with the emulator alone, with the info of the last frame."""
        self._check_begun()
        ale, move = self.ale, self._actions[action]
        total, terminated, truncated = 0.0, False, False
        for left in range(self.frame_skip - 1, -1, -1):
            total += ale.act(move, 1.0)
            terminated = self._has_ended(ale, ale.game_over(with_truncation=False))
            truncated = ale.game_truncated()
            if terminated or truncated:
                break
            if left < 2:
                self._draw(ale, self._last_but_one if left else self._last)
        return self._observation(), total, terminated, truncated, _info(ale)

    def _has_ended(self, ale: Any, terminated: bool) -> bool:  # noqa: ANN401, FBT001
        """Return whether the episode has ended, with the game or with a life."""
        if self.terminal_on_life_loss:
            lives = ale.lives()
            terminated = terminated or lives < self.lives
            self.lives = lives
        self.game_over = terminated
        return terminated

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset the game, then do a random number of no-op frames."""
        _, info = self.env.reset(seed=seed, options=options)
        self._has_begun = True
        generator = self.env.unwrapped.np_random
        frames = generator.integers(1, self.noop_max + 1) if self.noop_max > 0 else 0
        advance = self._emulate if self._is_bare else self._step_env
        for _ in range(frames):
            _, terminated, truncated, more = advance(0)
            info.update(more)
            if terminated or truncated:
                _, info = self.env.reset(seed=seed, options=options)
        self.lives = self.ale.lives()
        self._draw(self.ale, self._last)
        self._last_but_one.fill(0)
        return self._observation(), info

    def _step_env(self, action: Any) -> Frame:  # noqa: ANN401
        _, reward, terminated, truncated, info = self.env.step(action)
        return float(reward), terminated, truncated, info

    def _emulate(self, action: Any) -> Frame:  # noqa: ANN401
        """Emulate a frame without drawing it."""
        ale = self.ale
        reward = ale.act(self._actions[action], 1.0)
        over = ale.game_over(with_truncation=False)
        return reward, over, ale.game_truncated(), _info(ale)

    def _check_begun(self) -> None:
        if not self._has_begun:
            msg = "step failed: the environment was not reset; call reset() first"
            raise gym.error.ResetNeeded(msg)

    def _draw(self, ale: Any, screen: Array) -> None:  # noqa: ANN401
        if self.grayscale_obs:
            ale.getScreenGrayscale(screen)
        else:
            ale.getScreenRGB(screen)

    def _observation(self) -> Array:
        if self.frame_skip > 1:
            np.maximum(self._last, self._last_but_one, out=self._last)
        observation = self._resize(self._last)
        if self.scale_obs:
            observation = observation.astype(np.float32) / np.float32(255.0)
        return observation[..., np.newaxis] if self._newaxis else observation


def _info(ale: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the info of a frame."""
    return {
        "lives": ale.lives(),
        "episode_frame_number": ale.getEpisodeFrameNumber(),
        "frame_number": ale.getFrameNumber(),
    }


def _check(env: gym.Env[Any, Any], noop_max: int, frame_skip: int) -> None:
    game: Any = env.unwrapped
    if not hasattr(game, "ale"):
        msg = f"env must be an Atari game, got {env}, which has no emulator `ale`"
        raise TypeError(msg)
    if frame_skip < 1:
        msg = f"frame_skip must be at least 1, got {frame_skip}"
        raise ValueError(msg)
    if noop_max < 0:
        msg = f"noop_max must be 0 or more, got {noop_max}"
        raise ValueError(msg)
    if frame_skip > 1 and getattr(game, "_frameskip", None) != 1:
        msg = f"env must not skip frames itself, got {env}; make it with frameskip=1"
        raise ValueError(msg)
    if noop_max > 0 and game.get_action_meanings()[0] != "NOOP":
        msg = f"the first action of env must be NOOP, got {env}; use noop_max=0"
        raise ValueError(msg)


def _is_bare(env: gym.Env[Any, Any]) -> bool:
    """Return whether there is no wrapper that must get every frame."""
    from ale_py.env import AtariEnv

    inner = env
    while type(inner) in (OrderEnforcing, PassiveEnvChecker):
        inner = inner.env  # type: ignore[attr-defined]
    return (
        type(inner) is AtariEnv
        and inner._frameskip == 1
        and isinstance(inner.action_space, Discrete)
    )
