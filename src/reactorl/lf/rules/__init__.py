# SPDX-License-Identifier: Apache-2.0
"""Rules that a program must keep, one topic per module."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reactorl.lf.diagnostics import Report
    from reactorl.lf.library import Library


def check(library: Library, report: Report) -> None:
    """Note every rule that a library breaks, file by file."""
