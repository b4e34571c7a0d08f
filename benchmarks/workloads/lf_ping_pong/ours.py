# SPDX-License-Identifier: Apache-2.0
"""Ping-pong, in LF or in the Python API."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import reactorl
from benchmarks.workloads.ping_pong.ours import Main

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine

PROGRAM = Path(__file__).parent / "ping_pong.lf"


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Run the program."""
    in_lf = engine.name.startswith("lf")
    main = (reactorl.lf.load(PROGRAM).Main if in_lf else Main)(watch=watch)
    reactorl.run(main, workers=1, fast=True, freeze=params["freeze"])
