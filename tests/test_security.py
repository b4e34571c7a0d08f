# SPDX-License-Identifier: Apache-2.0
"""Sentences of docs/security.md that can be tested.

Those about the dashboard are in tests/dashboard:

- loopback only: test_server.py::test_it_listens_on_the_loopback_interface_only
- the secret: test_server.py::test_without_the_token_there_is_nothing, new for every
  run: test_server.py::test_two_dashboards_have_nothing_in_common
- Host: test_server.py::test_another_name_for_this_machine_is_rejected
- read-only: test_server.py::test_nothing_can_be_sent, ::test_there_are_no_other_pages
- text, not HTML: test_page.py::test_hostile_names_and_values_are_text

Those about federated runs are in tests/federation:

- the handshake: test_handshake.py::test_each_mismatch_is_its_own_error_on_both_sides,
  ::test_nothing_is_sent_before_the_secret_is_proved_but_a_hello
- the secret: test_secret.py::test_secrets_are_256_random_bits, new for every run:
  test_local.py::test_every_run_has_a_secret_of_its_own, how it gets to federates:
  test_local.py::test_no_process_knows_the_secret_from_its_command_line,
  test_secret.py::test_secret_passes_through_a_pipe_that_a_child_inherits
- sizes: test_frames.py::test_absurd_sizes_are_refused_before_memory_is_allocated

Others that exist already:

- invalid checkpoints with a correct digest:
  tests/rl/checkpoint/test_file.py::test_invalid_content_with_a_correct_digest_raises
- recordings with pickles: tests/runtime/test_physical.py
- shared memory without a name: tests/rl/envs/test_shared_memory.py, and
  tests/rl/envs/test_process_backend.py
- compiled programs: tests/rl/algorithms/test_compilation_cache.py::
  test_a_directory_that_others_can_write_is_not_used,
  ::test_settings_of_the_user_come_first
- the cache: tests/rl/envs/test_thread_safety.py::test_verdict_is_kept_in_the_cache,
  ::test_cache_that_cannot_be_written_is_ignored
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import reactorl.lf
from reactorl._util.cache_directory import cache_directory
from reactorl.cli.commands.doctor import check_itself
from reactorl.cli.doctor.packages import imported
from reactorl.cli.main import main
from reactorl.rl import VectorEnv
from reactorl.rl.envs.thread_safety.probe import run_probe
from reactorl.rl.runs.revision import revision

PACKAGE = Path(reactorl.__file__).parent
ROOT = Path(__file__).parents[1]
PROGRAM = """\
target Python {{fast: true, timeout: 1 ms}}

preamble {{=
  from pathlib import Path
  Path({mark!r}).touch()
=}}

main reactor {{
  timer t(0, 1 ms)
  reaction(t) {{= pass =}}
}}
"""


TOUCH = """\
from pathlib import Path
Path({mark!r}).touch()
raise ImportError("this module is a stranger's")
"""
TRAINING = [
    "--env-id=CartPole-v1", "--no-preset", "--num-envs=2", "--num-steps=8",
    "--total-timesteps=64", "--hidden=8", "--num-minibatches=1", "--eval-every=0",
    "--final-episodes=1", "--no-progress",
]  # fmt: skip


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file that exists if a program's code was executed."""
    monkeypatch.chdir(tmp_path)
    found = tmp_path / "executed"
    (tmp_path / "a.lf").write_text(PROGRAM.format(mark=str(found)))
    return found


@pytest.mark.parametrize("line", ["check a.lf", "fmt --check a.lf", "fmt a.lf"])
def test_check_and_fmt_execute_no_code(line: str, mark: Path) -> None:
    assert main(line.split()) in (0, 1)

    assert not mark.exists()


@pytest.mark.parametrize("line", ["run a.lf", "graph a.lf"])
def test_run_and_graph_execute_the_program(line: str, mark: Path) -> None:
    assert main(line.split()) == 0

    assert mark.exists()


def test_load_executes_the_program(mark: Path) -> None:
    reactorl.lf.load(mark.with_name("a.lf"))

    assert mark.exists()


def test_nothing_listens_without_the_dashboard(
    mark: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: socket.socket, *_args: object) -> None:
        pytest.fail(f"{self} listens")

    monkeypatch.setattr(socket.socket, "listen", refuse)
    monkeypatch.setattr(socket.socket, "bind", refuse)

    assert main(["run", "a.lf"]) == 0
    assert mark.exists()


# -- connections -----------------------------------------------------------------------

AUDIT = """\
import os, sys
EVENTS = ("socket.", "urllib.", "http.", "ftplib.", "smtplib.", "telnetlib.")

def note(event, args):
    if event.startswith(EVENTS):
        family = int(args[1]) if event == "socket.__new__" else ""
        if event == "socket.bind" and isinstance(args[1], str):
            directory = os.path.dirname(args[1])
            found = os.stat(directory)
            family = f"{{oct(found.st_mode & 0o777)}}:{{found.st_uid}}:{{directory}}"
        with open({log!r}, "a") as file:
            file.write(f"{{os.getpid()}} {{event}} {{family}}\\n")

sys.addaudithook(note)
"""


def audited(tmp_path: Path, *command: str) -> list[tuple[str, str, str]]:
    """Run a command; return pid, event and family of what it does with sockets.

    For ``bind`` to a path it is the mode, the owner and the name of the directory.

    The hook is in ``sitecustomize``, which processes that it starts import as well.
    """
    site, log = tmp_path / "site", tmp_path / "log"
    site.mkdir()
    log.touch()
    (site / "sitecustomize.py").write_text(AUDIT.format(log=str(log)))
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = []
    for line in log.read_text().splitlines():
        pid, event, family = line.split(" ")
        found.append((pid, event, family))
    return found


def script() -> str:
    """Return the command ``reactorl`` of this interpreter."""
    found = Path(sysconfig.get_path("scripts")) / "reactorl"
    if not found.exists():
        pytest.skip("the command is not installed")
    return str(found)


def test_training_in_processes_connects_to_nothing(tmp_path: Path) -> None:
    hostile_directory(tmp_path, tmp_path / "executed")

    found = audited(
        tmp_path, script(), "train", "ppo", "--placement=process", *TRAINING
    )

    assert not (tmp_path / "executed").exists()
    assert list((tmp_path / "runs").iterdir())
    assert len({pid for pid, _, _ in found}) >= 2  # with those of workers
    families = {family for _, event, family in found if event == "socket.__new__"}
    assert families <= {str(int(socket.AF_UNIX)), "-1"}  # -1: an inherited descriptor
    # A message gives a worker its memory; TensorBoard's files are named by the machine.
    harmless = {"socket.__new__", "socket.sendmsg", "socket.gethostname"}
    assert {event for _, event, _ in found} <= harmless


FEDERATED = """\
target Python {timeout: 2 ms, fast: true}
reactor Ramp {
  output y
  timer t(0, 1 ms)
  reaction(t) -> y {= y.set(1) =}
}
reactor Sink {
  input x
  reaction(x) {= print("got", x.value) =}
}
federated reactor {
  ramp = new Ramp()
  sink = new Sink()
  ramp.y -> sink.x
}
"""


def test_a_federated_run_listens_in_a_private_directory_only(tmp_path: Path) -> None:
    (tmp_path / "pair.lf").write_text(FEDERATED)

    found = audited(tmp_path, script(), "run", "--federated", "pair.lf")

    assert len({pid for pid, _, _ in found}) >= 2  # with those of federates
    families = {family for _, event, family in found if event == "socket.__new__"}
    assert families == {str(int(socket.AF_UNIX))}
    places = {place for _, event, place in found if event == "socket.bind"}
    assert places
    for place in places:
        mode, owner, directory = place.split(":", 2)
        assert (mode, owner) == ("0o700", str(os.geteuid()))
        assert not Path(directory).exists()  # it is removed when the run ends


@pytest.mark.parametrize(
    ("call", "event"),
    [
        ("connect_ex(('127.0.0.1', 9))", "socket.connect"),
        ("bind(('127.0.0.1', 0))", "socket.bind"),
        ("sendto(b'', ('127.0.0.1', 9))", "socket.sendto"),
    ],
)
def test_the_audit_sees_connections(tmp_path: Path, call: str, event: str) -> None:
    code = f"import socket; socket.socket(type=socket.SOCK_DGRAM).{call}"

    found = audited(tmp_path, sys.executable, "-c", code)

    assert [name for _, name, _ in found] == ["socket.__new__", event]
    assert found[0][2] == str(int(socket.AF_INET))


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_sockets_and_memory_of_workers_have_no_name() -> None:
    envs = VectorEnv("CartPole-v1", 2, placement="process", workers=2)
    envs.reset(seed=1)
    unix = {}  # a path, if there is one, is the eighth word
    for line in Path("/proc/net/unix").read_text().splitlines()[1:]:
        words = line.split()
        unix[words[6]] = words[7:]

    for pid in envs._backend.pids:  # type: ignore[union-attr]
        files = []
        for path in Path(f"/proc/{pid}/fd").iterdir():
            try:
                files.append(str(path.readlink()))
            except FileNotFoundError:
                continue
        sockets = {name[8:-1] for name in files if name.startswith("socket:[")}
        own = sockets - inherited_sockets()
        assert own
        assert {tuple(unix[inode]) for inode in own} == {()}  # no TCP: a KeyError
        maps = Path(f"/proc/{pid}/maps").read_text().splitlines()
        shared = [line for line in maps if re.match(r"\S+ .w.s", line)]  # writable
        assert shared
        assert all("/memfd:reactorl (deleted)" in line for line in shared)
    envs.close()


def inherited_sockets() -> set[str]:
    """Return sockets that processes inherit as standard streams."""
    names = [str(Path(f"/proc/self/fd/{fd}").readlink()) for fd in (0, 1, 2)]
    return {name[8:-1] for name in names if name.startswith("socket:[")}


def _imports(*names: str) -> dict[str, set[str]]:
    """Return which modules of the package import which of the names."""
    found: dict[str, set[str]] = {}
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            given: list[str] = []
            if isinstance(node, ast.Import):
                given = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                given = [node.module or ""]
            roots = {name.partition(".")[0] for name in given} & set(names)
            if roots:
                found.setdefault(file.relative_to(PACKAGE).as_posix(), set()).update(
                    roots
                )
    return found


def test_network_modules_are_imported_for_workers_dashboard_and_tracking_only() -> None:
    found = _imports(
        "aiohttp", "asyncio", "ftplib", "http", "httpx", "requests", "smtplib",
        "socket", "socketserver", "ssl", "urllib", "urllib3", "wandb", "webbrowser",
        "xmlrpc",
    )  # fmt: skip

    assert found == {
        "dashboard/server.py": {"http", "socket", "socketserver"},
        "dashboard/view.py": {"socket"},  # the name of this machine
        **_federation(found),
        "rl/envs/process/child.py": {"socket"},
        "rl/envs/process/worker.py": {"socket"},
        "rl/runs/tensorboard.py": {"socket"},  # the name of this machine
        "rl/runs/trainer.py": {"wandb"},  # --track
    }


def _federation(found: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return what links between federates import: sockets and TLS only."""
    links = {name: used for name, used in found.items() if name.startswith("_feder")}
    assert set().union(*links.values()) == {"socket", "ssl"}
    return links


# -- files that execute code -----------------------------------------------------------


def hostile_directory(directory: Path, mark: Path) -> None:
    """Write modules with the names of others, which leave a mark if imported."""
    for name in ("cloudpickle", "gymnasium", "json", "numpy", "select", "tempfile"):
        (directory / f"{name}.py").write_text(TOUCH.format(mark=str(mark)))


def test_processes_import_nothing_of_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "executed"
    hostile_directory(tmp_path, mark)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])

    envs = VectorEnv("CartPole-v1", 2, placement="process", workers=1)
    envs.reset(seed=1)
    envs.close()
    assert run_probe([lambda: gym.make("CartPole-v1")] * 2).safe
    assert check_itself()["ok"]
    if sysconfig.get_config_var("Py_GIL_DISABLED"):  # what the command asks it for
        assert "(all)" not in imported({"numpy": "installed"})

    assert not mark.exists()
    # The mark is left where the directory is searched, as with python -c.
    subprocess.run(
        [sys.executable, "-c", "import json"], check=False, capture_output=True
    )
    assert mark.exists()


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a run whose environment names a harmless module."""
    place = tmp_path_factory.mktemp("finished")
    (place / "stranger.py").touch()
    training = [*TRAINING, "--env-id=stranger:CartPole-v1", f"--runs-dir={place}/runs"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setattr(sys, "path", [path for path in sys.path if path])
        assert main(["train", "ppo", *training]) == 0
    sys.modules.pop("stranger", None)
    (found,) = (place / "runs").iterdir()
    return found


@pytest.fixture
def stranger(
    tmp_path: Path, finished_run: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Return a copy of a run, beside which is a module that leaves a mark."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    shutil.copytree(finished_run, tmp_path / "runs" / "run")
    module = TOUCH.format(mark=str(tmp_path / "executed"))
    (tmp_path / "stranger.py").write_text(module)
    return tmp_path / "runs" / "run"


def change(run: Path, changes: dict[str, Any]) -> None:
    """Change settings in the configuration of a run."""
    file = run / "config.json"
    config = json.loads(file.read_text("utf-8"))
    assert set(changes) <= {*config["settings"], "algorithm"}
    for key, value in changes.items():
        (config if key == "algorithm" else config["settings"])[key] = value
    file.write_text(json.dumps(config))


NAMED: list[dict[str, Any]] = [
    {"env_id": "stranger:CartPole-v1"},
    {"env_id": "CartPole-v1", "wrappers": ["stranger:wrap"]},
    {"env_id": "CartPole-v1", "network": "stranger:net"},
]


def last_key(changes: dict[str, Any]) -> str:
    """Return the setting that names the module."""
    return [*changes][-1]


@pytest.mark.parametrize("line", ["eval runs/run", "train ppo --resume runs/run"])
@pytest.mark.parametrize("changes", NAMED, ids=last_key)
def test_eval_and_resume_import_what_the_configuration_names(
    changes: dict[str, Any], line: str, stranger: Path
) -> None:
    change(stranger, changes)

    assert main(line.split()) == 2

    assert Path("executed").exists()


@pytest.mark.parametrize("changes", NAMED, ids=last_key)
def test_modules_in_the_run_directory_are_not_found(
    changes: dict[str, Any], stranger: Path
) -> None:
    change(stranger, changes)
    Path("stranger.py").rename(stranger / "stranger.py")

    assert main(["eval", str(stranger)]) == 2

    assert not Path("executed").exists()


@pytest.mark.parametrize("line", ["eval runs/run", "train ppo --resume runs/run"])
def test_an_algorithm_is_not_imported_by_name(line: str, stranger: Path) -> None:
    change(stranger, {"algorithm": "stranger:PPO"})

    assert main(line.split()) == 2

    assert not Path("executed").exists()


def test_runs_are_listed_and_plotted_without_imports(stranger: Path) -> None:
    for changes in NAMED:
        change(stranger, changes)

    assert main(["runs"]) == 0
    assert main(["plot", str(stranger)]) in (0, 2)  # 2: without matplotlib

    assert not Path("executed").exists()


def test_the_revision_of_a_repository_executes_no_file_monitor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = shutil.which("git")
    if git is None:
        pytest.skip("git is not installed")
    monkeypatch.chdir(tmp_path)
    who = ["-c", "user.name=a", "-c", "user.email=a@localhost"]
    Path("file").touch()
    for words in (["init", "-q"], ["add", "file"], [*who, "commit", "-qm", "first"]):
        subprocess.run([git, *words], check=True)
    monitor, mark = tmp_path / "monitor", tmp_path / "executed"
    monitor.write_text(f"#!/bin/sh\ntouch '{mark}'\n")
    monitor.chmod(0o755)
    subprocess.run([git, "config", "core.fsmonitor", str(monitor)], check=True)

    assert re.fullmatch("[0-9a-f]{40}", revision())
    assert not mark.exists()

    subprocess.run([git, "status"], check=True, capture_output=True)
    assert mark.exists()


# -- files that execute nothing --------------------------------------------------------

TRACED = """\
target Python {fast: true, timeout: 1 ms}

reactor Source {
  output y
  timer t(0, 1 ms)
  reaction(t) -> y {=
    y.set("__import__('os').system('touch executed')")
  =}
}

main reactor {
  source = new Source()
}
"""
READ_TRACE = """\
import sys
from reactorl.cli.main import main

seen = []

def note(event, args):
    if event in EVENTS:
        seen.append(event)

EVENTS = ()
sys.addaudithook(note)
for _ in range(2):  # what is imported lazily is there the second time
    assert main(["trace", "a.trace"]) == 0
    assert main(["diff", "a.trace", "a.trace"]) == 0
    assert not seen, seen
    EVENTS = ("exec", "import", "os.system", "pickle.find_class", "subprocess.Popen")
exec("1")
assert seen == ["exec"]
"""


def test_reading_a_trace_executes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.lf").write_text(TRACED)
    (tmp_path / "read.py").write_text(READ_TRACE)
    run = [sys.executable, "-m", "reactorl", "run", "a.lf", "--trace", "a.trace"]
    for command in (run, [sys.executable, "read.py"]):
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr

    assert "touch executed" in (tmp_path / "a.trace").read_text()
    assert not (tmp_path / "executed").exists()


def test_code_is_executed_for_programs_only() -> None:
    assert _modules(loading="eval|exec") == {"lf/lower/compile.py"}


def _modules(*, loading: str) -> set[str]:
    """Return the modules of the package that contain a call ``loading``."""
    found = set()
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            is_call = isinstance(node, ast.Call)
            if is_call and re.fullmatch(loading, ast.unparse(node.func)):
                found.add(file.relative_to(PACKAGE).as_posix())
    return found


def test_pickles_are_read_from_own_processes_and_allowed_recordings_only() -> None:
    assert _modules(loading=r"(cloud)?pickle\.loads?|.*\.?Unpickler") == {
        "_runtime/recording.py",  # with allow_pickle=True
        "_federation/codec.py",  # between federates, after mutual authentication
        # From whoever may submit work to the cluster, and so execute code on it.
        "_federation/launch/on_ray/keeper.py",
        "_util/serialization.py",  # between a parent and its workers
        "rl/envs/thread_safety/child.py",  # from its parent
        "rl/envs/thread_safety/probe.py",  # from its child
    }


def test_servers_are_the_dashboard_and_federates_only() -> None:
    calls = r".*\.(listen|create_server|serve_forever|handle_request)"
    found = _modules(loading=calls)

    assert {name for name in found if not name.startswith("dashboard/")} == {
        "_federation/endpoint.py"
    }


def test_cache_is_where_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_directory() == tmp_path / "reactorl"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    assert cache_directory() == tmp_path / ".cache" / "reactorl"
    monkeypatch.setattr("sys.platform", "darwin")
    assert cache_directory() == tmp_path / "Library" / "Caches" / "reactorl"


def test_tests_that_are_named_here_exist() -> None:
    for folder, name in (
        ("dashboard", "test_it_listens_on_the_loopback_interface_only"),
        ("dashboard", "test_without_the_token_there_is_nothing"),
        ("dashboard", "test_two_dashboards_have_nothing_in_common"),
        ("dashboard", "test_another_name_for_this_machine_is_rejected"),
        ("dashboard", "test_nothing_can_be_sent"),
        ("dashboard", "test_there_are_no_other_pages"),
        ("dashboard", "test_hostile_names_and_values_are_text"),
        ("federation", "test_each_mismatch_is_its_own_error_on_both_sides"),
        (
            "federation",
            "test_nothing_is_sent_before_the_secret_is_proved_but_a_hello",
        ),
        ("federation", "test_secrets_are_256_random_bits"),
        ("federation", "test_every_run_has_a_secret_of_its_own"),
        ("federation", "test_no_process_knows_the_secret_from_its_command_line"),
        ("federation", "test_secret_passes_through_a_pipe_that_a_child_inherits"),
        ("federation", "test_absurd_sizes_are_refused_before_memory_is_allocated"),
        ("rl/checkpoint", "test_invalid_content_with_a_correct_digest_raises"),
        ("rl/envs", "test_verdict_is_kept_in_the_cache"),
        ("rl/envs", "test_cache_that_cannot_be_written_is_ignored"),
    ):
        files = (ROOT / "tests" / folder).glob("test_*.py")
        assert any(f"def {name}(" in file.read_text("utf-8") for file in files), name
