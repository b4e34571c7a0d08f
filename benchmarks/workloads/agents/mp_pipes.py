# SPDX-License-Identifier: Apache-2.0
"""Processes and pipes of ``multiprocessing``: one of each for a policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.engines.pipes import Processes
from benchmarks.workloads.agents.parts import Policy, World

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.harness.engine import Engine


class Agent:
    """The object in a process."""

    def __init__(self, params: dict[str, Any], index: int) -> None:
        policy = Policy(index)
        policy.begin(params)
        self.answer: Callable[[Any], Any] = policy.act

    def close(self) -> None:
        """Nothing to close."""


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Play until the watch has enough slices."""
    del engine
    world = World(params, watch)
    with Processes(Agent, params, params["agents"]) as processes:
        while world.step(processes.ask_all(world.observations)):
            pass
