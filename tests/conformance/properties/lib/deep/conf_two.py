# SPDX-License-Identifier: Apache-2.0
"""A module in a directory, for files.lf."""


def two() -> int:
    """Return two."""
    return 2
