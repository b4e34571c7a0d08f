# SPDX-License-Identifier: Apache-2.0
"""Making many objects that all stay: the garbage collector would search in vain."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keep the cyclic garbage collector from running; without effect if it is off.

    The objects of a large program all stay alive, so each pass over them would be
    wasted, a fifth of the time in all. Reference counting goes on as always.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
