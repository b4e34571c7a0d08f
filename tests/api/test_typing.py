# SPDX-License-Identifier: Apache-2.0
"""The type checker accepts good programs and finds the marked mistakes in bad ones."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import reactorl
from tests.api import typed_programs

HERE = Path(__file__).parent
ERROR = re.compile(r"[^:]+:(\d+): error: .*\[([\w-]+)\]")


def check(program: Path, cache: Path) -> list[tuple[int, str]]:
    """Return the lines and codes of the errors that mypy finds in ``program``."""
    pytest.importorskip("mypy")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--no-error-summary"),
            *("--no-incremental", "--follow-imports=silent", "--show-error-codes"),
            *("--config-file=", "--cache-dir", str(cache), program.name),
        ],
        cwd=program.parent,
        env={"MYPYPATH": str(Path(reactorl.__file__).parents[1]), "PATH": ""},
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return [
        (int(found[1]), found[2])
        for line in done.stdout.splitlines()
        if (found := ERROR.fullmatch(line))
    ]


def test_good_programs_have_no_type_errors(tmp_path: Path) -> None:
    assert check(HERE / "typed_programs.py", tmp_path) == []


def test_each_marked_mistake_is_found_and_nothing_else(tmp_path: Path) -> None:
    source = (HERE / "ill_typed_programs.py").read_text()
    program = tmp_path / "ill_typed_programs.py"
    program.write_text(source.replace("# mypy: ignore-errors", "#"))
    expected = [
        (number, mark[1])
        for number, line in enumerate(source.splitlines(), 1)
        if (mark := re.search(r"# E: ([\w-]+)$", line))
    ]

    assert check(program, tmp_path / "cache") == expected


def test_types_of_an_installed_package_are_used(tmp_path: Path) -> None:
    # mypy treats PYTHONPATH like site-packages: types count only with py.typed.
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text("from reactorl import msec\nreveal_type(msec(1))\n")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--config-file="),
            *("--cache-dir", str(tmp_path / "cache"), program.name),
        ],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(reactorl.__file__).parents[1]), "PATH": ""},
        capture_output=True,
        check=False,
        text=True,
    )

    assert 'Revealed type is "' in done.stdout
    assert '"Any"' not in done.stdout
    assert "py.typed" not in done.stdout


@pytest.mark.parametrize("name", ["Main", "Light", "Retry", "RunningMean"])
def test_good_programs_are_good_programs(name: str) -> None:
    program = reactorl.elaborate(getattr(typed_programs, name))

    assert program.order.level
