# SPDX-License-Identifier: Apache-2.0
"""``reactorl doctor``: facts, self-check and advice, as text and JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from reactorl.cli.commands import doctor
from reactorl.cli.doctor.advice import Advice
from reactorl.cli.support.console import plain
from tests.cli.doctor.facts import FINE

FREE = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


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


def test_json_has_all_facts() -> None:
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
    assert found["native_environments"]["CartPoleEnv"] == ""
    assert not any(one["broken"] for one in found["advice"])
    assert any("has a GIL" in one["what"] for one in found["advice"]) is not FREE


def test_text_has_all_sections() -> None:
    done = run_doctor("--quick", PYTHONHASHSEED="5")

    assert (done.returncode, done.stderr) == (0, "")
    for part in (
        "reactorl ",
        "extension",
        "environments in native code",
        "self-check  same digest",
        "\nmachine\n",
    ):
        assert part in done.stdout
    assert "\x1b" not in done.stdout
    assert "environment\n  PYTHONHASHSEED  5\n" in done.stdout


@pytest.mark.skipif(not FREE, reason="free-threaded Python only")
def test_requested_gil_is_reported() -> None:
    found = json.loads(run_doctor("--json", "--quick", PYTHON_GIL="1").stdout)

    assert found["python"]["gil"] is True
    (what,) = (o["what"] for o in found["advice"] if o["what"].startswith("the GIL"))
    assert what == "the GIL is on: requested by PYTHON_GIL=1 or -X gil=1"


def test_packages_are_not_imported() -> None:
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


def test_broken_extension_is_reported_with_all_other_facts(
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
def test_failures_of_the_self_check_are_reported(
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


# -- text -----------------------------------------------------------------------------


def test_report_without_advice() -> None:
    assert plain(list(doctor.report(doctor._sections(FINE), []))).endswith(
        "\n\nnothing to improve\n"
    )


def test_repairs_are_marked_in_the_report() -> None:
    found = [Advice("no extension", "Build it.", broken=True), Advice("slow", "Wait.")]

    parts = list(doctor.report(doctor._sections(FINE), found))

    assert ("broken\n", "bold red") in parts
    assert plain(parts).endswith(
        "broken\n  - no extension\n    -> Build it.\n"
        "recommended\n  - slow\n    -> Wait.\n"
    )
