# SPDX-License-Identifier: Apache-2.0
"""What ``reactorl doctor --nodes`` says about nodes, from artificial facts."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from reactorl.cli.doctor.nodes import node_advice, node_sections

NODE = {
    "id": "aaaa",
    "address": "10.0.0.1",
    "head": True,
    "versions": {"python": "3.12.1", "reactorl": "0.1.0", "jax": "0.10.2"},
    "processor": "A processor",
    "cores": 8,
    "fingerprint": {"python": "1", "jax": "2"},
}
LINK = {
    "node": "bbbb",
    "latency": 0.0002,
    "bandwidth": 1.1e9,
    "clock_offset": -0.0015,
    "encrypted": True,
}
FINE: dict[str, Any] = {
    "nodes": [NODE, {**NODE, "id": "bbbb", "address": "10.0.0.2", "head": False}],
    "links": [LINK],
    "ports": {},
    "token": False,
}


def changed(path: str, value: object) -> dict[str, Any]:
    """Return the facts with another value at a path."""
    facts = deepcopy(FINE)
    *way, last = path.split(".")
    place: Any = facts
    for step in way:
        place = place[int(step) if step.isdigit() else step]
    place[last] = value
    return facts


def test_nodes_that_agree_need_no_advice() -> None:
    assert node_advice(FINE) == []


def test_sections_have_nodes_links_and_ports() -> None:
    found = dict(node_sections(changed("ports.GCS", 6379)))

    assert list(found) == ["node 10.0.0.1 aaaa (head)", "node 10.0.0.2 bbbb", "Ray"]
    other = dict(found["node 10.0.0.2 bbbb"])
    assert other["versions"] == "python 3.12.1, reactorl 0.1.0, jax 0.10.2"
    assert other["link to the head"] == "200 us there and back, 1,100 MB/s (TLS)"
    assert other["clock"] == "1.500 ms behind the head's, within 0.100 ms"
    assert dict(found["Ray"]) == {"open ports": "GCS (6379)", "token": "not required"}


@pytest.mark.parametrize(
    ("path", "value", "wanted", "is_broken"),
    [
        (
            "nodes.1.fingerprint",
            {"python": "1", "jax": "3"},
            "numeric fingerprints differ: jax: 10.0.0.1 aaaa against 10.0.0.2 bbbb",
            True,
        ),
        (
            "nodes.1.versions",
            {"python": "3.12.1", "reactorl": "0.1.0"},
            "versions of jax differ: 0.10.2 (10.0.0.1 aaaa), not installed (10.0.0.2",
            False,
        ),
        ("nodes.1.problem", "no numpy", "10.0.0.2 bbbb does not answer: no num", True),
        ("links.0.problem", "refused", "from node bbbb to the head failed: ref", True),
        ("links.0.bandwidth", 1e7, "the link to node bbbb is slow (10 MB/s)", False),
        ("links.0.latency", 0.03, "node bbbb is far (30.0 ms there and back)", False),
        ("links.0.clock_offset", -7.0, "node bbbb differs by -7.0 s", False),
        ("ports.GCS", 6379, "connections without a token: GCS at 6379", False),
    ],
)
def test_each_problem_has_advice(
    path: str,
    value: object,
    wanted: str,
    is_broken: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    (found,) = node_advice(changed(path, value))

    assert wanted in found.what
    assert found.broken is is_broken
    assert found.fix.endswith((".", "transfers."))


def test_open_ports_are_fine_with_a_token() -> None:
    facts = {**changed("ports.GCS", 6379), "token": True}

    assert node_advice(facts) == []
    assert dict(dict(node_sections(facts))["Ray"])["token"] == "required"
