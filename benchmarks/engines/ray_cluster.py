# SPDX-License-Identifier: Apache-2.0
"""A Ray cluster on this machine, and actors that the cases of a workload share."""

from __future__ import annotations

import logging
import os
import shutil
from typing import Any

from benchmarks.harness.child import closing

SHARE_OF_MEMORY = 0.45
"""Of the object store. Ray takes 30 % by default; large objects need more here."""

_pools: dict[Any, list[Any]] = {}


def start() -> None:
    """Start Ray, once in a process.

    One node with as many CPUs as there are; an actor needs one only to be placed and
    none while it lives, which is Ray's default, so there can be more actors than CPUs:
    https://docs.ray.io/en/latest/ray-core/scheduling/resources.html
    """
    import ray

    if ray.is_initialized():
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Workers are niced by default. In Ray's favour they are not here.
    os.environ.setdefault("RAY_worker_niceness", "0")
    ray.init(
        address="local",  # never a cluster that happens to run here
        num_cpus=len(os.sched_getaffinity(0)),
        object_store_memory=_store_bytes(),
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.ERROR,
    )
    closing.callback(ray.shutdown)


def _store_bytes() -> int:
    """Return how large the object store may be; it must fit into shared memory."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    shared = shutil.disk_usage("/dev/shm").free
    return int(min(SHARE_OF_MEMORY * memory, 0.9 * shared))


def actors(cls: type, count: int) -> list[Any]:
    """Return ``count`` actors of a class, whose ``__init__`` takes their index.

    Those of earlier cases are used again, as starting one takes half a second; those of
    other classes are ended.
    """
    import ray

    start()
    for other in [known for known in _pools if known is not cls]:
        for actor in _pools.pop(other):
            ray.kill(actor)
    pool = _pools.setdefault(cls, [])
    remote = ray.remote(cls)
    pool += [remote.remote(index) for index in range(len(pool), count)]
    ray.get([actor.__ray_ready__.remote() for actor in pool])
    return pool[:count]
