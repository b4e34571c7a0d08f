# SPDX-License-Identifier: Apache-2.0
"""Whether native code computes what Python and NumPy compute, on this machine.

Native bodies call the C library for sines, cosines and powers, as Python and NumPy do,
and draw from NumPy's own bit generators. Another C library, compiler or version of
NumPy might round otherwise; then environments are stepped in Python.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reactorl.rl.envs.native import _bodies

if TYPE_CHECKING:
    from collections.abc import Iterator

_SEED: Final = 20_240_229
_COUNT: Final = 400


@cache
def self_check() -> str:
    """Return what differs from Python and NumPy; empty if nothing does."""
    return next((what for what, ours, theirs in _pairs() if ours != theirs), "")


def _pairs() -> Iterator[tuple[str, Any, Any]]:
    """Yield what is compared: its name, our results and theirs."""
    generator = _generator()
    wide = generator.uniform(-50, 50, _COUNT)
    near = generator.uniform(-0.3, 0.3, _COUNT)
    values = [*wide.tolist(), *near.tolist(), 0.0, -0.0, math.pi, -math.pi, 1e-300]
    others = generator.uniform(-9, 9, len(values)).tolist()
    scalars = [np.float64(x) for x in values]
    singles = [np.float32(x) for x in values]
    yield (
        "the sine of a float64",
        [_bodies.sine(x) for x in values],
        [float(np.sin(x)) for x in scalars],
    )
    yield (
        "the cosine of a float64",
        [_bodies.cosine(x) for x in values],
        [float(np.cos(x)) for x in scalars],
    )
    yield (
        "the cosine of a Python float",
        [_bodies.cosine(x) for x in values],
        [math.cos(x) for x in values],
    )
    ours = [_bodies.squared(x) for x in values]
    yield "the power of a float64", ours, [float(x**2) for x in scalars]
    yield "the power of a Python float", ours, [x**2 for x in values]
    yield "math.pow", ours, [math.pow(x, 2) for x in values]
    yield (
        "the power of a float32",
        [_bodies.squared_float(x) for x in values],
        [float(x**2) for x in singles],
    )
    yield (
        "the remainder of a float64",
        [_bodies.floor_mod(x, 2 * math.pi) for x in values],
        [float(x % (2 * np.pi)) for x in scalars],
    )
    yield (
        "the conversion to float32",
        [_bodies.as_float(x) for x in values],
        np.array(values, dtype=np.float32).tolist(),
    )
    pairs = list(zip(values, others, strict=True))
    yield (
        "a product and a sum of float64",
        [_bodies.product_sum(x, y, near[0]) for x, y in pairs],
        [x * y + float(near[0]) for x, y in pairs],
    )
    third = np.float32(near[0])
    yield (
        "a product and a sum of float32",
        [_bodies.product_sum_float(x, y, near[0]) for x, y in pairs],
        [float(np.float32(x) * np.float32(y) + third) for x, y in pairs],
    )
    yield from _draws()


def _draws() -> Iterator[tuple[str, Any, Any]]:
    """Yield what is drawn from two generators of the same seed."""
    ours, theirs = _generator(), _generator()
    rounds = range(_COUNT)
    yield (
        "random()",
        [_bodies.draw_random(ours) for _ in rounds],
        [theirs.random() for _ in rounds],
    )
    for low, high in ((-0.05, 0.05), (-0.6, -0.4), (-np.pi, np.pi), (-1.0, 1.0)):
        drawn = [_bodies.draw_uniform(ours, low, high) for _ in rounds]
        yield "uniform()", drawn[:99], [theirs.uniform(low, high) for _ in range(99)]
        array = theirs.uniform(low=low, high=high, size=(_COUNT - 99,))
        yield "uniform() of an array", drawn[99:], array.tolist()
    for count in (13, 4, 3, 2**31 + 1):  # half of the last are drawn again
        yield (
            f"integers({count})",
            [_bodies.draw_below(ours, count) for _ in rounds],
            [int(theirs.integers(0, count)) for _ in rounds],
        )
    deck = list(range(13))
    yield (
        "choice()",
        [_bodies.draw_below(ours, 13) for _ in rounds],
        [int(theirs.choice(deck)) for _ in rounds],
    )
    yield "the state of a generator", _state(ours), _state(theirs)


def _generator() -> Any:  # noqa: ANN401
    return np.random.Generator(np.random.PCG64(_SEED))  # noqa: TID251


def _state(generator: Any) -> Any:  # noqa: ANN401
    return generator.bit_generator.state
