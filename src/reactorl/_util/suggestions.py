# SPDX-License-Identifier: Apache-2.0
"""Suggestions (``Did you mean ...?``) for names that do not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST_NAME = 80
"""Longer names get no suggestion: the comparison is quadratic."""


def closest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """Return the known name most similar to ``name``; empty if none is similar."""
    from difflib import get_close_matches  # slow to import, and rarely needed

    if len(name) > LONGEST_NAME:
        return ""
    matches = get_close_matches(name, sorted(set(known)), n=1, cutoff=cutoff)
    return matches[0] if matches else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``Did you mean 'x'?``; empty if no known name is similar."""
    found = closest(name, known)
    return f"Did you mean '{found}'?" if found else ""
