# SPDX-License-Identifier: Apache-2.0
"""Adam, with all parameters as one vector.

Networks here are small: XLA compiles one update of a long vector several times as fast
as one of each layer's weights and biases, and compilation is most of the time of a
short training.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reactorl.rl.algorithms._jax import jax, optax

if TYPE_CHECKING:
    from collections.abc import Callable


def adam(
    learning_rate: float | Callable[[Any], Any] | None,
    *,
    eps: float = 1e-8,
    max_grad_norm: float | None = None,
) -> optax.GradientTransformation:
    """Return Adam.

    Args:
        learning_rate: A number, or a function of the number of updates; None: updates
            are not scaled, and point uphill.
        eps: Added to the square root of the second moment.
        max_grad_norm: Larger gradients are clipped to this norm; None: no limit.
    """
    steps = [] if max_grad_norm is None else [optax.clip_by_global_norm(max_grad_norm)]
    if learning_rate is None:
        steps.append(optax.scale_by_adam(eps=eps))
    else:
        steps.append(optax.adam(learning_rate, eps=eps))
    found = optax.flatten(optax.chain(*steps))
    # Compiled as one function: operations one by one are compiled one by one.
    return optax.GradientTransformation(jax.jit(found.init), found.update)
