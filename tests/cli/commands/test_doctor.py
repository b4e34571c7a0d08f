# SPDX-License-Identifier: Apache-2.0
"""``reactorl doctor``: facts, a self-check, and advice that follows from them."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import Any

import pytest

from reactorl.cli.commands import doctor
from reactorl.cli.doctor import system_info as facts
from reactorl.cli.doctor.advice import advice
from reactorl.cli.doctor.packages import EXTRAS, imported

ROOT = Path(__file__).parents[3]
FREE = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
FINE: dict[str, Any] = {
    "reactorl": {"version": "1", "place": "p", "extension": "e", "built_with": []},
    "python": {
        "version": "3.14.0",
        "implementation": "CPython",
        "compiler": "GCC",
        "executable": "python",
        "free_threaded": True,
        "debug_build": False,
        "optimised": True,
        "gil": False,
        "why": "as built",
        "start_method": "forkserver",
    },
    "machine": {
        "system": "Linux",
        "libc": None,
        "cpu": "c",
        "cores": 4,
        "usable_cores": 4,
        "cgroup_cores": None,
        "load": 0.1,
        "memory_gib": 8.0,
        "memfd": True,
        "dev_shm_mib": 64,
    },
    "packages": {name: "1" for names in EXTRAS.values() for name in names},
    "environment": {},
    "imports": {},
    "self_check": {"ok": True, "digest": "0" * 32},
}


def given(section: str, **changes: object) -> dict[str, Any]:
    changed = copy.deepcopy(FINE)
    changed[section].update(changes)
    return changed


def run_doctor(*args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "reactorl", "doctor", *args],
        capture_output=True,
        check=False,
        text=True,
        env={**os.environ, **environment},
        timeout=120,
    )


# -- the command ----------------------------------------------------------------------


def test_everything_is_there_as_json() -> None:
    done = run_doctor("--json", "--quick", OMP_NUM_THREADS="3")
    found = json.loads(done.stdout)

    assert (done.returncode, done.stderr) == (0, "")
    assert found["python"]["version"] == sys.version.split()[0]
    assert found["python"]["free_threaded"] is FREE
    assert found["python"]["gil"] is not FREE
    assert found["machine"]["usable_cores"] == len(os.sched_getaffinity(0))
    assert found["environment"]["OMP_NUM_THREADS"] == "3"
    assert Path(found["reactorl"]["extension"]).is_file()
    assert found["reactorl"]["compiler"].split()[0] in ("gcc", "clang")
    assert len(found["self_check"]["digest"]) >= 16
    assert not any(one["broken"] for one in found["advice"])
    assert any("has a GIL" in one["what"] for one in found["advice"]) is not FREE


def test_people_read_the_same_as_text() -> None:
    done = run_doctor("--quick", PYTHONHASHSEED="5")

    assert (done.returncode, done.stderr) == (0, "")
    for part in (
        "reactorl ",
        "extension",
        "self-check  the same digest",
        "\nmachine\n",
    ):
        assert part in done.stdout
    assert "\x1b" not in done.stdout
    assert "environment\n  PYTHONHASHSEED  5\n" in done.stdout


@pytest.mark.skipif(not FREE, reason="without a GIL only")
def test_a_gil_that_was_asked_for_is_found() -> None:
    found = json.loads(run_doctor("--json", "--quick", PYTHON_GIL="1").stdout)

    assert found["python"]["gil"] is True
    (what,) = (o["what"] for o in found["advice"] if o["what"].startswith("the GIL"))
    assert what == "the GIL is on: asked for with PYTHON_GIL=1 or -X gil=1"


def test_no_package_is_imported() -> None:
    code = (
        "import sys; from reactorl.cli.main import main; main(['doctor', '--quick']);"
        "print(*({'numpy', 'jax', 'gymnasium', 'torch', 'reactorl._core'} "
        "& sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )
    assert done.stdout.splitlines()[-1] == ""


NO_EXTENSION = """\
import sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "reactorl._core":
            raise ImportError("undefined symbol")

sys.meta_path.insert(0, Finder())
"""


def test_a_broken_extension_is_reported_and_everything_else_too(
    tmp_path: Path,
) -> None:
    (tmp_path / "sitecustomize.py").write_text(NO_EXTENSION)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])

    done = run_doctor("--quick", PYTHONPATH=path)

    assert done.returncode == 1
    assert done.stderr == ""
    assert "self-check  FAILED: status 1: ImportError: undefined symbol" in done.stdout
    assert "\nbroken\n  - the self-check failed" in done.stdout
    assert "\npackages\n" in done.stdout


# -- the self-check -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ('print(\'["a", "a", "b"]\')', "digests differ: a, a, b"),
        ("import os; os.abort()", "status -6: "),
        ("print('?')", "JSONDecodeError: "),
        ("import time; time.sleep(60)", "TimeoutExpired: "),
    ],
)
def test_whatever_goes_wrong_in_the_check_is_said(
    program: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "python"
    (tmp_path / "check.py").write_text(program)
    real = sys.executable
    script.write_text(f'#!/bin/sh\nexec "{real}" "{tmp_path}/check.py"\n')
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))

    found = doctor.check_itself(seconds=2 if "sleep" in program else 30)

    assert found["ok"] is False
    assert found["problem"].startswith(problem)


# -- advice ---------------------------------------------------------------------------


def test_where_all_is_well_there_is_no_advice() -> None:
    assert advice(FINE) == []
    *_, last = doctor.lines(FINE, [], colours=False)
    assert last == "nothing to improve"


@pytest.mark.parametrize(
    ("changed", "what", "fix"),
    [
        (given("python", free_threaded=False, gil=True), "has a GIL", "3.14t"),
        (given("python", gil=True, why="asked for"), "the GIL is on", "Unset PYTHON"),
        (given("python", gil=True, why="a module"), "the GIL is on", "PYTHON_GIL=0"),
        (given("imports", **{"ale-py": "gil"}), "importing ale-py turns", "process"),
        (given("python", debug_build=True), "a debug build", "release"),
        (given("python", optimised=False), "profile-guided", "--with-lto"),
        (given("reactorl", built_with=["assertions"]), "with assertions", "release"),
        (given("machine", usable_cores=2), "2 of 4 cores", "taskset"),
        (given("machine", cgroup_cores=1.5), "limit of 1.5 cores", "--workers 1"),
        (given("machine", usable_cores=1, cores=1), "there is one core", "do not"),
        (given("machine", load=3.5), "busy (load 3.5", "measurements"),
        (given("packages", torch="2"), "of Torch may use all", "OMP_NUM_THREADS=1"),
        (given("packages", jax=None), "for train: jax", "'reactorl[train]'"),
        (given("packages", **{"ale-py": None}), "for atari", "docs/atari.md"),
    ],
)
def test_each_rule_says_what_and_the_way_out(
    changed: dict[str, Any], what: str, fix: str
) -> None:
    (one,) = advice(changed)

    assert what in one.what
    assert fix in one.fix
    assert not one.broken
    assert not one.what.endswith(".")


def test_what_is_broken_comes_first() -> None:
    changed = given("python", free_threaded=False)
    changed["self_check"] = {"ok": False, "problem": "status 1: no"}
    changed["imports"] = {"jax": "ImportError: no"}

    found = advice(changed)

    assert [one.broken for one in found] == [True, True, False]
    text = "\n".join(doctor.lines(changed, found, colours=True))
    assert "\x1b[1;31mbroken\x1b[0m" in text


def test_extras_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    for extra, names in EXTRAS.items():
        wanted = project["optional-dependencies"][extra]
        found = [w.split(">")[0].split(";")[0].strip() for w in wanted]
        needed = {n for n in found if not n.startswith(("reactorl", "opencv"))}
        assert needed == set(names)


# -- facts ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"proc/self/cgroup": "0::/a/b\n"}, None),
        (
            {
                "proc/self/cgroup": "0::/a/b\n",
                "sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
                "sys/fs/cgroup/a/cpu.max": "150000 100000\n",
            },
            1.5,
        ),
        (
            {
                "proc/self/cgroup": "4:memory:/x\n3:cpu,cpuacct:/d\n",
                "sys/fs/cgroup/cpu/d/cpu.cfs_quota_us": "200000\n",
                "sys/fs/cgroup/cpu/d/cpu.cfs_period_us": "100000\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            2.0,
        ),
        ({"proc/self/cgroup": "nonsense"}, None),
        ({}, None),
    ],
)
def test_limits_of_containers_are_found(
    files: dict[str, str], cores: float | None, tmp_path: Path
) -> None:
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    assert facts.cgroup_cores(tmp_path) == cores


def test_a_compiled_file_tells_how_it_was_built(tmp_path: Path) -> None:
    file = tmp_path / "x.so"
    file.write_bytes(b"\0GCC: (Debian 12.2.0-14) 12.2.0\0__assert_fail\0")
    assert facts.extension_facts(file) == {
        "compiler": "gcc 12.2.0",
        "built_with": ["assertions"],
    }
    file.write_bytes(b"Ubuntu clang version 18.1.3 \0__tsan_init")
    assert facts.extension_facts(file) == {
        "compiler": "clang 18.1.3",
        "built_with": ["thread sanitizer"],
    }
    assert facts.extension_facts(tmp_path / "none.so") == {}


@pytest.mark.skipif(not FREE, reason="elsewhere the GIL is always on")
def test_packages_that_cannot_be_imported_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fine.py").write_text("print('hello')")
    (tmp_path / "broken.py").write_text("1 / 0")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    found = imported({"fine": "1", "broken": "1", "absent": None})

    assert found == {"broken": "ZeroDivisionError: division by zero"}
