# SPDX-License-Identifier: Apache-2.0
"""``reactorl doctor --nodes`` and ``inspect_nodes``, with a cluster of two nodes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from reactorl import FederationError, inspect_nodes
from reactorl._federation.nodes import on_ray
from reactorl._util.numeric_fingerprint import PARTS, numeric_fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator


DOCTOR = (sys.executable, "-m", "reactorl", "doctor")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    pytest.importorskip("ray", reason="Ray has no wheels for this Python")
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        args = {"num_cpus": 1, "object_store_memory": 80 << 20}
        head = {**args, "include_dashboard": False}
        found = Cluster(initialize_head=True, head_node_args=head)
        try:
            found.add_node(**args)
            yield found
        finally:
            found.shutdown()


def test_doctor_shows_the_nodes_of_a_cluster(cluster: Any) -> None:
    done = subprocess.run(
        [*DOCTOR, "--nodes", cluster.address, "--json"],
        capture_output=True,
        check=False,
        env={**os.environ, "RAY_AUTH_MODE": "disabled"},
        text=True,
        timeout=280,
    )

    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert [node["head"] for node in facts["nodes"]] == [True, False]
    # Not NumPy's: Ray limits the threads of BLAS, which changes the last bits.
    expected = numeric_fingerprint(["python", "jax"])
    for node in facts["nodes"]:
        assert node["versions"]["python"] == sys.version.split()[0]
        assert node["fingerprint"].keys() == PARTS.keys()
        assert node["fingerprint"].items() >= expected.items()
        assert node["fingerprint"] == facts["nodes"][0]["fingerprint"]
    (link,) = facts["links"]
    assert link["node"] == facts["nodes"][1]["id"]
    assert link["encrypted"]
    assert 0 < link["latency"] < 30
    assert abs(link["clock_offset"]) < 30
    port = int(cluster.address.rpartition(":")[2])
    assert facts["ports"]["GCS"] == port
    assert facts["token"] is False
    (advice,) = [one for one in facts["advice"] if "token" in one["what"]]
    assert f"GCS at {port}" in advice["what"]


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_ray, "find_spec", lambda _: None)

    with pytest.raises(FederationError, match="need Ray, which is not") as caught:
        inspect_nodes()
    assert "pip install 'reactorl[ray]'" in str(caught.value)


def test_an_address_without_a_cluster_is_an_error() -> None:
    pytest.importorskip("ray", reason="Ray has no wheels for this Python")

    with pytest.raises(FederationError, match="connecting to a Ray cluster at nowhere"):
        inspect_nodes("nowhere")
