# SPDX-License-Identifier: Apache-2.0
"""Policies one after another, then the step; and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.workloads.agents.parts import World, policies

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Play until the watch has enough slices."""
    del engine
    world, agents = World(params, watch), policies(params)
    while world.step([agent.act(world.observations) for agent in agents]):
        pass
