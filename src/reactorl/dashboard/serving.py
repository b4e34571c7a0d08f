# SPDX-License-Identifier: Apache-2.0
"""Serve the dashboard of a run as long as it lasts."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from reactorl.dashboard.echo import copy_lines
from reactorl.dashboard.feed import Feed
from reactorl.dashboard.view import Dashboard

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reactorl import Program


@contextmanager
def served(
    program: Program,
    *,
    title: str,
    facts: Sequence[tuple[str, str]] = (),
    steps: int | None = None,
    streams: Sequence[str] = ("stdout", "stderr"),
) -> Iterator[Dashboard | None]:
    """Serve the dashboard of a run, and print its link; yields the dashboard.

    If no server can be started, prints a note and yields None: the run continues.

    Args:
        program: The program that will run.
        title: Title of the page.
        facts: Names and values below the title.
        steps: Total number of steps of a training run.
        streams: The streams whose lines are shown in the log.
    """
    try:
        dashboard = Dashboard(
            program,
            title=title,
            facts=facts,
            depth=None if steps is None else 1,
            feed=Feed(steps),
        )
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        note = f"reactorl: note: serving the dashboard failed: {reason}"
        print(note, file=sys.stderr)
        yield None
        return
    link = f"reactorl: dashboard at {dashboard.link}"
    print(link, file=sys.stderr, flush=True)
    with dashboard, copy_lines(dashboard.feed.note, *streams):
        try:
            yield dashboard
        except Exception as error:
            dashboard.end("failed", f"{type(error).__name__}: {error}")
            raise
