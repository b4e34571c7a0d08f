# SPDX-License-Identifier: Apache-2.0
"""A page that shows a run while it runs, for this machine only."""

from __future__ import annotations

from reactorl.dashboard.document import Document, document, json_in_page
from reactorl.dashboard.feed import Feed
from reactorl.dashboard.series import Series
from reactorl.dashboard.serving import served
from reactorl.dashboard.view import Dashboard

__all__ = [
    "Dashboard",
    "Document",
    "Feed",
    "Series",
    "document",
    "json_in_page",
    "served",
]
