# SPDX-License-Identifier: Apache-2.0
"""Federates on a Ray cluster of three nodes: results, errors, losses."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("ray", reason="Ray has no release for this Python")

import ray

from reactorl import (
    FederationError,
    RayFederation,
    ReactionError,
    Reactor,
    reaction,
    run,
    startup,
    trace,
)
from reactorl._federation.launch.on_ray import launcher
from reactorl._federation.launch.on_ray.launcher import RayLauncher
from reactorl._federation.launch.on_ray.process import KeptProcess
from reactorl._federation.secret import SECRET_BYTES, RunSecret
from reactorl.rl import Callback, Trainer
from reactorl.testing import assert_same_trace
from tests.federation.local_programs import Ticking
from tests.federation.networked import ALL
from tests.federation.ray_cluster import CPUS, add_node, ray_cluster
from tests.rl.runs.test_federates import QUIET, TASK, left_in
from tests.rl.scripts import gone, start_script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reactorl import Result

TWO = {"main.ticker": "a", "main.reader": "b"}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with ray_cluster() as made:
        yield made


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of one process."""
    path = tmp_path_factory.mktemp("one") / "run"
    Trainer(TASK, path, trace=True, **QUIET).fit()
    return path


def ticking(kind: str, **changes: Any) -> Result:
    given: dict[str, Any] = {"fast": True, "timeout": 6, "trace": True, **changes}
    return run(Ticking(kind=kind), **given)


def federates_of(session: Any) -> Any:
    """Return the federates of a training under way."""
    return session._run.session._federates


class Disturbing(Callback):
    """Does something to the first federate after some iterations."""

    def __init__(
        self, *numbers: int, acts: Sequence[Callable[[Any], object]] = ()
    ) -> None:
        self.numbers = list(numbers)
        self.acts = list(acts)
        self.nodes: set[str] = set()
        self.pids: list[int] = []

    def on_iteration(self, session: Any, iteration: Any) -> None:
        federates = federates_of(session)
        self.nodes |= {facts.node for facts in federates._launcher._facts}
        self.pids += [p.pid for p in federates.processes if p.pid not in self.pids]
        if self.numbers and iteration.number == self.numbers[0]:
            del self.numbers[0]
            self.acts.pop(0)(federates)


def kill_federate(federates: Any) -> None:
    os.kill(federates.processes[0].pid, signal.SIGKILL)


def kill_keeper(federates: Any) -> None:
    os.kill(parent_of(federates.processes[0].pid), signal.SIGKILL)


def parent_of(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(r"^PPid:\s(\d+)", status, re.MULTILINE)[0])


def raylet_of(keeper: int) -> int:
    environ = Path(f"/proc/{keeper}/environ").read_bytes()
    return int(re.findall(rb"RAY_RAYLET_PID=(\d+)", environ)[0])


# -- the result is that of one process -------------------------------------------------


@pytest.mark.usefixtures("cluster")
def test_nodes_give_the_result_of_one_process(
    capfd: pytest.CaptureFixture[str],
) -> None:
    alone = ticking("Printer")
    capfd.readouterr()

    parts = ticking("Printer", federation=RayFederation(TWO))

    assert_same_trace(parts.trace, alone.trace)
    assert parts.digest == alone.digest
    said = capfd.readouterr()
    assert "[b] count 3\n" in said.out
    assert "[b] count 3 to stderr\n" in said.err


@pytest.mark.parametrize(
    "federates",
    [
        pytest.param(2, marks=pytest.mark.slow),
        pytest.param(4, marks=pytest.mark.slow),
        None,
    ],
)
def test_training_on_nodes_is_that_of_one_process(
    federates: int | None, cluster: Any, one: Path, tmp_path: Path
) -> None:
    seen = Disturbing()

    Trainer(
        TASK,
        tmp_path,
        nodes="ray",
        federates=federates,
        trace=True,
        callbacks=[seen],
        **QUIET,
    ).fit()

    assert left_in(tmp_path) == left_in(one)
    name = "rounds-from-1.trace.gz"
    ours, theirs = trace.load(tmp_path / name), trace.load(one / name)
    assert trace.digest(ours.trace) == trace.digest(theirs.trace)
    # None: one for each node, and this process.
    assert len(seen.nodes) == len(seen.pids) == (federates or 4) - 1
    assert gone(seen.pids)
    limit = time.monotonic() + 60  # Ray takes some time to release them
    while ray.available_resources().get("CPU") != len(cluster.list_all_nodes()) * CPUS:
        assert time.monotonic() < limit
        time.sleep(0.1)


# -- errors ----------------------------------------------------------------------------


@pytest.mark.usefixtures("cluster")
def test_an_exception_is_that_of_one_process() -> None:
    case = ALL["failing"]
    options: dict[str, Any] = {"seed": 5, "fast": True, **case.options}
    with pytest.raises(ReactionError) as alone:
        run(case.main, **options)
    with pytest.raises(ReactionError) as parts:
        run(case.main, **options, federation=RayFederation(case.placement))

    assert str(parts.value) == str(alone.value)
    assert isinstance(parts.value.__cause__, ValueError)


@pytest.mark.usefixtures("cluster")
def test_a_federate_that_is_killed_is_named_with_its_node() -> None:
    with pytest.raises(FederationError) as raised:
        ticking("Killed", federation=RayFederation(TWO))

    address = ray.util.get_node_ip_address()
    text = str(raised.value)
    assert "federate b was lost: its process" in text
    assert "was killed by SIGKILL" in text
    assert f"on node {address}" in text
    assert "these are my last words" in raised.value.__notes__[0]


@pytest.mark.usefixtures("cluster")
def test_too_few_cpus_are_an_error_at_once() -> None:
    begin = time.monotonic()

    with pytest.raises(FederationError) as raised:
        ticking("Reader", federation=RayFederation(TWO, cpus_per_federate=CPUS + 1))

    text = str(raised.value)
    assert f"reserving 3 federates with {CPUS + 1} CPU each on the Ray cluster" in text
    assert "failed: the cluster is too small" in text
    assert f"has {CPUS} CPU; " in text
    assert re.search(r"Free at present: \d+ CPU\. Use fewer federates", text)
    assert time.monotonic() - begin < 60


@pytest.mark.usefixtures("cluster")
def test_resources_in_use_are_waited_for_as_long_as_wanted() -> None:
    @ray.remote(num_cpus=CPUS)
    class Hog:
        def here(self) -> bool:
            return True

    hogs = [Hog.remote() for _ in range(3)]
    assert all(ray.get([hog.here.remote() for hog in hogs]))
    try:
        with pytest.raises(FederationError, match="no room within"):
            ticking("Reader", federation=RayFederation(TWO, patience=0.5))
    finally:
        for hog in hogs:
            ray.kill(hog)

    assert ticking("Reader", federation=RayFederation(TWO)).digest


@pytest.mark.usefixtures("cluster")
def test_an_interpreter_that_is_not_there_is_named(tmp_path: Path) -> None:
    nowhere = tmp_path / "python"

    with pytest.raises(FederationError) as raised:
        ticking("Reader", federation=RayFederation(TWO, python=nowhere))

    assert "starting federate head on node" in str(raised.value)
    assert f"No such file or directory: '{nowhere}'" in str(raised.value)


# -- losses ----------------------------------------------------------------------------


@pytest.mark.usefixtures("cluster")
def test_after_a_loss_the_training_starts_again_with_the_same_result(
    one: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    seen = Disturbing(3, 5, acts=[kill_federate, kill_keeper])

    Trainer(
        TASK, tmp_path, nodes="ray", federates=3, restarts=2, callbacks=[seen], **QUIET
    ).fit()

    assert left_in(tmp_path) == left_in(one)
    assert len(seen.pids) == 6
    assert gone(seen.pids)
    texts = [record.getMessage() for record in caplog.records]
    found = [text for text in texts if "The training starts again" in text]
    assert [text[-3:] for text in found] == [" 1.", " 0."]


def test_a_lost_node_changes_nothing_but_time(
    cluster: Any, one: Path, tmp_path: Path
) -> None:
    killed: list[int] = []

    def kill(federates: Any) -> None:
        own = ray.get_runtime_context().get_node_id()
        nodes = [facts.node for facts in federates._launcher._facts]
        victim = next(n for n, node in enumerate(nodes) if node != own)
        keeper = parent_of(federates.processes[victim].pid)
        killed.append(raylet_of(keeper))
        os.kill(killed[0], signal.SIGKILL)

    seen = Disturbing(3, acts=[kill])
    add_node(cluster)  # so that another one can take its place

    Trainer(
        TASK, tmp_path, nodes="ray", federates=3, restarts=2, callbacks=[seen], **QUIET
    ).fit()

    assert len(killed) == 1
    assert left_in(tmp_path) == left_in(one)
    assert gone(seen.pids)


@pytest.mark.usefixtures("cluster")
def test_an_old_federate_that_still_runs_does_not_disturb_its_successor(
    one: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old: list[int] = []
    ends: list[Callable[[], object]] = []
    close, kill = RayLauncher.close, KeptProcess.kill

    def give_up(process: KeptProcess) -> None:
        process._killed = True

    def disturb(federates: Any) -> None:
        if not old:  # as if Ray could not end the first life: it hangs, and stays
            monkeypatch.setattr(RayLauncher, "close", lambda made: ends.append(made))
            monkeypatch.setattr(KeptProcess, "kill", give_up)
            old.extend(process.pid for process in federates.processes)
            for pid in old:
                os.kill(pid, signal.SIGSTOP)
            federates.server.lost(federates.processes[0].index, "its node is silent")
        else:
            monkeypatch.setattr(RayLauncher, "close", close)
            monkeypatch.setattr(KeptProcess, "kill", kill)
            for pid in old:
                os.kill(pid, signal.SIGCONT)
            time.sleep(0.5)  # what they have to say arrives meanwhile

    seen = Disturbing(3, 5, acts=[disturb, disturb])
    try:
        Trainer(
            TASK,
            tmp_path,
            nodes="ray",
            federates=3,
            restarts=1,
            callbacks=[seen],
            **QUIET,
        ).fit()
    finally:
        for made in ends:
            close(made)

    assert len(old) == 2
    assert left_in(tmp_path) == left_in(one)
    assert gone(seen.pids)


def test_after_the_death_of_the_head_another_number_of_nodes_continues(
    cluster: Any, one: Path, tmp_path: Path
) -> None:
    text = f"""
        import os, signal
        from pathlib import Path
        from reactorl.rl import Callback, Trainer
        from tests.rl.runs.test_federates import QUIET, TASK

        class Dying(Callback):
            def on_iteration(self, session, iteration):
                if iteration.number == 5:
                    processes = session._run.session._federates.processes
                    print(*[process.pid for process in processes], flush=True)
                    os.kill(os.getpid(), signal.SIGKILL)

        Trainer(
            TASK, Path({str(tmp_path / "run")!r}), nodes="ray", federates=4,
            ray_address={cluster.address!r}, callbacks=[Dying()], **QUIET,
        ).fit()
    """
    process = start_script(text, tmp_path / "script.py")
    said, errors = process.communicate(timeout=250)
    assert process.returncode == -signal.SIGKILL, errors
    pids = [int(word) for word in said.split()]
    assert len(pids) == 3
    assert gone(pids)

    Trainer(
        TASK, tmp_path / "run", resume=True, nodes="ray", federates=2, **QUIET
    ).fit()

    assert left_in(tmp_path / "run") == left_in(one)


# -- the run's secret ------------------------------------------------------------------


@pytest.mark.usefixtures("cluster")
def test_the_secret_is_nowhere_that_others_can_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = bytes(range(64, 64 + SECRET_BYTES))
    monkeypatch.setattr(RunSecret, "generate", lambda: RunSecret(key))
    spellings = (key, key.hex().encode(), repr(key)[2:-1].encode())
    found: list[str] = []

    def look(federates: Any) -> None:
        pid = federates.processes[0].pid
        keeper = parent_of(pid)
        found.append("")
        for process in (pid, keeper, raylet_of(keeper)):
            for kind in ("cmdline", "environ"):
                data = Path(f"/proc/{process}/{kind}").read_bytes()
                assert data
                found.extend(kind for each in spellings if each in data)

    Trainer(
        TASK,
        tmp_path,
        nodes="ray",
        federates=2,
        callbacks=[Disturbing(2, acts=[look])],
        **QUIET,
    ).fit()

    context = ray.get_runtime_context()
    logs = Path(context.get_temp_dir()) / context.get_session_name() / "logs"
    files = [path for path in logs.rglob("*") if path.is_file()]
    assert any(path.name.startswith("head-1-") for path in files)
    for path in files:
        data = path.read_bytes()
        found.extend(str(path) for each in spellings if each in data)
    assert found == [""]


# -- the command line ------------------------------------------------------------------


def test_commands_run_on_the_cluster(cluster: Any, one: Path, tmp_path: Path) -> None:
    (tmp_path / "two.lf").write_text(
        """
        target Python { fast: true, timeout: 2 ms }
        preamble {= import beside =}
        reactor A { output y; timer t(0, 1 ms); reaction(t) -> y {= y.set(3) =} }
        reactor B { input x; reaction(x) {= print(beside.twice(x.value)) =} }
        federated reactor { a = new A(); b = new B(); a.y -> b.x }
        """
    )
    (tmp_path / "beside.py").write_text("def twice(x):\n    return 2 * x\n")

    done = subprocess.run(
        [*COMMAND, "run", "two.lf", "--federated", "--nodes", "ray"],
        cwd=tmp_path,
        env={**os.environ, "RAY_ADDRESS": cluster.address},
        capture_output=True,
        text=True,
        check=False,
        timeout=250,
    )

    assert (done.stdout, done.returncode) == ("[b] 6\n" * 3, 0), done.stderr


def test_address_where_nothing_answers_is_an_error_at_once(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(*COMMAND, "train", "q-learning", "--nodes", "ray"),
            *("--ray-address", "127.0.0.1:1", "--runs-dir", str(tmp_path)),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=250,
    )

    assert done.returncode == 1
    assert "connecting to the Ray cluster at 127.0.0.1:1 failed: " in done.stderr
    assert "Connection refused" in done.stderr


COMMAND = [sys.executable, "-m", "reactorl"]


# -- another Python --------------------------------------------------------------------

FREE_THREADED = Path(sys.prefix).parent / "ft" / "bin" / "python"


@pytest.mark.skipif(not FREE_THREADED.exists(), reason="not made by `make`")
@pytest.mark.usefixtures("cluster")
def test_federates_in_free_threaded_python_have_the_same_result(
    one: Path, tmp_path: Path
) -> None:
    seen: list[str] = []

    def look(federates: Any) -> None:
        pids = (process.pid for process in federates.processes)
        seen.extend(Path(f"/proc/{pid}/exe").resolve().name for pid in pids)

    Trainer(
        TASK,
        tmp_path,
        nodes="ray",
        federates=3,
        python=str(FREE_THREADED),
        mixed=True,  # it may have other versions of packages
        callbacks=[Disturbing(1, acts=[look])],
        **QUIET,
    ).fit()

    assert len(seen) == 2
    assert all(re.fullmatch(r"python3\.\d+t", name) for name in seen)
    assert left_in(tmp_path) == left_in(one)


@pytest.mark.usefixtures("cluster")
def test_a_node_that_computes_other_bits_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = {"python": "0" * 16}
    monkeypatch.setattr(launcher, "_own_fingerprint", lambda packages: other)

    with pytest.raises(FederationError) as raised:
        ticking("Reader", federation=RayFederation(TWO))

    assert "ended with status 1 on node" in str(raised.value)
    note = raised.value.__notes__[0]
    assert "numeric results must be those of the head, got others of python" in note
    ticking("Reader", federation=RayFederation(TWO, mixed=True))


@pytest.mark.usefixtures("cluster")
def test_program_of_a_script_is_refused_for_another_version(tmp_path: Path) -> None:
    other = tmp_path / "python"
    other.write_text("#!/bin/sh\necho 3.99\n")
    other.chmod(0o700)

    class Local(Reactor):
        @reaction(startup)
        def begin(self) -> None:
            pass

    with pytest.raises(FederationError) as raised:
        run(Local, federation=RayFederation(num_federates=1, python=other))

    text = str(raised.value)
    assert "the program must be importable, because" in text
    assert f"than the process that sends it: 3.99, not {sys.version_info[0]}." in text
    assert "Define its reactors in a module, not in a script." in text
