# SPDX-License-Identifier: Apache-2.0
"""What is sent and what is answered, independent of the engine."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workloads.federates import SMALL

STEP = 4096 * 5
"""Every so many bytes of a large array count: as many as it has pages, or fewer."""


def message(size: int) -> Any:  # noqa: ANN401
    """Return what is sent: bytes, or a large array."""
    if size == SMALL:
        return bytes(range(size))
    return np.arange(size // 8, dtype=np.float64)


def answer(received: Any) -> Any:  # noqa: ANN401
    """Return the answer: small bytes themselves, a number of a large array."""
    if isinstance(received, bytes):
        return received
    return float(received[:: STEP // 8].sum())
