# SPDX-License-Identifier: Apache-2.0
"""Seeds: the only place where random streams are made.

A reactor's seed depends only on the run's seed and the reactor's full name: adding,
removing or moving another reactor does not change it.
"""

from __future__ import annotations

import hashlib
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def derive(run_seed: int, path: str) -> int:
    """Return the 128-bit seed of the reactor ``path`` in a run of ``run_seed``."""
    text = f"{run_seed}\0{path}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=16).digest(), "big")


def python_stream(seed: int) -> random.Random:
    """Return a fresh ``random.Random`` for ``seed``."""
    return random.Random(seed)


def numpy_stream(seed: int) -> np.random.Generator:
    """Return a fresh NumPy generator for ``seed`` (PCG64)."""
    import numpy as np

    return np.random.Generator(np.random.PCG64(seed))


def global_state() -> tuple[object, ...]:
    """Return the state of the random sources that a process has only one of.

    The checking mode compares it around each body.
    """
    import sys

    state: tuple[object, ...] = (random.getstate(),)
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        kind, keys, *rest = numpy_random.get_state()
        state += (kind, keys.tobytes(), *rest)
    return state
