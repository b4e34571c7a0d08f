# SPDX-License-Identifier: Apache-2.0
"""Whether ports of a machine accept connections: those by which Ray can be used."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

RAY_PORTS: Final[dict[str, int]] = {
    "GCS": 6379,
    "dashboard and jobs": 8265,
    "client": 10_001,
}
"""Ports of Ray's head, by default. Who can connect to one can run code there, unless
Ray wants a token."""
_SECONDS: Final = 0.5


def open_ports(
    host: str, ports: Mapping[str, int] = RAY_PORTS, *, seconds: float = _SECONDS
) -> dict[str, int]:
    """Return those of some ports that accept connections at an address of a machine.

    Args:
        host: The address, as others see it: a port that is open there is open to
            everybody who can reach it.
        ports: By what they are for.
        seconds: How long each may need to answer.
    """
    found = {}
    for name, port in ports.items():
        try:
            socket.create_connection((host, port), seconds).close()
        except OSError:
            continue
        found[name] = port
    return found
