# SPDX-License-Identifier: Apache-2.0
"""Runs federated ``.lf`` programs as processes: each loads the file, and checks it."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reactorl._federation.launch.joining import run_joining
from reactorl._federation.launch.launcher import workers_of_each
from reactorl._federation.launch.local import run_locally
from reactorl._runtime.options import make_options
from reactorl.lf.diagnostics import Report
from reactorl.lf.link.resolve import resolve
from reactorl.lf.loader import LfError, LoadedProgram
from reactorl.lf.runtime.global_seeds import seed_globals

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reactorl._federation.launch.joining import Gather
    from reactorl._federation.launch.on_ray.federation import RayFederation
    from reactorl._program.program import Program
    from reactorl._runtime.result import Result
    from reactorl._runtime.watch import Watch
    from reactorl.lf.federates import Federates
    from reactorl.lf.runtime.tracepoints import Notes


@dataclass
class LfSource:
    """A ``.lf`` file as the source of a program.

    Attributes:
        path: The file.
        seed: Seed of the global random generators; None: they are not seeded.
        federation_id: The result of ``lf.get_federation_id()``.
        tracing: Whether trace points of bodies are recorded.
        silent: Whether warnings are hidden.
        texts: The file and those that it imports, by their paths, for machines that
            have others or none there.
        loaded: The program, once it is loaded.
    """

    path: Path
    seed: int | None = None
    federation_id: str | None = None
    tracing: bool = False
    silent: bool = False
    texts: Mapping[str, bytes] = field(default_factory=dict)
    loaded: LoadedProgram | None = field(default=None, init=False)

    def program(self) -> Program:
        """See ``Source``.

        Raises:
            LfError: The file has errors, which it had not in the launching process.
        """
        if self.seed is not None:
            seed_globals(self.seed)
        report = Report()
        linked = resolve(self._here(), report)
        program = None
        if linked is not None and linked.main is not None and not report.failed:
            self.loaded = LoadedProgram.of(linked, [linked.main])
            program = self.loaded.program(report)
        if program is None:
            raise LfError(tuple(report.in_order()))
        return program

    def _here(self) -> Path:
        """Return the path of the file, or of a copy if this machine has another one."""
        if all(_content(Path(path)) == text for path, text in self.texts.items()):
            return self.path
        root = Path(tempfile.mkdtemp(prefix="reactorl-"))
        atexit.register(shutil.rmtree, root, ignore_errors=True)
        for path, text in self.texts.items():
            copy = _below(root, path)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(text)
        return _below(root, str(self.path))

    def prepare(self, federate: str) -> None:
        """See ``Source``."""
        assert self.loaded is not None
        if self.silent:
            warnings.simplefilter("ignore")
        if self.federation_id:
            self.loaded.lowering.lf._federation_id = self.federation_id
        self.loaded.lowering.tracepoints.enabled = self.tracing

    def extra(self) -> Notes:
        """Return the trace points of this federate; see ``Source``."""
        assert self.loaded is not None
        return self.loaded.lowering.tracepoints.taken()


def _host(at: str) -> str:
    """Return the host of ``at``, which is written as user@host:port/path."""
    return at.rpartition("@")[2].partition("/")[0].partition(":")[0]


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _below(root: Path, path: str) -> Path:
    """Return the place of a copy: relative paths between files stay as they are."""
    return root / Path(path).relative_to(Path(path).anchor)


def run_federates(
    source: LfSource,
    loaded: LoadedProgram,
    program: Program,
    federates: Federates,
    *,
    workers: int | None = None,
    start_multiple: int = 1,
    gather: Gather | None = None,
    restarts: int = 0,
    at_start: Callable[[Watch], object] | None = None,
    nodes: RayFederation | None = None,
    **options: Any,  # noqa: ANN401
) -> Result:
    """Run a federated program with a process of this machine for each federate.

    Args:
        source: The file.
        loaded: The file as loaded in this process, which gets all trace points.
        program: Its program.
        federates: Its federates; see ``federates_of``.
        workers: Threads of each federate; None: they share the cores.
        start_multiple: The time of the first tag is a multiple of this.
        gather: Wait for processes that join, instead of starting them.
        restarts: How often a federate begins again whose process is gone.
        at_start: Called with a ``Watch`` of all federates, before they run.
        nodes: Start them on the nodes of a Ray cluster.
        options: Further options of ``reactorl.run``.

    Raises:
        FederationError: A federate could not be started, or is gone.
        ReactionError: A body raised.
    """
    cut, placed = federates.cut, federates.federation
    if nodes is not None:
        hosts = {name: _host(at) for name, at in federates.hosts.items()}
        placed = nodes.with_hosts(placed, hosts)
        paths = [file.source.path.resolve() for file in loaded.linked.files]
        source = replace(source, texts={str(each): each.read_bytes() for each in paths})
    if workers is None:
        workers = workers_of_each(cut, placed)
    given = {"shuffle": 0, "stay_home": False, "freeze": False, **options}
    made = make_options(program, workers=workers, **given)
    parts = (source, program, placed, cut, made)
    if gather is None:
        encrypt = loaded.linked.properties.encrypted
        result, noted = run_locally(
            *parts,
            encrypt=encrypt,
            start_multiple=start_multiple,
            restarts=restarts,
            at_start=at_start,
        )
    else:
        result, noted = run_joining(
            *parts,
            gather,
            start_multiple=start_multiple,
            restarts=restarts,
            at_start=at_start,
        )
    for notes in noted:
        loaded.lowering.tracepoints.add(notes)  # type: ignore[arg-type]
    return result
