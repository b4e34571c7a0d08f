# SPDX-License-Identifier: Apache-2.0
"""The content of the page, computed from reports and counters of a run."""

from __future__ import annotations

import os
import time
from collections import deque
from typing import TYPE_CHECKING, Any

from reactorl._util.formatting import format_number, format_seconds
from reactorl.dashboard.activity import Lately
from reactorl.dashboard.series import Series

if TYPE_CHECKING:
    from reactorl import FederateSample, Sample, Watch
    from reactorl.dashboard.feed import Feed

RETURN, EVALUATED, FINAL = (
    "charts/episodic_return",
    "eval/mean_return",
    "eval/final_return",
)
LOG = 300
"""How many lines of the log are kept."""
_MEAN_OF = 100


class State:
    """The content of the page; used by one thread."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._lately = Lately()
        self._began: float | None = None
        self._first_steps = 0
        self._now = 0.0
        self._returns: deque[float] = deque(maxlen=_MEAN_OF)
        self._latest: dict[str, float] = {}
        self._loss = ""
        self._curves: dict[str, Series] = {}
        self._log: deque[tuple[str, str]] = deque(maxlen=LOG)
        self._logged = False
        self._federates: tuple[FederateSample, ...] = ()
        self._elapsed = 0
        self._counts = (0, 0)
        self._used = (time.monotonic(), time.process_time(), 0.0)

    # -- input ------------------------------------------------------------------------

    def take(self, watch: Watch | None) -> None:
        """Add new reports and a sample."""
        feed = self._feed
        for step, key, value in feed.numbers():
            self._number(step, key, value)
        for text in feed.notes():
            for line in text.split("\n"):
                self._line(line)
        self._count_cores()
        if watch is not None and self._began is not None:
            self._sample(watch.sample(), self._began)

    def begin(self, first: Sample) -> None:
        """Add the sample before the first tag."""
        self._began, self._first_steps = first.at, self._feed.steps
        self._lately.add(first, self._feed.steps)

    def _number(self, step: int, key: str, value: float) -> None:
        self._latest[key] = value
        if key == RETURN:
            self._returns.append(value)
            mean = sum(self._returns) / len(self._returns)
            self._curve("return").add(step, mean)
        elif key in (EVALUATED, FINAL):
            self._curve("evaluation").add(step, value)
            if key == EVALUATED:
                self._line(f"evaluation at step {step:,}: {value:.4g}")
        elif key.startswith("losses/"):
            self._loss = self._loss or key  # the first is the one that is minimised
            if key == self._loss:
                self._curve("loss").add(step, value)

    def _line(self, text: str) -> None:
        self._log.append((time.strftime("%H:%M:%S"), text))
        self._logged = True

    def _sample(self, sample: Sample, began: float) -> None:
        steps = self._feed.steps
        lately = self._lately
        lately.add(sample, steps)
        self._federates = sample.federates
        self._elapsed, self._counts = sample.elapsed, (sample.tags, sample.events)
        if sample.at - self._now < 1.0 or sample.at - began < 0.5:
            return
        self._now = sample.at
        if self._feed.total is None:
            self._curve("tags/s").add(sample.at - began, lately.tags_rate)
        else:
            self._curve("steps/s").add(steps, lately.steps_rate)

    def _count_cores(self) -> None:
        at, used, _ = self._used
        now, spent = time.monotonic(), self._process_time()
        if now - at >= 1.0 or not self._used[2]:
            cores = (spent - used) / max(now - at, 1e-9)
            self._used = (now, spent, min(cores, os.cpu_count() or cores))

    def _process_time(self) -> float:
        """Return the processor time of this process, and of others of the run."""
        here = time.process_time()
        others = sum(each.process_time for each in self._federates[1:])
        first = self._federates[0].process_time if self._federates else 0.0
        # The first federate may be a thread of this process.
        return others + max(here, first)

    def _curve(self, name: str) -> Series:
        return self._curves.setdefault(name, Series())

    # -- output -----------------------------------------------------------------------

    def now(self, phase: str, note: str) -> dict[str, Any]:
        """Return the numbers at the top of the page."""
        feed = self._feed
        done = None if feed.total is None else feed.steps / max(feed.total, 1)
        return {
            "phase": phase,
            "note": note,
            "done": done,
            "tiles": self._training() if feed.total is not None else self._running(),
        }

    def work(self) -> dict[str, Any]:
        """Return the recent activity of reactions and workers; expensive."""
        if self._began is None:
            return {
                "reactions": [],
                "workers": [],
                "federates": [],
                "cores": [0.0, os.cpu_count()],
            }
        federates = self._lately.federates
        shares = [w if w is None else round(w, 3) for w in self._lately.workers]
        each = len(shares) // max(len(federates), 1)
        names = [f"{f.name} {k}" for f in federates for k in range(each)]
        workers = [
            [names[k] if names else f"worker {k}", share]
            for k, share in enumerate(shares)
        ]
        return {
            "reactions": [
                [b.reaction, round(b.share, 5), round(b.rate, 2), round(b.mean, 9)]
                for b in self._lately.busy()
            ],
            "workers": workers,
            "federates": [
                [f.name, logical(f.elapsed), round(f.rate, 2), round(f.cores, 3)]
                for f in federates
            ],
            "cores": [round(self._used[2], 2), os.cpu_count()],
        }

    def charts(self) -> list[dict[str, Any]]:
        """Return the curves."""
        if self._feed.total is None:
            return [self._chart("Tags per second", "seconds", ("tags/s", "line"))]
        return [
            self._chart("Return", "steps", ("return", "line"), ("evaluation", "dots")),
            self._chart("Loss", "steps", ("loss", "line")),
            self._chart("Steps per second", "steps", ("steps/s", "line")),
        ]

    def log(self) -> list[tuple[str, str]] | None:
        """Return the lines of the log, the oldest first; None: unchanged."""
        logged, self._logged = self._logged, False
        return list(self._log) if logged else None

    def _chart(self, title: str, x: str, *lines: tuple[str, str]) -> dict[str, Any]:
        names = {"return": f"training, mean of {_MEAN_OF}"}
        shown = [
            {
                "name": names.get(name, name),
                "kind": kind,
                "points": self._curves[name].points(),
            }
            for name, kind in lines
            if name in self._curves
        ]
        return {"title": title, "x": x, "lines": shown}

    def _training(self) -> list[tuple[str, ...]]:
        feed, returns = self._feed, self._returns
        mean = sum(returns) / len(returns) if returns else None
        total = feed.total or 0
        rate = self._lately.steps_rate if self._began is not None else 0.0
        here = feed.steps - self._first_steps
        passed = self._passed()
        left = passed / here * (total - feed.steps) if here else None
        score = self._latest.get(FINAL)
        name = "Evaluation" if score is None else "Final score"
        return [
            ("Steps", f"{feed.steps:,}", f"of {total:,}"),
            ("Steps/s", f"{rate:,.0f}"),
            (f"Return, last {_MEAN_OF}", format_number(mean)),
            (
                name,
                format_number(self._latest.get(EVALUATED) if score is None else score),
            ),
            ("Loss", format_number(self._latest.get(self._loss))),
            ("Cores busy", f"{self._used[2]:.1f}", f"of {os.cpu_count()}"),
            ("Time", format_seconds(passed)),
            ("Time left", "-" if left is None else format_seconds(left)),
        ]

    def _running(self) -> list[tuple[str, ...]]:
        tags, events = self._counts
        known = self._began is not None
        return [
            ("Logical time", logical(self._elapsed)),
            ("Tags", f"{tags:,}"),
            ("Tags/s", f"{self._lately.tags_rate if known else 0:,.0f}"),
            ("Events", f"{events:,}"),
            ("Events/s", f"{self._lately.events_rate if known else 0:,.0f}"),
            ("Cores busy", f"{self._used[2]:.1f}", f"of {os.cpu_count()}"),
            ("Time", format_seconds(self._passed())),
        ]

    def _passed(self) -> float:
        return 0.0 if self._began is None else self._lately.latest - self._began


def logical(nanoseconds: int) -> str:
    """Return a logical time for people."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:,.3f} {unit}"
    return f"{nanoseconds} ns"
