# SPDX-License-Identifier: Apache-2.0
"""``--dashboard``: a live page of a run, served while it lasts."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reactorl import Program
    from reactorl.dashboard import Dashboard


@contextmanager
def shown(
    program: Program,
    *,
    title: str,
    facts: Sequence[tuple[str, str]] = (),
    steps: int | None = None,
    hears: Sequence[str] = ("stdout", "stderr"),
) -> Iterator[Dashboard | None]:
    """Serve a page for a run and print its link; yields the dashboard.

    If the page cannot be served, a note is printed, it yields None, and the run
    continues without it.

    Args:
        program: The program.
        title: Title of the page.
        facts: Names and values below the title.
        steps: Number of timesteps of a training.
        hears: The streams whose lines are shown in the log.
    """
    from reactorl.dashboard import Dashboard, Feed, copy_lines

    try:
        dashboard = Dashboard(
            program,
            title=title,
            facts=facts,
            depth=None if steps is None else 1,  # a training: its top level only
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
    with dashboard, copy_lines(dashboard.feed.note, *hears):
        try:
            yield dashboard
        except Exception as error:
            dashboard.end("failed", f"{type(error).__name__}: {error}")
            raise
