# SPDX-License-Identifier: Apache-2.0
"""Sentences of docs/security.md that can be tested.

Those about the dashboard are in tests/dashboard:

- loopback only: test_server.py::test_it_listens_on_the_loopback_interface_only
- the secret: test_server.py::test_without_the_token_there_is_nothing, new for every
  run: test_server.py::test_two_dashboards_have_nothing_in_common
- Host: test_server.py::test_another_name_for_this_machine_is_rejected
- read-only: test_server.py::test_nothing_can_be_sent, ::test_there_are_no_other_pages
- text, not HTML: test_page.py::test_hostile_names_and_values_are_text

Others that exist already:

- invalid checkpoints with a correct digest:
  tests/rl/checkpoint/test_file.py::test_invalid_content_with_a_correct_digest_raises
- recordings with pickles: tests/runtime/test_physical.py
- shared memory without a name: tests/rl/envs/test_shared_memory.py, and
  tests/rl/envs/test_process_backend.py
- the cache: tests/rl/envs/test_thread_safety.py::test_verdict_is_kept_in_the_cache,
  ::test_cache_that_cannot_be_written_is_ignored
"""

from __future__ import annotations

import ast
import re
import socket
from pathlib import Path

import pytest

import reactorl.lf
from reactorl._util.cache_directory import cache_directory
from reactorl.cli.main import main

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
        "rl/envs/process/serialization.py",  # between a parent and its workers
        "rl/envs/thread_safety/child.py",  # from its parent
        "rl/envs/thread_safety/probe.py",  # from its child
    }


def test_servers_are_the_dashboard_only() -> None:
    calls = r".*\.(listen|create_server|serve_forever|handle_request)"

    assert {name.partition("/")[0] for name in _modules(loading=calls)} <= {"dashboard"}


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
        ("rl/checkpoint", "test_invalid_content_with_a_correct_digest_raises"),
        ("rl/envs", "test_verdict_is_kept_in_the_cache"),
        ("rl/envs", "test_cache_that_cannot_be_written_is_ignored"),
    ):
        files = (ROOT / "tests" / folder).glob("test_*.py")
        assert any(f"def {name}(" in file.read_text("utf-8") for file in files), name
