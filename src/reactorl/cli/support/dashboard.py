# SPDX-License-Identifier: Apache-2.0
"""``--dashboard``: a page that shows a run, as long as it lasts."""

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
    """Serve a page for a run, and say where; yields the dashboard.

    A run that cannot be shown is not prevented by that: then it yields None.

    Args:
        program: What will run.
        title: What stands above the page.
        facts: Names and values that stand below the title.
        steps: How many steps a training will have.
        hears: The streams whose lines are shown in the log.
    """
    from reactorl.dashboard import Dashboard, Feed
    from reactorl.dashboard.echo import heard

    try:
        dashboard = Dashboard(
            program,
            title=title,
            facts=facts,
            depth=None if steps is None else 1,  # what parts have in them is always so
            feed=Feed(steps),
        )
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        note = f"reactorl: note: the dashboard cannot be served here: {reason}"
        print(note, file=sys.stderr)
        yield None
        return
    link = f"reactorl: dashboard at {dashboard.link}"
    print(link, file=sys.stderr, flush=True)
    with dashboard, heard(dashboard.feed.note, *hears):
        try:
            yield dashboard
        except Exception as error:
            dashboard.end("failed", f"{type(error).__name__}: {error}")
            raise
