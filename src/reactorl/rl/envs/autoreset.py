# SPDX-License-Identifier: Apache-2.0
"""What happens after the end of an episode, by Gymnasium's three autoreset modes.

``NEXT_STEP`` resets in place of the next step, ``SAME_STEP`` in the last step of the
episode, ``DISABLED`` refuses to step until the caller resets. If restarts are off, the
native stepper (``cpp/bind/rl/stepper.hpp``) does the reset of ``NEXT_STEP`` itself;
this module has the other cases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.vector import AutoresetMode

from reactorl.rl.envs.errors import EnvError

if TYPE_CHECKING:
    from reactorl.rl.envs.sub_env import Info, Infos, SubEnv


def step_after_end(sub_env: SubEnv) -> Infos:
    """Answer a step whose episode has ended in an earlier one.

    Raises:
        EnvError: The reset failed, or autoreset is disabled.
    """
    if sub_env.rules.autoreset is AutoresetMode.NEXT_STEP:
        return sub_env.begin_episode(sub_env.reset_or_restart())
    what = (
        "its episode has ended and autoreset is disabled; reset it with "
        'reset(options={"reset_mask": ...})'
    )
    raise EnvError(sub_env.index, sub_env.name, sub_env.steps, "", what)


def reset_in_step(sub_env: SubEnv, obs: Any, info: Info) -> Infos:  # noqa: ANN401
    """Reset in the last step of an episode (``SAME_STEP``).

    Returns:
        ``final_obs`` and ``final_info``, then the info of the reset unless it is empty.

    Raises:
        EnvError: The reset failed.
    """
    # The environment may keep the info and change it in the reset.
    final = {"final_obs": obs, "final_info": own_copy(info)}
    first = sub_env.reset_or_restart()
    return (final, first) if first else (final,)


def own_copy(value: Any) -> Any:  # noqa: ANN401
    """Return a value with copies of its dicts and arrays, at any depth."""
    if isinstance(value, dict):
        return {key: own_copy(part) for key, part in value.items()}
    return value.copy() if isinstance(value, np.ndarray) else value
