# SPDX-License-Identifier: Apache-2.0
"""The star of ``benchmarks.runtime`` whose clients work in Python."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.runtime.workloads.busy_star import Spinner
from benchmarks.runtime.workloads.players import PlayerStar


def star(params: dict[str, Any], watch: Any) -> PlayerStar:  # noqa: ANN401
    """Return the star; the same turns on every Python."""
    player = partial(Spinner, params["turns"])
    return PlayerStar("workers", params["clients"], player, watch.compared_rounds)
