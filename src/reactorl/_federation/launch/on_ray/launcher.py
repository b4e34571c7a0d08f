# SPDX-License-Identifier: Apache-2.0
"""Places the processes of federates on the nodes of a Ray cluster, and starts them.

A keeper never begins again by itself: who has lost a federate decides what happens, and
starts the next life with keepers, a secret and addresses of its own.
"""

from __future__ import annotations

import os
import pickle
import sys
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import reactorl
from reactorl._federation.endpoint import Address
from reactorl._federation.launch.on_ray.cluster import (
    DEFAULT_PATIENCE,
    Deadline,
    connect,
    import_ray,
    nodes,
    own_address,
    own_node,
    reserve,
)
from reactorl._federation.launch.on_ray.keeper import (
    LOOPBACK,
    FederateKeeper,
    NodeFacts,
    Order,
    python_version,
)
from reactorl._federation.launch.on_ray.process import KeptProcess, reason
from reactorl._federation.launch.on_ray.sealing import seal
from reactorl._federation.launch.on_ray.shipment import Shipment, shipment
from reactorl._federation.link_errors import LinkError
from reactorl._util.child_process import own_flags
from reactorl._util.numeric_fingerprint import PARTS, numeric_fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reactorl._federation.launch.job import Job
    from reactorl._federation.launch.launcher import Process
    from reactorl._federation.launch.on_ray.federation import RayFederation
    from reactorl._federation.secret import RunSecret
    from reactorl._program.cut import Cut

_SETUP_SECONDS: Final = 600.0
"""Time for Ray to start keepers: installing the packages of a runtime_env is slow."""

_SAME_VARIABLES: Final = (
    "PYTHONHASHSEED", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
    "XLA_FLAGS",
)  # fmt: skip
"""Environment variables on which the order of sets and threaded sums depends. Ray sets
some of them for its workers."""


class RayLauncher:
    """Starts the processes of one life of a federation on a Ray cluster.

    Args:
        federation: What each process needs.
        cut: The federates.
        here: Those that run in this process.

    Raises:
        LinkError: There is no cluster, no room in it, or no reactorl on its nodes.
    """

    def __init__(
        self, federation: RayFederation, cut: Cut, here: frozenset[int]
    ) -> None:
        settings = self._settings = federation.settings
        self._life = next(federation.lives)
        names = [name for index, name in enumerate(cut.names) if index not in here]
        connect(settings.address)
        self._address = own_address()
        self._names = {name: number for number, name in enumerate(names)}
        self._group: Any = None
        self._keepers: list[Any] = []
        self._facts: list[NodeFacts] = []
        self._processes: list[KeptProcess] = []
        if not names:
            self._loopback = True
            return
        try:
            self._place(names)
        except BaseException:
            self.close()
            raise
        self._loopback = {facts.node for facts in self._facts} == {own_node()}
        ray = import_ray()
        self._modules = ray.put(shipment() if settings.ship else Shipment(b"", {}, {}))

    replaces: Final = False

    @property
    def encrypt(self) -> bool:
        """See ``Launcher``: unless nothing leaves this machine."""
        return self._settings.encrypt and not self._loopback

    @property
    def coordinator(self) -> Address:
        """See ``Launcher``."""
        return Address(host=LOOPBACK if self._loopback else self._address)

    def address(self, index: int, life: int = 1) -> Address:
        """See ``Launcher``; what a keeper starts has the address of its node."""
        return self.coordinator

    def process(
        self,
        name: str,
        job: Job,
        secret: RunSecret,
        ended: Callable[[Process], object],
        *,
        before: Process | None = None,
    ) -> KeptProcess:
        """See ``Launcher``."""
        number = self._names[name]
        facts, settings = self._facts[number], self._settings
        order = Order(
            name,
            pickle.dumps(replace(job, fingerprint=self._fingerprint())),
            seal(secret, facts.public),
            settings.python,
            python_version(),
            own_flags(),
            self._environment(),
            self._loopback,
            self._label(name),
        )
        process = KeptProcess(
            name,
            job.index,
            f"node {facts.address}",
            self._keepers[number],
            order,
            self._modules,
            self._submit,
            ended,
        )
        self._processes.append(process)
        return process

    def close(self) -> None:
        """See ``Launcher``."""
        ray = import_ray()
        from ray.util.placement_group import remove_placement_group

        if not ray.is_initialized():
            return
        for keeper in self._keepers:
            ray.kill(keeper, no_restart=True)
        self._keepers, self._facts = [], []
        if self._group is not None:
            remove_placement_group(self._group)
            self._group = None

    # -- parts ----------------------------------------------------------------------

    def _fingerprint(self) -> dict[str, str]:
        """Return numeric results to compare; none if there is nothing to compare."""
        settings = self._settings
        if settings.mixed or (self._loopback and settings.python is None):
            return {}
        return _own_fingerprint(
            tuple(sorted(name for name in PARTS if name in sys.modules))
        )

    def _submit(self) -> None:
        for process in self._processes:
            process.submit()

    def _place(self, names: list[str]) -> None:
        """Reserve resources and start keepers; again if a node is lost meanwhile.

        For some time after a node is gone, Ray still places actors there.
        """
        settings = self._settings
        patience = settings.patience
        limit = Deadline(DEFAULT_PATIENCE if patience is None else patience)
        while True:
            requests = [settings.request(name) for name in names]
            self._group = reserve(
                [settings.request(name).bundle | self._host(name) for name in names],
                [request.labels for request in requests],
                settings.strategy,
                f"reactorl federates (life {self._life})",
                patience=patience,
                is_first=self._life == 1,
            )
            try:
                self._start_keepers(names)
            except LinkError as error:
                lost = isinstance(error, _NodeLostError)
                if not lost or not limit.left():
                    raise
                self.close()
            else:
                return

    def _start_keepers(self, names: list[str]) -> None:
        ray = import_ray()
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        settings = self._settings
        actor = ray.remote(FederateKeeper)
        for number, name in enumerate(names):
            request = settings.request(name)
            self._keepers.append(
                actor.options(
                    name=f"reactorl {self._label(name)}",
                    num_cpus=request.cpus,
                    num_gpus=request.gpus,
                    resources=dict(request.resources),
                    max_restarts=0,
                    max_concurrency=2,  # waits for events while it starts, and so on
                    runtime_env=dict(settings.runtime_env or {}) or None,
                    scheduling_strategy=PlacementGroupSchedulingStrategy(
                        placement_group=self._group,
                        placement_group_bundle_index=number,
                    ),
                ).remote()
            )
        asked = [keeper.facts.remote() for keeper in self._keepers]
        for name, each in zip(names, asked, strict=True):
            try:
                facts: NodeFacts = ray.get(each, timeout=_SETUP_SECONDS)
            except ray.exceptions.RayError as error:
                msg = f"starting the keeper of federate {name} failed: {reason(error)}"
                died = isinstance(error, ray.exceptions.ActorDiedError)
                if died and not getattr(error, "actor_init_failed", False):
                    raise _NodeLostError(msg, peer=f"federate {name}") from error
                raise LinkError(msg, _REMEDY, peer=f"federate {name}") from error
            if facts.version != reactorl.__version__:
                msg = (
                    f"reactorl must have version {reactorl.__version__} on node "
                    f"{facts.address}, as here, got {facts.version}"
                )
                raise LinkError(msg, _REMEDY, peer=f"federate {name}")
            self._facts.append(facts)

    def _host(self, name: str) -> dict[str, float]:
        """Return the resource that only the wanted node has; nothing if any will do."""
        wanted = self._settings.hosts.get(name)
        for node in nodes() if wanted else ():
            if wanted in (node.address, node.hostname):
                return {f"node:{node.address}": 0.001}
        return {}

    def _label(self, name: str) -> str:
        """Return a name that no other process of this Ray job has."""
        return f"{name}-{os.getpid()}-life-{self._life}-{id(self):x}"

    def _environment(self) -> Mapping[str, str | None]:
        """Return the variables that must be as here, but those that the user sets."""
        given = (self._settings.runtime_env or {}).get("env_vars", {})
        jax = (name for name in os.environ if name.startswith("JAX_"))
        names = [name for name in (*_SAME_VARIABLES, *jax) if name not in given]
        return {name: os.environ.get(name) for name in names}


@cache
def _own_fingerprint(packages: tuple[str, ...]) -> dict[str, str]:
    return numeric_fingerprint(("python", *packages))


class _NodeLostError(LinkError):
    """A node was lost while keepers were started."""


_REMEDY: Final = (
    "Install the same version of reactorl[ray] for Ray's Python on all nodes, or name "
    "it in runtime_env."
)
