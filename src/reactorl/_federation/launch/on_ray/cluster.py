# SPDX-License-Identifier: Apache-2.0
"""The Ray cluster: connecting to it, and reserving resources of its nodes."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reactorl._federation.link_errors import LinkError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_log: Final = logging.getLogger(__name__)
_QUIET_SECONDS: Final = 2.0
_ANSWER_SECONDS: Final = 5.0
_CHECK: Final = "Check that it runs: ray status --address HOST:PORT."
DEFAULT_PATIENCE: Final = 60.0
"""Seconds to wait for resources that are in use, or of a node that was lost."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the cluster that Ray takes for alive.

    Attributes:
        id: Ray's number of it.
        address: Its address in the network.
        hostname: Its name.
        resources: All that it has, used or not.
    """

    id: str
    address: str
    hostname: str
    resources: Mapping[str, float]


def import_ray() -> Any:  # noqa: ANN401
    """Return the module.

    Raises:
        LinkError: It is not installed.
    """
    try:
        import ray
    except ImportError as error:
        msg = f"federates on a Ray cluster need Ray: {error}"
        remedy = (
            "pip install 'reactorl[ray]'. There is no Ray for free-threaded Python: "
            "start the program with another Python, and name the free-threaded one as "
            "the interpreter of the federates (--python)."
        )
        raise LinkError(msg, remedy) from error
    return ray


def connect(address: str | None) -> None:
    """Connect to a cluster, unless this process is connected to one.

    Args:
        address: As for ``ray.init``; None: the cluster of this machine, or a new one.

    Raises:
        LinkError: There is no cluster at this address.
    """
    ray = import_ray()
    if ray.is_initialized():
        return
    options: dict[str, Any] = {
        "log_to_driver": False,  # output of federates comes with their names
        "logging_level": logging.ERROR,
    }
    found = _cluster_address(address)
    with _signals_kept():
        try:
            ray.init(address=found or "local", **options)
        except (ConnectionError, RuntimeError, ValueError) as error:
            where = f" at {found}" if found else ""
            msg = f"connecting to the Ray cluster{where} failed: {_first_line(error)}"
            raise LinkError(msg, _CHECK) from error
    if not found:
        cpus = ray.cluster_resources().get("CPU", 0)
        what = "No Ray cluster was found: started a local one with %g CPUs."
        _log.warning(what, cpus)


def _cluster_address(given: str | None) -> str | None:
    """Return the address of a cluster that answers; None: one must be started.

    Ray itself would wait for minutes for one that has ended.

    Raises:
        LinkError: Nothing answers at the address that was given.
    """
    address = given or os.environ.get("RAY_ADDRESS")
    if address in (None, "", "auto"):
        directory = Path(os.environ.get("RAY_TMPDIR") or "/tmp")
        try:
            noted = (directory / "ray" / "ray_current_cluster").read_text().strip()
        except OSError:
            return None
        return noted if noted and _error_of(noted) is None else None
    assert address is not None
    if address == "local":
        return None
    if (why := _error_of(address)) is not None:
        msg = f"connecting to the Ray cluster at {address} failed: {why}"
        raise LinkError(msg, _CHECK)
    return address


def _error_of(address: str) -> str | None:
    """Return why nothing answers at an address; None: something does, or is unknown."""
    host, _, port = address.rpartition("://")[2].partition("/")[0].rpartition(":")
    if not host or not port.isdecimal():
        return None
    try:
        socket.create_connection((host.strip("[]"), int(port)), _ANSWER_SECONDS).close()
    except OSError as error:
        return error.strerror or str(error)
    return None


def nodes() -> list[Node]:
    """Return the nodes that are alive, by their numbers."""
    ray = import_ray()
    found = [
        Node(
            node["NodeID"],
            node["NodeManagerAddress"],
            node["NodeManagerHostname"],
            node["Resources"],
        )
        for node in ray.nodes()
        if node["Alive"]
    ]
    return sorted(found, key=lambda node: node.id)


def own_node() -> str | None:
    """Return the number of the node of this process; None: it is not on a node."""
    ray = import_ray()
    if ray.util.client.ray.is_connected():
        return None
    found: str = ray.get_runtime_context().get_node_id()
    return found


def own_address() -> str:
    """Return the address at which nodes of the cluster reach this process."""
    own = own_node()
    found = nodes()
    for node in found:
        if node.id == own:
            return node.address
    # Not on a node: the address that this machine has towards one of them.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect((found[0].address, 9))  # sends nothing
        address: str = sock.getsockname()[0]
        return address


def count_of_nodes(bundle: Mapping[str, float]) -> int:
    """Return how many nodes have the resources of a bundle."""
    return sum(_times(node, bundle) > 0 for node in nodes())


def is_too_small(bundles: Sequence[Mapping[str, float]]) -> bool:
    """Return whether the cluster cannot have these bundles, even if nothing else runs.

    Exact if all bundles are equal.
    """
    found = nodes()
    same = all(bundle == bundles[0] for bundle in bundles)
    if same and sum(_times(node, bundles[0]) for node in found) < len(bundles):
        return True
    if any(not any(_times(node, bundle) for node in found) for bundle in bundles):
        return True
    needed: Counter[str] = Counter()
    for bundle in bundles:
        needed.update(bundle)
    return any(
        sum(node.resources.get(name, 0) for node in found) < amount
        for name, amount in needed.items()
    )


def reserve(
    bundles: Sequence[Mapping[str, float]],
    labels: Sequence[Mapping[str, str]],
    strategy: str,
    name: str,
    *,
    patience: float | None,
    is_first: bool,
) -> Any:  # noqa: ANN401 - Ray's placement group
    """Return a placement group with all bundles, when the cluster has reserved them.

    Args:
        bundles: Resources of each process.
        labels: Labels of the node of each.
        strategy: How they are distributed.
        name: Of the group, for people who look at the cluster.
        patience: Seconds to wait; None: the default, or none if that is of no use.
        is_first: Whether no node was lost, which another one may replace.

    Raises:
        LinkError: They were not free within that time.
    """
    import_ray()
    from ray.util.placement_group import placement_group, remove_placement_group

    small = is_too_small(bundles)
    if small and patience is None and is_first:
        raise _no_room(bundles, "the cluster is too small")
    wait = DEFAULT_PATIENCE if patience is None else patience
    wanted = [dict(each) for each in labels] if any(labels) else None
    group = placement_group(
        [dict(bundle) for bundle in bundles],
        strategy=strategy,
        name=name,
        bundle_label_selector=wanted,
    )
    try:
        quiet = min(wait, _QUIET_SECONDS)
        if group.wait(quiet):
            return group
        _log.warning(
            "Waiting up to %g s until the Ray cluster has room for %s.",
            wait,
            _described(bundles),
        )
        if group.wait(wait - quiet):
            return group
        raise _no_room(bundles, f"there was no room within {wait:g} s")
    except BaseException:
        remove_placement_group(group)
        raise


def _no_room(bundles: Sequence[Mapping[str, float]], why: str) -> LinkError:
    ray = import_ray()
    free = ray.available_resources()
    names = sorted({name for bundle in bundles for name in bundle})
    has = []
    for node in nodes():
        amounts = (f"{node.resources.get(name, 0):g} {name}" for name in names)
        has.append(f"{node.address} has {', '.join(amounts)}")
    left = ", ".join(f"{free.get(name, 0):g} {name}" for name in names)
    msg = (
        f"reserving {_described(bundles)} on the Ray cluster failed: {why}. "
        f"Its nodes: {'; '.join(has)}. Free at present: {left}"
    )
    remedy = (
        "Use fewer federates or fewer resources for each, add nodes, or wait longer "
        "for them (patience)."
    )
    return LinkError(msg, remedy)


def _described(bundles: Sequence[Mapping[str, float]]) -> str:
    """Return resources as text: '3 federates with 2 CPU, 1 federate with 1 GPU'."""
    texts = Counter(
        ", ".join(f"{amount:g} {name}" for name, amount in sorted(bundle.items()))
        for bundle in bundles
    )
    return ", ".join(
        f"{count} federate{'s' if count > 1 else ''} with {text}"
        + (" each" if count > 1 else "")
        for text, count in texts.items()
    )


def _times(node: Node, bundle: Mapping[str, float]) -> int:
    """Return how many times a node has the resources of a bundle."""
    # Ray counts in ten-thousandths.
    return min(
        int(round(node.resources.get(name, 0) * 10_000) // round(amount * 10_000))
        for name, amount in bundle.items()
    )


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Keep the handlers of signals, which ``ray.init`` replaces."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            with suppress(TypeError):  # None: it was not set by Python
                signal.signal(number, handler)


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".")


class Deadline:
    """A number of seconds from now on, for several waits."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds that are left, at least 0."""
        return max(self._end - time.monotonic(), 0.0)
