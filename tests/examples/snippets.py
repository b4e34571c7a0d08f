# SPDX-License-Identifier: Apache-2.0
"""Compares actual output with the output shown in a page."""

from __future__ import annotations

import re

NUMBER = re.compile(r"\d[\d,.]*")


def same(found: str, shown: str, *, numbers: bool = True) -> bool:
    """Return whether output matches; "…" matches any text, alone on a line any lines.

    With ``numbers=False``, numbers and the widths of columns may differ.
    """
    if not numbers:
        found, shown = (re.sub(" +", " ", NUMBER.sub("#", t)) for t in (found, shown))
    pattern = ""
    for line in shown.splitlines(keepends=True):
        if line.strip() == "…":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(part) for part in line.split("…"))
    return re.fullmatch(pattern, found) is not None
