# SPDX-License-Identifier: Apache-2.0
"""A ring of plain objects, called in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.engines.plain import Port, plain
from benchmarks.workloads.reactors.building import Building
from benchmarks.workloads.reactors.ours import Hub, Node

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


class Bare:
    """The Python object of a node alone: its attributes, with nothing in them."""

    def __init__(self) -> None:
        self.token = None
        self.following = None
        self.count = 0


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Run the loop; memory is that of bare objects."""
    del engine
    building = Building()
    bare = [Bare() for _ in range(params["size"])]
    building.finished()
    del bare
    hub = plain(
        Hub, watch=watch, when_built=lambda: None, token=Port(), following=Port()
    )
    nodes = [plain(Node, token=Port(), following=Port()) for _ in range(params["size"])]
    hub.begin()
    while hub.following.is_present:
        hub.following.is_present = False
        value = hub.following.value
        for node in nodes:
            node.token.set(value)
            node.work()
            value = node.following.value
        hub.token.set(value)
        hub.again()
    return building.more
