# SPDX-License-Identifier: Apache-2.0
"""DQN with a dashboard that a client reads all the time."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

from benchmarks.workloads.pipeline.dqn import FOREVER, make_flow
from reactorl.dashboard import Dashboard, Feed

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine

READER = """
import sys, urllib.request
for _ in urllib.request.urlopen(sys.argv[1]):
    pass
"""
"""Reads the events of a dashboard, in a process of its own as a browser does."""


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Do what ``reactorl train --dashboard`` does."""
    flow, feed = make_flow(params["case"], 0), Feed(FOREVER)
    with Dashboard(flow.program(), title="DQN", depth=1, feed=feed) as dashboard:
        link = f"{dashboard.link}events"
        reader = subprocess.Popen([sys.executable, "-c", READER, link])
        with flow.start(workers=engine.workers, at_start=dashboard.watch) as training:
            more = True
            while more:
                found = training.step()
                steps = feed.steps = found.number * flow.steps_per_iteration
                for episode in found.episodes:
                    feed.number(steps, "charts/episodic_return", episode.episode_return)
                for key, value in (found.metrics or {}).items():
                    feed.number(steps, key, value)
                more = watch.tick()
    reader.wait()
    watch.digest = ""
