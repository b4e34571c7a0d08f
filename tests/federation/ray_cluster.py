# SPDX-License-Identifier: Apache-2.0
"""A Ray cluster with several nodes on this machine, for tests."""

from __future__ import annotations

import os
import signal
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

CPUS = 3
"""Of each node. Ray counts them, and does not look at the machine."""
_NODE = {"num_cpus": CPUS, "object_store_memory": 80 << 20}
_SETTINGS = {
    # Other programs of this machine must not make Ray kill its workers.
    "RAY_memory_monitor_refresh_ms": "0",
    "RAY_DEDUP_LOGS": "0",
    # Dead nodes are noticed earlier than by default, in some seconds.
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_failure_threshold": "5",
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
        cluster = Cluster(
            initialize_head=True, head_node_args={**_NODE, "include_dashboard": False}
        )
        try:
            for _ in range(nodes - 1):
                cluster.add_node(**_NODE)
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
    return cluster.add_node(**_NODE)
