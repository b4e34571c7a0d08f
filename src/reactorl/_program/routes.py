# SPDX-License-Identifier: Apache-2.0
"""Which channels share one storage: an input is a view of what drives it."""

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
    Channels that are driven late (``after``, physical), by reactions (also forwarding
    ones), or not at all, are their own root. Connections that lead in a circle past
    any reaction are noted; there are no roots then.
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
                _note_circles(program, errors)
                return None
        while root[channel] != top:  # shorten the way for those who come later
            root[channel], channel = top, root[channel]
    return root


def _note_circles(program: Program, errors: ErrorCollector) -> None:
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
            errors.add(_circle(program, drives, channel))


def _circle(
    program: Program, drives: dict[int, ConnectionNode], channel: int
) -> WiringError:
    """Return the error for connections that lead from ``channel`` back to it."""
    chain = [drives[channel]]
    while chain[-1].source != channel:
        chain.append(drives[chain[-1].source])
    hops = "\n".join(
        f"  {c.where}: {program.channel_name(c.source)} -> "
        f"{program.channel_name(c.target)}"
        for c in reversed(chain)
    )
    return WiringError(
        f"connections lead in a circle and nothing sets a value:\n{hops}",
        None,
        "Remove one of them.",
    )
