# SPDX-License-Identifier: Apache-2.0
"""``RayFederation``: a federation whose processes run on the nodes of a Ray cluster."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from reactorl._program.placement import HEAD, Federation
from reactorl.errors import DeclarationError

if TYPE_CHECKING:
    from collections.abc import Sequence

STRATEGIES: Final = ("PACK", "SPREAD", "STRICT_PACK", "STRICT_SPREAD")
_REQUESTS: Final = ("cpus", "gpus", "resources", "labels")


@dataclass(frozen=True, slots=True)
class Request:
    """What one federate needs of the node it runs on.

    Attributes:
        cpus: CPUs that Ray reserves.
        gpus: GPUs that Ray reserves.
        resources: Further resources of the cluster, by name.
        labels: Labels of the node, as Ray's label selectors.
    """

    cpus: float = 1.0
    gpus: float = 0.0
    resources: Mapping[str, float] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def bundle(self) -> dict[str, float]:
        """The request as a bundle of a placement group."""
        found = {"CPU": self.cpus, "GPU": self.gpus, **self.resources}
        return {name: amount for name, amount in found.items() if amount}


@dataclass(frozen=True, slots=True)
class RaySettings:
    """Where and how the processes of a federation run; see ``RayFederation``."""

    each: Request
    requests: Mapping[str, Request]
    strategy: str
    address: str | None
    python: str | None
    runtime_env: Mapping[str, Any] | None
    ship: bool
    encrypt: bool
    mixed: bool
    patience: float | None
    hosts: Mapping[str, str] = field(default_factory=dict)

    def request(self, federate: str) -> Request:
        """Return what a federate needs."""
        return self.requests.get(federate, self.each)


class RayFederation(Federation):
    """A federation whose processes run on the nodes of a Ray cluster.

    Ray reserves the resources (a placement group), starts an actor for each process,
    and says when one is gone. Values go directly from federate to federate, so the
    result is that of one process. Needs the extra ``ray``. In a driven program, such as
    a training, the federate with the main reactor is the calling process.

    Example:
        >>> RayFederation(num_federates=8, cpus_per_federate=2)

    Args:
        placement: As for ``Federation``.
        num_federates: How many federates, instead of a placement. None: one for each
            node that has the resources, and the calling process in a driven program.
        cpus_per_federate: CPUs that Ray reserves for each process; also the default of
            its worker threads.
        gpus_per_federate: GPUs that Ray reserves for each process.
        resources: Further resources of Ray that each process needs, by name.
        labels: Labels that the node of each process must have, by name.
        overrides: By name of a federate, what it needs instead: a mapping with
            ``cpus``, ``gpus``, ``resources``, ``labels``.
        strategy: How Ray distributes the processes: ``SPREAD`` or ``PACK``, if
            possible; ``STRICT_SPREAD`` or ``STRICT_PACK``, or not at all.
        address: Of the cluster, as for ``ray.init``. None: that of ``RAY_ADDRESS``, or
            the cluster that runs on this machine; if there is none, a local one is
            started. Ignored if this process is connected to Ray already.
        python: The interpreter of the federates on their nodes, where reactorl must be
            installed. None: that of Ray.
        runtime_env: Ray's ``runtime_env`` of the processes, for packages and variables.
        ship: Send modules that are not installed to the nodes: those that this process
            has imported, with their packages.
        encrypt: Encrypt the links of federates on several machines.
        mixed: Accept nodes that compute other bits than this process, because of
            another processor or other versions of packages: results then depend on
            where reactors run.
        patience: Seconds to wait for resources. None: 60 if they are in use or a node
            was lost; none if the cluster is too small.
        rest: As for ``Federation``.
        replicas: As for ``Federation``.

    Raises:
        DeclarationError: An argument is invalid.
    """

    __slots__ = ("lives", "settings")

    def __init__(
        self,
        placement: Mapping[str, str] | int | None = None,
        *,
        num_federates: int | None = None,
        cpus_per_federate: float = 1.0,
        gpus_per_federate: float = 0.0,
        resources: Mapping[str, float] | None = None,
        labels: Mapping[str, str] | None = None,
        overrides: Mapping[str, Mapping[str, Any]] | None = None,
        strategy: str = "SPREAD",
        address: str | None = None,
        python: str | os.PathLike[str] | None = None,
        runtime_env: Mapping[str, Any] | None = None,
        ship: bool = True,
        encrypt: bool = True,
        mixed: bool = False,
        patience: float | None = None,
        rest: str = HEAD,
        replicas: Sequence[str] = (),
    ) -> None:
        given = num_federates if placement is None else placement
        # 0 stands for a number that is not known yet; see ``sized``.
        super().__init__(0 if given is None else given, rest=rest, replicas=replicas)
        if placement is not None and num_federates is not None:
            self._refuse("num_federates", "None beside a placement", num_federates)
        if isinstance(given, int) and given < 1:
            self._refuse("num_federates", "at least 1", given)
        if strategy not in STRATEGIES:
            self._refuse("strategy", f"one of {', '.join(STRATEGIES)}", strategy)
        if patience is not None and not patience >= 0:
            self._refuse("patience", "None or 0 or more", patience)
        each = self._request(
            "",
            Request(),
            {
                "cpus": cpus_per_federate,
                "gpus": gpus_per_federate,
                "resources": resources or {},
                "labels": labels or {},
            },
        )
        self.settings = RaySettings(
            each,
            {
                name: self._request(f"overrides[{name!r}]: ", each, wanted)
                for name, wanted in (overrides or {}).items()
            },
            strategy,
            address,
            None if python is None else os.fspath(python),
            runtime_env,
            ship,
            encrypt,
            mixed,
            patience,
        )
        self.lives = count(1)
        """Numbers of the lives of its processes: each start takes one."""

    def with_placement(
        self, placement: Mapping[str, str] | int, *, replicas: Sequence[str] = ()
    ) -> RayFederation:
        """See ``Federation``."""
        return self._like(Federation(placement, rest=self.rest, replicas=replicas))

    def with_hosts(self, placed: Federation, hosts: Mapping[str, str]) -> RayFederation:
        """Return a federation with the placement of another one.

        Args:
            placed: The other one.
            hosts: Federate -> name or number of the node that it must run on.
        """
        made = self._like(placed)
        made.settings = replace(self.settings, hosts=dict(hosts))
        return made

    def sized(self, most: int, *, here: int = 0) -> Federation:
        """Return a federation whose size is known; see ``Federation``.

        Raises:
            FederationError: There is no cluster.
        """
        if self.placement != 0:
            return self
        from reactorl._federation.launch.on_ray.cluster import connect, count_of_nodes

        connect(self.settings.address)
        size = count_of_nodes(self.settings.each.bundle) + here
        return self._like(Federation(max(min(size, most), 1), rest=self.rest))

    def _like(self, placed: Federation) -> RayFederation:
        made = object.__new__(RayFederation)
        made.where = self.where
        made.placement, made.rest = placed.placement, placed.rest
        made.replicas, made.settings = placed.replicas, self.settings
        made.lives = self.lives
        return made

    def _request(self, where: str, each: Request, wanted: Mapping[str, Any]) -> Request:
        """Return a request, whose values are checked."""
        for name in wanted:
            if name not in _REQUESTS:
                self._refuse(where + "a name", f"one of {', '.join(_REQUESTS)}", name)
        for name in ("cpus", "gpus"):
            value = wanted.get(name, 0)
            if not isinstance(value, int | float) or not 0 <= value < 1 << 20:
                self._refuse(where + name, "a number, 0 or more", value)
        for name in ("resources", "labels"):
            if not isinstance(wanted.get(name, {}), Mapping):
                self._refuse(where + name, "a mapping", wanted[name])
        found = replace(each, **wanted)
        if not found.bundle:
            self._refuse(where + "the resources of a federate", "more than 0", 0)
        return found

    def _refuse(self, name: str, rule: str, value: object) -> None:
        msg = f"{name} must be {rule}, got {value!r}"
        raise DeclarationError(msg, self.where)
