# SPDX-License-Identifier: Apache-2.0
"""Ping-pong as a plain loop, and with a pool of threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from benchmarks.engines.plain import Port, plain
from benchmarks.workloads.ping_pong.ours import Ping, Pong

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


def _players(watch: Any) -> tuple[Any, Any]:  # noqa: ANN401
    ball = Port()
    ping = plain(Ping, watch=watch, ball=ball, back=Port())
    return ping, plain(Pong, ball=ball, back=Port())


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Run the loop."""
    del params, engine
    ping, pong = _players(watch)
    ball = ping.ball
    ping.begin()
    while ball.is_present:
        pong.play()
        ball.is_present = False
        ping.back.set(pong.back.value)
        ping.play()


def futures(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Run the loop with a pool."""
    del params
    ping, pong = _players(watch)
    ball = ping.ball
    with ThreadPoolExecutor(engine.workers) as pool:
        ping.begin()
        while ball.is_present:
            pool.submit(pong.play).result()
            ball.is_present = False
            ping.back.set(pong.back.value)
            pool.submit(ping.play).result()
