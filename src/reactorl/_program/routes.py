# SPDX-License-Identifier: Apache-2.0
"""Storage of channels: an input shares the storage of the channel that drives it."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from reactorl.errors import WiringError

if TYPE_CHECKING:
    from reactorl._program.errors import ErrorCollector
    from reactorl._program.program import ConnectionNode, Program


def roots(program: Program, errors: ErrorCollector) -> array[int] | None:
    """Return for every channel the channel whose storage it shares.

    Connections of the same tag are followed backwards, through any number of relays.
    Channels that are driven with a delay (``after``, physical), by reactions (also
    forwarding ones), or not at all, are their own root. Cycles of connections without a
    reaction are errors; there are no roots then.
    """
    root = array("q", range(len(program.channel_port)))
    for connection in program.connections:
        if connection.delay is None and not connection.physical:
            root[connection.target] = connection.source
    for channel in range(len(root)):
        top = channel
        steps = 0
        while root[top] != top:
            top = root[top]
            steps += 1
            if steps > len(root):
                _add_cycles(program, errors)
                return None
        while root[channel] != top:  # path compression
            root[channel], channel = top, root[channel]
    return root


def _add_cycles(program: Program, errors: ErrorCollector) -> None:
    drives = {
        c.target: c for c in program.connections if c.delay is None and not c.physical
    }
    seen: set[int] = set()
    for channel in drives:
        way: dict[int, None] = {}
        while channel in drives and channel not in seen:
            seen.add(channel)
            way[channel] = None
            channel = drives[channel].source
        if channel in way:
            errors.add(_cycle(program, drives, channel))


def _cycle(
    program: Program, drives: dict[int, ConnectionNode], channel: int
) -> WiringError:
    """Return the error for a cycle of connections through ``channel``."""
    chain = [drives[channel]]
    while chain[-1].source != channel:
        chain.append(drives[chain[-1].source])
    hops = "\n".join(
        f"  {c.where}: {program.channel_name(c.source)} -> "
        f"{program.channel_name(c.target)}"
        for c in reversed(chain)
    )
    return WiringError(
        f"connections form a cycle without a reaction:\n{hops}",
        None,
        "Remove one of them.",
    )
