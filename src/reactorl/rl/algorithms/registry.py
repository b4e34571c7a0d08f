# SPDX-License-Identifier: Apache-2.0
"""The algorithms that ``reactorl train`` knows, by name.

An entry names a class of settings; its ``flow()`` makes the task. Nothing is imported
before somebody asks for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from reactorl.rl.flow.algorithm import FlowError

if TYPE_CHECKING:
    from reactorl.rl.algorithms.settings import Settings

ALGORITHMS: Final = {
    "dqn": "reactorl.rl.algorithms.settings:DQNSettings",
    "impala": "reactorl.rl.algorithms.policy_settings:IMPALASettings",
    "ippo": "reactorl.rl.algorithms.policy_settings:IPPOSettings",
    "ppo": "reactorl.rl.algorithms.policy_settings:PPOSettings",
    "q-learning": "reactorl.rl.algorithms.policy_settings:QLearningSettings",
}


def settings_of(name: str) -> type[Settings]:
    """Return the class of an algorithm's settings.

    Raises:
        FlowError: There is no such algorithm.
    """
    try:
        module, _, cls = ALGORITHMS[name].partition(":")
    except KeyError:
        msg = f"there is no algorithm {name!r}"
        raise FlowError(msg, f"There is: {', '.join(ALGORITHMS)}.") from None
    found: type[Settings] = getattr(import_module(module), cls)
    return found
