# SPDX-License-Identifier: Apache-2.0
"""Trainings on a Ray cluster that lose federates, keepers and nodes, many times."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("ray", reason="Ray has no release for this Python")

import ray

from reactorl.rl import Trainer
from tests.federation.ray_cluster import add_node, ray_cluster
from tests.federation.test_ray import (
    Disturbing,
    kill_federate,
    kill_keeper,
    parent_of,
    raylet_of,
)
from tests.rl.runs.test_federates import QUIET, TASK, left_in
from tests.rl.scripts import gone

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

LOSSES = 20


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with ray_cluster() as made:
        yield made


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("one") / "run"
    Trainer(TASK, path, **QUIET).fit()
    return path


class Node:
    """Kills the node of a federate that is not that of the driver; adds another."""

    def __init__(self, cluster: Any) -> None:
        self.cluster = cluster

    def __call__(self, federates: Any) -> None:
        own = ray.get_runtime_context().get_node_id()
        nodes = [facts.node for facts in federates._launcher._facts]
        victim = next(n for n, node in enumerate(nodes) if node != own)
        raylet = raylet_of(parent_of(federates.processes[victim].pid))
        os.kill(raylet, signal.SIGKILL)
        add_node(self.cluster)


@pytest.mark.parametrize("kind", ["federate", "keeper", "node"])
def test_losses_at_random_moments_change_nothing_but_time(
    kind: str, cluster: Any, one: Path, tmp_path: Path
) -> None:
    act = {"federate": kill_federate, "keeper": kill_keeper, "node": Node(cluster)}
    random = Random(kind)
    left, trainings = LOSSES, 0
    while left:
        # The first checkpoint is that of iteration 2.
        moments = sorted(random.sample(range(3, 9), min(left, 4)))
        left -= len(moments)
        trainings += 1
        seen = Disturbing(*moments, acts=[act[kind]] * len(moments))
        run = tmp_path / str(trainings)

        Trainer(
            TASK,
            run,
            nodes="ray",
            federates=3,
            restarts=20,
            callbacks=[seen],
            **QUIET,
        ).fit()

        assert not seen.numbers
        assert left_in(run) == left_in(one)
        assert gone(seen.pids)
    for node in list(cluster.worker_nodes):
        with suppress(Exception):  # it is dead
            if not node.all_processes_alive():
                cluster.remove_node(node, allow_graceful=False)
