# SPDX-License-Identifier: Apache-2.0
"""The algorithms of ``reactorl train``, by name; imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reactorl.rl._public import public
from reactorl.rl.flow.algorithm import FlowError

if TYPE_CHECKING:
    from reactorl.rl.flow.algorithm import Algorithm

ALGORITHMS: Final = {
    "dqn": "DQN",
    "impala": "IMPALA",
    "ippo": "IPPO",
    "ppo": "PPO",
    "q-learning": "QLearning",
    "sac": "SAC",
    "td3": "TD3",
}
"""Names on the command line, and the classes in ``reactorl.rl``."""


@public
def algorithm_names() -> list[str]:
    """Return the names of all algorithms on the command line."""
    return list(ALGORITHMS)


def algorithm_class(name: str) -> type[Algorithm]:
    """Return the class of an algorithm.

    Raises:
        FlowError: There is no algorithm of that name.
    """
    import reactorl.rl

    if name not in ALGORITHMS:
        known = ", ".join(ALGORITHMS)
        msg = f"algorithm must be one of {known}, got {name!r}"
        raise FlowError(msg)
    found: type[Algorithm] = getattr(reactorl.rl, ALGORITHMS[name])
    return found


def registered_name(algorithm: Algorithm) -> str | None:
    """Return the name of an algorithm on the command line, None if it has none."""
    named = {cls: name for name, cls in ALGORITHMS.items()}
    kind = type(algorithm)
    return named.get(kind.__name__) if kind.__module__ == "reactorl.rl" else None
