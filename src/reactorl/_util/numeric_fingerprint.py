# SPDX-License-Identifier: Apache-2.0
"""Whether two machines compute the same bits: digests of results to compare.

The C library, BLAS and XLA choose code by the processor, and round differently on
different ones; BLAS also with another number of threads (``OMP_NUM_THREADS``). A
program has the same results on machines whose fingerprints agree; that they differ
means that the last bits of some functions do.
"""

from __future__ import annotations

import hashlib
import math
import struct
import sys
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

_COUNT: Final = 512
_SHOWN: Final = 16
"""Hexadecimal digits of a digest: enough to compare, short enough to read."""


def numeric_fingerprint(parts: Iterable[str] | None = None) -> dict[str, str]:
    """Return digests of numeric results, by the part of the software that makes them.

    Args:
        parts: Of ``PARTS``; a package that is not installed is left out. None: what
            this process has imported, and what Python itself computes.
    """
    wanted = [name for name in PARTS if name == "python" or name in sys.modules]
    if parts is not None:
        wanted = [name for name in PARTS if name in set(parts)]
    found = {}
    for name in wanted:
        try:
            data = PARTS[name]()
        except ImportError:
            continue
        found[name] = hashlib.sha256(data).hexdigest()[:_SHOWN]
    return found


def fingerprint_differences(
    fingerprints: Mapping[str, Mapping[str, str]],
) -> dict[str, list[list[str]]]:
    """Return the parts of which there are several digests, with who has the same one.

    Args:
        fingerprints: By the name of the machine or process, in the order in which they
            are to be listed.
    """
    parts = sorted({part for each in fingerprints.values() for part in each})
    found = {}
    for part in parts:
        groups: dict[str, list[str]] = {}
        for name, each in fingerprints.items():
            if part in each:  # else it does not compute with it
                groups.setdefault(each[part], []).append(name)
        if len(groups) > 1:
            found[part] = list(groups.values())
    return found


def described_differences(differences: Mapping[str, Sequence[Sequence[str]]]) -> str:
    """Return the result of ``fingerprint_differences`` as text."""
    return "; ".join(
        f"{part}: {' against '.join(', '.join(group) for group in groups)}"
        for part, groups in differences.items()
    )


def _inputs(low: float, high: float) -> list[float]:
    """Return numbers that look random, by exact integer arithmetic."""
    state, found = 20_240_229, []
    for _ in range(_COUNT):
        state = (state * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % 2**64
        found.append(low + (high - low) * ((state >> 11) / (1 << 53)))
    return found


def _python() -> bytes:
    """Return results of the C library."""
    wide, positive = _inputs(-50, 50), _inputs(1e-3, 9)
    found: list[float] = []
    for function in (math.sin, math.cos, math.tan, math.tanh, math.atan):
        found += map(function, wide)
    for function in (math.exp, math.log, math.log1p, math.sqrt, math.lgamma):
        found += map(function, positive)
    found += map(math.pow, positive, wide)
    return struct.pack(f"<{len(found)}d", *found)


def _numpy() -> bytes:
    """Return results of NumPy: its own loops, and products by BLAS."""
    import numpy

    np: Any = numpy  # the types of its functions know nothing of a variable dtype
    found = []
    for dtype in (np.float32, np.float64):
        wide = np.array(_inputs(-9, 9), dtype)
        positive = np.array(_inputs(1e-3, 9), dtype)
        found += [f(wide) for f in (np.sin, np.cos, np.exp, np.tanh, np.arctan)]
        found += [f(positive) for f in (np.log, np.log1p, np.sqrt)]
        found += [positive**0.37, np.cumsum(wide), np.array([wide.sum(), wide.var()])]
        square = np.outer(wide, positive)[:, :300]
        found += [
            square @ square.T,
            square @ positive[:300],
            np.tanh(square[:, :7]) @ square[:7],
        ]
    return b"".join(np.ascontiguousarray(each).tobytes() for each in found)


def _jax() -> bytes:
    """Return results of XLA: the loss of a small network, and its gradients."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    rows = np.array(_inputs(-3, 3), np.float32).reshape(16, 32)
    weights = [np.outer(rows[0], rows[1]) / 9, np.outer(rows[2], rows[3][:5]) / 9]

    def loss(layers: Any) -> Any:  # noqa: ANN401
        hidden = jnp.tanh(rows @ layers[0])
        return jnp.mean(jax.nn.log_softmax(hidden @ layers[1]) ** 2)

    value, gradients = jax.jit(jax.value_and_grad(loss))(weights)
    return b"".join(np.asarray(each).tobytes() for each in (value, *gradients))


PARTS: Final[dict[str, Callable[[], bytes]]] = {
    "python": _python,
    "numpy": _numpy,
    "jax": _jax,
}
"""What computes numbers, and the results of each that are compared."""
