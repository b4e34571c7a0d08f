# SPDX-License-Identifier: Apache-2.0
"""A ``VecEnv`` of Stable-Baselines3 on ``VectorEnv``."""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

from reactorl.rl._public import public
from reactorl.rl.adapters.sb3_commands import Identify, Invoke, Put, Read, Wrapped
from reactorl.rl.envs.commands import Render
from reactorl.rl.vector.env import VectorEnv

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    _MSG = (
        "reactorl.rl.adapters.sb3 needs Stable-Baselines3: pip install 'reactorl[sb3]'"
    )
    raise ImportError(_MSG) from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gymnasium.envs.registration import EnvSpec

    from reactorl.rl.envs.commands import Command
    from reactorl.rl.envs.factory import Maker
    from reactorl.rl.envs.observation_buffer import Array, Space
    from reactorl.rl.envs.sub_env import Info

__all__ = ["SB3VecEnv"]

_LEAVES = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)


@public
class SB3VecEnv(VecEnv):  # type: ignore[misc]
    """Environments for Stable-Baselines3 that step on all cores.

    Results are bit-identical to ``DummyVecEnv``. Environments are reset in the last
    step of an episode; ``infos[i]["terminal_observation"]`` has its last observation.

    Args:
        env: As for ``VectorEnv``: an id, or a list of functions that make one
            environment each. Or a ``VectorEnv``, which is closed with this.
        num_envs: Number of environments, if ``env`` is an id.
        options: The other arguments of ``VectorEnv``, such as ``workers``,
            ``placement`` and ``restart``.

    Raises:
        EnvError: An environment cannot be made.
        TypeError: ``env`` is something else, or Stable-Baselines3 does not support
            the observation space.
        ValueError: Stable-Baselines3 does not support the value of an argument.

    Example:
        >>> from stable_baselines3 import PPO
        >>> envs = SB3VecEnv("CartPole-v1", num_envs=16)
        >>> PPO("MlpPolicy", envs).learn(10_000)
    """

    def __init__(
        self,
        env: str | EnvSpec | Sequence[Maker] | VectorEnv,
        num_envs: int | None = None,
        **options: Any,  # noqa: ANN401
    ) -> None:
        is_mine = not isinstance(env, VectorEnv)
        vector = self.vector = _vector(env, num_envs, options)
        self._actions: Sequence[Any] | Array | None = None
        try:
            _check_space(vector.single_observation_space)
            self._check_distinct()
            super().__init__(
                vector.num_envs,
                vector.single_observation_space,
                vector.single_action_space,
            )
            self.metadata = self.get_attr("metadata", 0)[0]
        except BaseException:
            if is_mine:
                vector.close()
            raise

    # -- steps and resets ---------------------------------------------------------

    def reset(self) -> Any:  # noqa: ANN401
        """Reset all environments, with the seeds and options that were set."""
        self._actions = None
        options = [each or None for each in self._options]
        observations, infos = self.vector.reset_each(self._seeds, options)
        self.reset_infos = [_only(parts) for parts in infos]
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: Sequence[Any] | Array) -> None:
        """Set the actions; ``step_wait`` steps the environments."""
        if self._actions is not None:
            msg = "step_async failed: actions are set already; call step_wait first"
            raise RuntimeError(msg)
        self._actions = actions

    def step_wait(self) -> tuple[Any, Array, Array, list[dict[str, Any]]]:
        """Step all environments, and reset those whose episode has ended.

        Raises:
            EnvError: One failed, and restarts are off.
        """
        actions, self._actions = self._actions, None
        if actions is None:
            msg = "step_wait failed: no actions are set; call step_async first"
            raise RuntimeError(msg)
        observations, rewards, terminations, truncations, parts = self.vector.step_each(
            actions
        )
        dones = terminations | truncations
        infos = []
        for index, done in enumerate(dones.tolist()):
            if not done:
                infos.append({**_only(parts[index]), "TimeLimit.truncated": False})
                continue
            final, *again = parts[index]
            infos.append(
                {
                    **final["final_info"],
                    "TimeLimit.truncated": not terminations[index],
                    "terminal_observation": final["final_obs"],
                }
            )
            self.reset_infos[index] = _only(again)
        # Environments in this process may keep the objects in their infos.
        kept = infos if self.vector.placement == "process" else deepcopy(infos)
        return observations, rewards.astype(np.float32), dones, kept

    def close(self) -> None:
        """Close the environments; may be called again."""
        self.vector.close()

    # -- single environments ------------------------------------------------------

    @property
    def envs(self) -> list[gym.Env[Any, Any]]:
        """The environments themselves, if they are in this process."""
        return self.vector.envs

    def get_attr(
        self, attr_name: str, indices: int | Iterable[int] | None = None
    ) -> list[Any]:
        """Return an attribute of some environments."""
        return self._ask(Read(attr_name), indices)

    def set_attr(
        self,
        attr_name: str,
        value: Any,  # noqa: ANN401
        indices: int | Iterable[int] | None = None,
    ) -> None:
        """Set an attribute of some environments, on the outermost wrapper."""
        self._ask(Put(attr_name, value), indices)

    def env_method(
        self,
        method_name: str,
        *method_args: Any,  # noqa: ANN401
        indices: int | Iterable[int] | None = None,
        **method_kwargs: Any,  # noqa: ANN401
    ) -> list[Any]:
        """Call a method of some environments."""
        kwargs = tuple(method_kwargs.items())
        return self._ask(Invoke(method_name, method_args, kwargs), indices)

    def env_is_wrapped(
        self,
        wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]],
        indices: int | Iterable[int] | None = None,
    ) -> list[bool]:
        """Return whether some environments have a wrapper of a class.

        In worker processes a class is compared by its module and name.
        """
        return self._ask(Wrapped.by(wrapper_class), indices)

    def get_images(self) -> Sequence[Any]:
        """Return an image of each environment; None without ``rgb_array``."""
        if self.render_mode != "rgb_array":
            msg = (
                f"The render mode is {self.render_mode}, but this method assumes it is "
                "`rgb_array` to obtain images."
            )
            warnings.warn(msg, stacklevel=2)
            return [None] * self.num_envs
        return self._ask(Render(), None)

    def _ask(self, command: Command, indices: int | Iterable[int] | None) -> list[Any]:
        every = range(self.vector.num_envs)
        if indices is None:
            return self.vector.ask(command, every)
        given = [indices] if isinstance(indices, int | np.integer) else list(indices)
        meant = [every[index] for index in given]  # negative ones count from the end
        if len(set(meant)) < len(meant):
            msg = f"indices must be distinct, got {given}"
            raise ValueError(msg)
        return self.vector.ask(command, meant)

    def _check_distinct(self) -> None:
        known: dict[object, int] = {}
        for index, found in enumerate(self._ask(Identify(), None)):
            first = known.setdefault(found, index)
            if first != index:
                msg = (
                    "You tried to create multiple environments, but the function to "
                    "create them returned the same instance instead of creating "
                    f"different objects. Environments {first} and {index} are one; use "
                    "functions that make a new environment in each call"
                )
                raise ValueError(msg)


def _only(parts: Sequence[Info]) -> dict[str, Any]:
    return dict(parts[0]) if parts else {}


def _vector(env: Any, num_envs: int | None, options: dict[str, Any]) -> VectorEnv:  # noqa: ANN401
    if isinstance(env, VectorEnv):
        if num_envs is not None:
            options = {"num_envs": num_envs, **options}
        if options:
            named = ", ".join(options)
            msg = f"{named} must be given to the VectorEnv itself"
            raise ValueError(msg)
        _check_mode(env.autoreset_mode)
        _check_copy(env.copy)
        return env
    if isinstance(env, gym.vector.VectorEnv):
        msg = (
            "env must be a reactorl.rl.VectorEnv without wrappers, got a "
            f"{type(env).__name__}; wrap the SB3VecEnv in VecMonitor or VecNormalize"
        )
        raise TypeError(msg)
    if isinstance(env, VecEnv | gym.Env):
        msg = (
            "env must be a list of functions that make one environment each, got a "
            f"{type(env).__name__}"
        )
        raise TypeError(msg)
    _check_mode(options.pop("autoreset_mode", AutoresetMode.SAME_STEP))
    _check_copy(options.get("copy", True))
    return VectorEnv(env, num_envs, autoreset_mode=AutoresetMode.SAME_STEP, **options)


def _check_mode(mode: str | AutoresetMode) -> None:
    if AutoresetMode(mode) is not AutoresetMode.SAME_STEP:
        msg = (
            "autoreset_mode must be AutoresetMode.SAME_STEP for Stable-Baselines3, got "
            f"{AutoresetMode(mode)}"
        )
        raise ValueError(msg)


def _check_copy(copy: object) -> None:
    if not copy:
        msg = (
            "copy must be True, got False; Stable-Baselines3 keeps observations beyond "
            "the next step"
        )
        raise ValueError(msg)


def _check_space(space: Space) -> None:
    """Refuse spaces that are not arrays, or a dict or tuple of these."""
    leaves: Iterable[Space] = (space,)
    if isinstance(space, spaces.Dict):
        leaves = space.spaces.values()
    elif isinstance(space, spaces.Tuple):
        leaves = space.spaces
    for leaf in leaves:
        if not isinstance(leaf, _LEAVES):
            msg = (
                "the observation space must be Box, Discrete, MultiDiscrete or "
                "MultiBinary, or a Dict or Tuple of these, for Stable-Baselines3, got "
                f"{leaf}; use a wrapper that converts observations"
            )
            raise TypeError(msg)
