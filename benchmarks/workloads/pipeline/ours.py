# SPDX-License-Identifier: Apache-2.0
"""Training flows, synchronous or pipelined; each twice, to compare weights."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import jax

from benchmarks.workloads.pipeline import dqn, straggler

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine
    from reactorl.rl import Flow


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Train; before that, some iterations on one worker, for the same weights."""
    lag = engine.options.get("lag", 0)
    repeated: int = params["repeated"]
    with _flow(params, lag).start(workers=1) as before:
        for _ in range(repeated):
            before.step()
        first = _digest(before.weights)
    with _flow(params, lag).start(workers=engine.workers) as training:
        for _ in range(repeated):
            training.step()
        second = _digest(training.weights)
        training.step()
        while watch.tick():
            training.step()
    watch.digest = ""
    return {"weights": [first, second]}


def train(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Train without repetitions."""
    lag = engine.options.get("lag", 0)
    with _flow(params, lag).start(workers=engine.workers) as training:
        training.step()
        while watch.tick():
            training.step()
    watch.digest = ""


def _flow(params: dict[str, Any], lag: int) -> Flow:
    if params["case"] == "straggler":
        return straggler.make_flow(lag)
    return dqn.make_flow(params["case"], lag)


def _digest(weights: Any) -> str:  # noqa: ANN401
    found = hashlib.blake2b(digest_size=6)
    for leaf in jax.tree.leaves(weights):
        found.update(leaf.tobytes())
    return found.hexdigest()
