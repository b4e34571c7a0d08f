# SPDX-License-Identifier: Apache-2.0
"""Pure-Python work: the same number of turns of a loop for every engine."""

from __future__ import annotations

import time

TRIALS = 400
TURNS = 1_000


def spin(turns: int, number: int) -> int:
    """Return a number that takes ``turns`` turns of a loop to compute."""
    # Objects of this call. Constants of a compiled module are mortal objects that all
    # threads share: without a GIL they would contend for the reference counts, and
    # the work would not be independent, with any scheduler.
    factor, summand, mask = map(int, ("1103515245", "12345", "2147483647"))
    for _ in range(turns):
        number = (number * factor + summand) & mask
    return number


def turns_per_us() -> float:
    """Return the turns per microsecond of this interpreter, undisturbed."""
    best = float("inf")
    for trial in range(TRIALS):
        began = time.perf_counter()
        spin(TURNS, trial)
        best = min(best, time.perf_counter() - began)
    return TURNS / (best * 1e6)
