# SPDX-License-Identifier: Apache-2.0
"""Whether output is what a page shows."""

from __future__ import annotations

import re

NUMBER = re.compile(r"\d[\d,.]*")


def same(found: str, shown: str, *, numbers: bool = True) -> bool:
    """Return whether output is as shown; "…" is anything, alone in a line any lines.

    Without ``numbers`` these may differ, and so may how far they are apart.
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
