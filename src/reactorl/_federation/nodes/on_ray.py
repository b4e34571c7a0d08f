# SPDX-License-Identifier: Apache-2.0
"""The nodes of a Ray cluster: facts about each, and the links between them.

Ray runs a small actor on each node, which looks around and answers; what is measured
travels over a link of ours, not over Ray.
"""

from __future__ import annotations

import logging
import os
import platform
import secrets
from contextlib import suppress
from importlib import metadata
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from reactorl._federation.link_errors import LinkError
from reactorl._federation.nodes.link_probe import LinkProbe, measure_link
from reactorl._federation.nodes.ports import RAY_PORTS, open_ports
from reactorl._federation.secret import SECRET_BYTES, RunSecret
from reactorl._util.machine import cpu_model, usable_cores
from reactorl._util.numeric_fingerprint import PARTS, numeric_fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGES: Final = ("reactorl", "numpy", "jax", "jaxlib", "gymnasium", "ray")
"""Packages whose versions should be the same on all nodes."""
_SECONDS: Final = 120.0
"""How long a node may need to answer: it starts a process and imports packages."""
_HEAD: Final = "node:__internal_head__"


def inspect_nodes(address: str = "auto") -> dict[str, Any]:
    """Return facts about the nodes of a running Ray cluster, as plain data.

    Args:
        address: Of the cluster: ``auto`` for the one of this machine, ``HOST:PORT``,
            or ``ray://HOST:PORT``.

    Returns:
        ``nodes``: for each its name, address, versions, cores and numeric
        fingerprint, or a ``problem``; the head is first. ``links``: latency and
        bandwidth from the head to each other node, and how much its clock is ahead.
        ``ports``: what accepts connections at the head's address. ``token``: whether
        Ray wants a token.

    Raises:
        FederationError: Ray is not installed, or there is no cluster.
    """
    ray = _connected(address)
    try:
        nodes = [node for node in ray.nodes() if node["Alive"]]
        nodes.sort(key=lambda n: (_HEAD not in n["Resources"], *_place(n)))
        with _Probes(ray, nodes) as probes:
            facts = probes.facts()
            links = list(probes.links())
        ports = dict(RAY_PORTS)
        with suppress(ValueError, AttributeError):
            gcs = ray.get_runtime_context().gcs_address
            ports["GCS"] = int(gcs.rpartition(":")[2])
        return {
            "nodes": facts,
            "links": links,
            "ports": open_ports(str(nodes[0]["NodeManagerAddress"]), ports),
            "token": os.environ.get("RAY_AUTH_MODE", "").lower() == "token",
        }
    finally:
        if not ray.was_there:
            ray.shutdown()


class _Ray:
    """The module ``ray``, and whether this process was connected before."""

    def __init__(self, module: Any, *, was_there: bool) -> None:  # noqa: ANN401
        self.module = module
        self.was_there = was_there

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self.module, name)


def _connected(address: str) -> _Ray:
    """Return Ray, connected to a cluster.

    Raises:
        FederationError: It is not installed, or there is no cluster.
    """
    if find_spec("ray") is None:
        msg = "the nodes of a Ray cluster need Ray, which is not installed"
        raise LinkError(msg, "pip install 'reactorl[ray]'")
    import ray

    if ray.is_initialized():
        return _Ray(ray, was_there=True)
    try:
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError) as error:
        where = "on this machine" if address == "auto" else f"at {address}"
        first = str(error).strip().partition("\n")[0]
        msg = f"connecting to a Ray cluster {where} failed: {first}"
        raise LinkError(msg, "Start one with 'ray start --head'.") from error
    return _Ray(ray, was_there=False)


def _place(node: dict[str, Any]) -> tuple[str, str]:
    return str(node["NodeManagerAddress"]), str(node["NodeID"])


class NodeProbe:
    """Looks around on a node. Ray makes an actor of it there."""

    def __init__(self) -> None:
        self._probe: LinkProbe | None = None

    def facts(self) -> dict[str, Any]:
        """Return facts about this node and its Python."""
        found = {}
        for name in PACKAGES:
            with suppress(metadata.PackageNotFoundError):
                found[name] = metadata.version(name)
        return {
            "versions": {"python": platform.python_version(), **found},
            "processor": cpu_model(),
            "cores": usable_cores(),
            "fingerprint": numeric_fingerprint(PARTS),
        }

    def listen(self, host: str, key: bytes) -> str:
        """Answer measurements; return the address."""
        self._probe = LinkProbe(host, RunSecret(key))
        return self._probe.address

    def measure(self, address: str, key: bytes) -> dict[str, Any]:
        """Measure the link to another node."""
        found = measure_link(address, RunSecret(key))
        return {
            "latency": found.latency,
            "bandwidth": found.bandwidth,
            "clock_offset": found.clock_offset,
            "encrypted": found.encrypted,
        }


class _Probes:
    """An actor on each node, as long as the ``with`` statement lasts."""

    def __init__(self, ray: _Ray, nodes: list[dict[str, Any]]) -> None:
        self._ray = ray
        self._nodes = nodes
        self._actors: list[Any] = []
        self._problems: dict[int, str] = {}
        self._key = secrets.token_bytes(SECRET_BYTES)  # of this measurement only

    def __enter__(self) -> _Probes:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        remote = self._ray.remote(num_cpus=0, max_restarts=0)(NodeProbe)
        for node in self._nodes:
            here = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            self._actors.append(remote.options(scheduling_strategy=here).remote())
        return self

    def __exit__(self, *_: object) -> None:
        for actor in self._actors:
            self._ray.kill(actor)

    def facts(self) -> list[dict[str, Any]]:
        """Return the facts of all nodes; nodes look around at the same time."""
        waiting = [actor.facts.remote() for actor in self._actors]
        found = []
        for number, (node, reference) in enumerate(
            zip(self._nodes, waiting, strict=True)
        ):
            one: dict[str, Any] = {
                "id": node["NodeID"][:8],
                "address": node["NodeManagerAddress"],
                "head": number == 0,
            }
            facts = self._answer(number, reference)
            found.append({**one, **(facts or {"problem": self._problems[number]})})
        return found

    def links(self) -> Iterator[dict[str, Any]]:
        """Yield what is measured from the head to each other node."""
        if not self._actors or 0 in self._problems:
            return
        host = self._nodes[0]["NodeManagerAddress"]
        listening = self._actors[0].listen
        address = self._answer(0, listening.remote(host, self._key))
        for number in range(1, len(self._actors)):
            if number in self._problems or address is None:
                continue
            measure = self._actors[number].measure
            found = self._answer(number, measure.remote(address, self._key))
            one = {"node": self._nodes[number]["NodeID"][:8]}
            if found is None:
                yield {**one, "problem": self._problems[number]}
            else:
                # The other way round: how much that node is ahead of the head.
                yield {**one, **found, "clock_offset": -found["clock_offset"]}

    def _answer(self, number: int, reference: Any) -> Any:  # noqa: ANN401
        """Return an actor's answer; None after noting a problem."""
        try:
            return self._ray.get(reference, timeout=_SECONDS)
        except self._ray.exceptions.GetTimeoutError:
            self._problems[number] = f"no answer within {_SECONDS:.0f} s"
        except self._ray.exceptions.RayError as error:
            lines = [line for line in str(error).splitlines() if line.strip()]
            self._problems[number] = lines[-1].strip() if lines else repr(error)
        return None
