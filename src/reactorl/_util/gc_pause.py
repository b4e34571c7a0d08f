# SPDX-License-Identifier: Apache-2.0
"""Pausing the garbage collector while many long-lived objects are made."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def gc_paused() -> Iterator[None]:
    """Keep the cyclic garbage collector from running; without effect if it is off.

    The objects of a large program all stay alive, so every pass over them is wasted: a
    fifth of the time in all. Reference counting is not affected.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
