# SPDX-License-Identifier: Apache-2.0
"""Packages that only some commands need, and mistakes that end a command."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from reactorl.cli.support.errors import fail

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["fail", "missing"]


def missing(packages: Sequence[str], command: str) -> str:
    """Return what to say if packages are not installed; nothing if all are."""
    absent = [name for name in packages if find_spec(name) is None]
    if not absent:
        return ""
    names = ", ".join(absent)
    return (
        f"'reactorl {command}' needs {names}, not installed here\n"
        "  help: Install what training needs: pip install 'reactorl[train]'"
    )
