# SPDX-License-Identifier: Apache-2.0
"""Closes the sockets of each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.federation.pairs import OPEN

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _sockets() -> Iterator[None]:
    yield
    for sock in OPEN:
        sock.close()
    OPEN.clear()
