# SPDX-License-Identifier: Apache-2.0
"""Busy star: a star of players."""

from benchmarks.runtime.workloads.in_xronos.players import build

__all__ = ["build"]
