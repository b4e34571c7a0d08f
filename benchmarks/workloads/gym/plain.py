# SPDX-License-Identifier: Apache-2.0
"""Environments in a list, stepped one after another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.workloads.gym.parts import Player, Sight, params_for, rows

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Step all, round after round."""
    params = params_for(params, engine)
    sight = Sight(watch, params)
    players = [Player(index) for index in range(params["envs"])]
    for player in players:
        player.begin(params)
    for row in rows(params):
        results = [
            player.step(action) for player, action in zip(players, row, strict=True)
        ]
        if not sight.results(results):
            break
    for player in players:
        player.close()
    return sight.more()
