# SPDX-License-Identifier: Apache-2.0
"""Registration of ``VectorEnv`` for ``gymnasium.make_vec``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import gymnasium as gym

from reactorl.rl._public import public
from reactorl.rl.envs.ids import find_spec
from reactorl.rl.vector.env import VectorEnv

if TYPE_CHECKING:
    from gymnasium.envs.registration import EnvSpec

NAMESPACE: Final = "reactorl"
_OWN: Final = frozenset(
    {
        "autoreset_mode",
        "batch_size",
        "batching",
        "check",
        "check_nan",
        "copy",
        "native",
        "observation_mode",
        "pin",
        "placement",
        "replay",
        "restart",
        "timeout",
        "workers",
        "wrappers",
    }
)
"""What is meant for the vector; everything else is for the environments."""


@public
def register_vector(env_id: str) -> str:
    """Let ``gymnasium.make_vec`` make vectors of an environment with ``VectorEnv``.

    Args:
        env_id: The id of a registered environment.

    Returns:
        The id to use: ``reactorl/CartPole-v1`` for ``CartPole-v1``. Doing it twice is
        fine.

    Example:
        >>> gym.make_vec(register_vector("CartPole-v1"), num_envs=16, workers=2)
    """
    spec = find_spec(env_id)
    name = f"{NAMESPACE}/{spec.id.replace('/', '_')}"
    if name not in gym.registry:
        gym.register(
            name,
            entry_point=spec.entry_point,
            vector_entry_point=partial(make_vec, spec),
            reward_threshold=spec.reward_threshold,
            nondeterministic=spec.nondeterministic,
            max_episode_steps=spec.max_episode_steps,
            order_enforce=spec.order_enforce,
            disable_env_checker=spec.disable_env_checker,
            kwargs=dict(spec.kwargs),  # its own: make_vec changes what it gets
        )
    return name


@public
def make_vec(env: str | EnvSpec, num_envs: int = 1, **kwargs: Any) -> VectorEnv:  # noqa: ANN401
    """Make a vector environment, as a ``vector_entry_point`` does.

    Args:
        env: What to make.
        num_envs: How many.
        kwargs: Arguments of ``VectorEnv`` and of the environments.
    """
    own = {key: value for key, value in kwargs.items() if key in _OWN}
    theirs = {key: value for key, value in kwargs.items() if key not in _OWN}
    return VectorEnv(env, num_envs, env_kwargs=theirs, **own)
