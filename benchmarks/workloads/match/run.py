# SPDX-License-Identifier: Apache-2.0
"""A match of agents: their policies as reactors, and in a plain loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.workloads.match import TURNS
from benchmarks.workloads.match.agents import Crossing, policies

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Play with reactors."""
    from reactorl.rl import Match, MatchRun

    match = Match(Crossing, policies(params["policy"]))
    with MatchRun(match, workers=engine.workers) as playing:
        while True:
            for _ in range(TURNS):
                playing.step()
            if not watch.tick():
                break
    watch.digest = ""


def loop(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Play with a plain loop."""
    del engine
    env, each = Crossing(), policies(params["policy"])
    random = np.random.default_rng(3)
    observations, _ = env.reset(seed=1)
    while True:
        for _ in range(TURNS):
            actions = {
                agent: each[agent](seen[None], random)[0]
                for agent, seen in observations.items()
            }
            observations, _, _, _, _ = env.step(actions)
            if not env.agents:
                observations, _ = env.reset()
        if not watch.tick():
            break
    watch.digest = ""
