# SPDX-License-Identifier: Apache-2.0
"""Seeds of global random generators, which LF programs use as they like."""

from __future__ import annotations


def seed_globals(seed: int) -> None:
    """Seed the global generators that LF programs use; --check reports their use."""
    import random  # noqa: TID251

    random.seed(seed)
    try:
        import numpy as np
    except ImportError:
        return
    np.random.seed(seed % 2**32)  # noqa: TID251
