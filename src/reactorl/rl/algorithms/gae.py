# SPDX-License-Identifier: Apache-2.0
"""Generalized advantage estimation."""

from __future__ import annotations

from typing import Any

from reactorl.rl.algorithms._jax import jax, jnp


def advantages(
    rewards: Any,  # noqa: ANN401
    values: Any,  # noqa: ANN401
    next_values: Any,  # noqa: ANN401
    terminations: Any,  # noqa: ANN401
    truncations: Any,  # noqa: ANN401
    gamma: float,
    gae_lambda: float,
) -> Any:  # noqa: ANN401
    """Return the advantage of each step.

    All arrays are ``[step, environment]``; ``next_values`` are those of the observation
    that a step led to, also at the end of an episode. Bootstraps through truncation,
    not through termination; no advantage reaches into another episode.
    """
    td_errors = rewards + gamma * next_values * (1 - terminations) - values
    same_episode = 1 - (terminations | truncations)

    def gae_step(carry: Any, step: Any) -> Any:  # noqa: ANN401
        td_error, continues = step
        found = td_error + gamma * gae_lambda * continues * carry
        return found, found

    zero = jnp.zeros_like(td_errors[0])
    _, found = jax.lax.scan(gae_step, zero, (td_errors, same_episode), reverse=True)
    return found
