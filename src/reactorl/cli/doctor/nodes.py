# SPDX-License-Identifier: Apache-2.0
"""The nodes of a cluster, as ``reactorl doctor --nodes`` shows them, and advice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reactorl._util.numeric_fingerprint import (
    described_differences,
    fingerprint_differences,
)
from reactorl.cli.doctor.advice import Advice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reactorl.cli.doctor.advice import Facts

Section = tuple[str, list[tuple[str, str]]]

_SLOW: Final = 1e9 / 8
"""Bytes per second below which a link is slow for trainings over several machines."""
_FAR: Final = 0.01
"""Seconds there and back above which a link is far."""
_WRONG_CLOCK: Final = 0.5
"""Seconds; programs in real time and logs want less."""


def node_name(node: dict[str, Any]) -> str:
    """Return the name of a node: its address, and Ray's id of it."""
    return f"{node['address']} {node['id']}"


def node_sections(facts: Facts) -> Iterator[Section]:
    """Yield titles with rows of names and values."""
    links = {link["node"]: link for link in facts["links"]}
    for node in facts["nodes"]:
        title = f"node {node_name(node)}{' (head)' if node['head'] else ''}"
        if "problem" in node:
            yield title, [("problem", node["problem"])]
            continue
        prints = node["fingerprint"]
        rows = [
            ("versions", ", ".join(f"{k} {v}" for k, v in node["versions"].items())),
            ("processor", f"{node['processor']}, {node['cores']} cores"),
            ("fingerprint", ", ".join(f"{k} {v}" for k, v in prints.items())),
        ]
        link = links.get(node["id"])
        if link is not None and "problem" in link:
            rows.append(("link to the head", link["problem"]))
        elif link is not None:
            rows += [
                ("link to the head", _link(link)),
                ("clock", _clock(link["clock_offset"], link["latency"])),
            ]
        yield title, rows
    ports = [f"{name} ({port})" for name, port in facts["ports"].items()]
    yield (
        "Ray",
        [
            ("open ports", ", ".join(ports) or "none"),
            ("token", "required" if facts["token"] else "not required"),
        ],
    )


def node_advice(facts: Facts) -> list[Advice]:
    """Return all advice about the nodes, the repairs first."""
    rules = (_problems, _fingerprints, _versions, _links, _clocks, _open)
    found = [one for rule in rules for one in rule(facts)]
    return sorted(found, key=lambda one: not one.broken)


def _link(link: dict[str, Any]) -> str:
    mega = link["bandwidth"] / 1e6
    how = "TLS" if link["encrypted"] else "not encrypted"
    return f"{link['latency'] * 1e6:,.0f} us there and back, {mega:,.0f} MB/s ({how})"


def _clock(offset: float, latency: float) -> str:
    ahead = "ahead of" if offset >= 0 else "behind"
    size, within = abs(offset) * 1e3, latency * 500
    return f"{size:,.3f} ms {ahead} the head's, within {within:,.3f} ms"


def _fine(facts: Facts) -> list[dict[str, Any]]:
    return [node for node in facts["nodes"] if "problem" not in node]


def _problems(facts: Facts) -> Iterator[Advice]:
    for node in facts["nodes"]:
        if "problem" in node:
            fix = "Install reactorl there, with the versions of the other nodes."
            what = f"node {node_name(node)} does not answer: {node['problem']}"
            yield Advice(what, fix, broken=True)


def _fingerprints(facts: Facts) -> Iterator[Advice]:
    prints = {node_name(node): node["fingerprint"] for node in _fine(facts)}
    if found := fingerprint_differences(prints):
        yield Advice(
            f"numeric fingerprints differ: {described_differences(found)}",
            "Use nodes with the same processor and versions. Over these, a program "
            "does not have the results of one machine; runs refuse them without "
            "--mixed.",
            broken=True,
        )


def _versions(facts: Facts) -> Iterator[Advice]:
    by_package: dict[str, dict[str, list[str]]] = {}
    for node in _fine(facts):
        for package in {name for each in _fine(facts) for name in each["versions"]}:
            version = node["versions"].get(package, "not installed")
            groups = by_package.setdefault(package, {})
            groups.setdefault(version, []).append(node_name(node))
    for package, groups in sorted(by_package.items()):
        if len(groups) > 1:
            parts = [f"{v} ({', '.join(names)})" for v, names in groups.items()]
            fix = "Install the same version on all nodes."
            yield Advice(f"versions of {package} differ: {', '.join(parts)}", fix)


def _links(facts: Facts) -> Iterator[Advice]:
    for link in facts["links"]:
        if "problem" in link:
            what = f"the link from node {link['node']} to the head failed"
            fix = "Permit connections between the nodes, at all ports of their users."
            yield Advice(f"{what}: {link['problem']}", fix, broken=True)
            continue
        if link["bandwidth"] < _SLOW:
            speed = f"{link['bandwidth'] / 1e6:,.0f} MB/s"
            yield Advice(
                f"the link to node {link['node']} is slow ({speed})",
                "docs/scaling.md says what an iteration transfers.",
            )
        if link["latency"] > _FAR:
            time = f"{link['latency'] * 1e3:,.1f} ms there and back"
            yield Advice(
                f"node {link['node']} is far ({time})",
                "Use iterations that take much longer, or a policy lag.",
            )


def _clocks(facts: Facts) -> Iterator[Advice]:
    for link in facts["links"]:
        offset = link.get("clock_offset", 0.0)
        if abs(offset) > _WRONG_CLOCK:
            yield Advice(
                f"the clock of node {link['node']} differs by {offset:,.1f} s",
                "Synchronize clocks (NTP). Training does not depend on them; programs "
                "with deadlines and physical inputs do.",
            )


def _open(facts: Facts) -> Iterator[Advice]:
    if facts["ports"] and not facts["token"]:
        names = ", ".join(f"{name} at {p}" for name, p in facts["ports"].items())
        yield Advice(
            f"Ray accepts connections without a token: {names}",
            "Who can reach these ports can run code on all nodes. Set "
            "RAY_AUTH_MODE=token on all of them, or keep them behind a firewall.",
        )
