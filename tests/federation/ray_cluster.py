# SPDX-License-Identifier: Apache-2.0
"""A Ray cluster with several nodes on this machine, for tests."""

from __future__ import annotations

import os
import signal
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CPUS = 3
"""Of each node. Ray counts them, and does not look at the machine."""
_NODE = {"num_cpus": CPUS, "object_store_memory": 80 << 20}
_SETTINGS = {
    # Other programs of this machine must not make Ray kill its workers.
    "RAY_memory_monitor_refresh_ms": "0",
    "RAY_DEDUP_LOGS": "0",
}


@contextmanager
def ray_cluster(nodes: int = 3) -> Iterator[Any]:
    """Start a cluster, and connect this process to it."""
    import ray
    from ray.cluster_utils import Cluster

    before = {name: os.environ.get(name) for name in (*_SETTINGS, "RAY_AUTH_MODE")}
    handlers = {n: signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGINT)}
    os.environ.update(_SETTINGS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        head = {**_NODE, "include_dashboard": False}
        cluster = _patient(lambda: Cluster(initialize_head=True, head_node_args=head))
        try:
            for _ in range(nodes - 1):
                add_node(cluster)
            ray.init(address=cluster.address, log_to_driver=False)
            yield cluster
        finally:
            ray.shutdown()
            cluster.shutdown()
            for number, handler in handlers.items():
                signal.signal(number, handler)
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


def add_node(cluster: Any) -> Any:
    """Add a node like the others."""
    return _patient(lambda: cluster.add_node(**_NODE))


def _patient(start: Callable[[], Any]) -> Any:
    """Start a node; again if it needs more than the 30 s that Ray gives it."""
    for attempt in range(4):
        try:
            return start()
        except Exception as error:
            if attempt == 3 or "timed out during startup" not in str(error):
                raise
    return None
