# SPDX-License-Identifier: Apache-2.0
"""The flow with a dashboard, and somebody who looks at it all the time."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from benchmarks.training.dqn import FOREVER, make_flow
from reactorl.dashboard import Dashboard, Feed

if TYPE_CHECKING:
    from collections.abc import Callable

READER = """
import sys, urllib.request
for _ in urllib.request.urlopen(sys.argv[1]):
    pass
"""
"""Reads what a dashboard sends, in a process of its own as a browser is."""


def play_shown(case: str, lag: int, workers: int, tick: Callable[[], bool]) -> None:
    """Do what ``reactorl train --dashboard`` does, until told to stop."""
    flow, feed = make_flow(case, lag), Feed(FOREVER)
    with Dashboard(flow.program(), title="DQN", depth=1, feed=feed) as dashboard:
        link = f"{dashboard.link}events"
        reader = subprocess.Popen([sys.executable, "-c", READER, link])
        with flow.start(workers=workers, at_start=dashboard.watch) as run:
            going_on = True
            while going_on:
                found = run.step()
                steps = feed.steps = found.number * flow.steps_per_iteration
                for episode in found.episodes:
                    feed.number(steps, "charts/episodic_return", episode.episode_return)
                for key, value in (found.metrics or {}).items():
                    feed.number(steps, key, value)
                going_on = tick()
    reader.wait()
