# SPDX-License-Identifier: Apache-2.0
"""Helpers for tests of reactor programs: probes, comparisons, generated programs.

``reactorl.testing.strategies`` needs Hypothesis and is imported on its own.
"""

from reactorl.testing.compare import assert_deterministic, assert_same_trace
from reactorl.testing.probes import Collector, Recorder, Stimulus, script

__all__ = [
    "Collector",
    "Recorder",
    "Stimulus",
    "assert_deterministic",
    "assert_same_trace",
    "script",
]
