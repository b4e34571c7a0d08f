# SPDX-License-Identifier: Apache-2.0
"""A web page that shows a run while it runs, for this machine only."""

from __future__ import annotations

from reactorl.dashboard.chart import Line, Points, line_chart
from reactorl.dashboard.document import Document, asset, document, json_in_page
from reactorl.dashboard.echo import copy_lines
from reactorl.dashboard.feed import Feed
from reactorl.dashboard.series import Series
from reactorl.dashboard.serving import served
from reactorl.dashboard.view import Dashboard

__all__ = [
    "Dashboard",
    "Document",
    "Feed",
    "Line",
    "Points",
    "Series",
    "asset",
    "copy_lines",
    "document",
    "json_in_page",
    "line_chart",
    "served",
]
