# SPDX-License-Identifier: Apache-2.0
"""V-trace: off-policy correction of values and advantages."""

from __future__ import annotations

from typing import Any

from reactorl.rl.algorithms._jax import jax, jnp


def vtrace(
    ratios: Any,  # noqa: ANN401
    values: Any,  # noqa: ANN401
    next_values: Any,  # noqa: ANN401
    rewards: Any,  # noqa: ANN401
    terminations: Any,  # noqa: ANN401
    truncations: Any,  # noqa: ANN401
    *,
    gamma: float,
    vtrace_lambda: float = 1.0,
    clip_rho: float = 1.0,
    clip_c: float = 1.0,
) -> tuple[Any, Any]:
    """Return the V-trace targets of values, and advantages.

    All arrays are ``[step, environment]``; ``next_values`` are those of the observation
    that a step led to, also at the end of an episode. Bootstraps through truncation,
    not through termination.

    Args:
        ratios: Probability of the action under the current policy, divided by that
            under the behaviour policy.
        values: Of the critic, for observations.
        next_values: Of the critic, for next observations.
        rewards: Of steps.
        terminations: Whether a step ended its episode.
        truncations: Whether a step was the last one before a time limit.
        gamma: Discount factor.
        vtrace_lambda: 0 = one-step TD, 1 = Monte Carlo.
        clip_rho: Upper bound of the ratio in TD errors.
        clip_c: Upper bound of the ratio in the trace.
    """
    rho = jnp.minimum(ratios, clip_rho)
    c = vtrace_lambda * jnp.minimum(ratios, clip_c)
    discounts = gamma * (1 - terminations)
    same_episode = 1 - (terminations | truncations)
    td_errors = rho * (rewards + discounts * next_values - values)

    def vtrace_step(carry: Any, step: Any) -> Any:  # noqa: ANN401
        td_error, trace = step
        found = td_error + trace * carry
        return found, found

    zero = jnp.zeros_like(td_errors[0])
    traces = gamma * same_episode * c
    _, corrections = jax.lax.scan(vtrace_step, zero, (td_errors, traces), reverse=True)
    targets = values + corrections
    # Within an episode the next target is a better estimate than the next value.
    continues = same_episode[:-1] == 1
    next_targets = jnp.where(continues, targets[1:], next_values[:-1])
    next_targets = jnp.concatenate([next_targets, next_values[-1:]])
    return targets, rho * (rewards + discounts * next_targets - values)
