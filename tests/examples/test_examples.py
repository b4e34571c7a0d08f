# SPDX-License-Identifier: Apache-2.0
"""Every example prints its stored output, byte for byte, and is in the index."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAMS = sorted(EXAMPLES.glob("*.py"))
LF = sorted((EXAMPLES / "lf").glob("*.lf"))
INDEX = (EXAMPLES / "README.md").read_text(encoding="utf-8")
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
NOT_FREE_THREADED = {"ray", "stable_baselines3", "torch"}
"""Packages without wheels for free-threaded Python; all others must be installed."""


def _imports(path: Path) -> set[str]:
    """Return the packages that a program imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


def _docstring(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert text is not None
    return text


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_example_prints_its_stored_output(program: Path) -> None:
    for package in sorted(_imports(program) & NOT_FREE_THREADED):
        if FREE_THREADED and find_spec(package) is None:
            pytest.skip(f"{package} is not available on free-threaded Python")

    done = subprocess.run(
        [sys.executable, "-W", "error", program],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        timeout=250,
    )

    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    expected = program.with_suffix(".out").read_text(encoding="utf-8")
    assert done.stdout.decode() == expected


def test_every_stored_output_has_a_program() -> None:
    stored = {path.stem for path in EXAMPLES.glob("*.out")}

    assert stored == {path.stem for path in PROGRAMS}
    assert len(PROGRAMS) >= 13


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_docstring_describes_example_and_how_to_run_it(program: Path) -> None:
    first, empty, *rest = _docstring(program).splitlines()

    assert first.endswith(".")
    assert empty == ""
    assert len(rest) >= 3
    command = f"Run it: ``python examples/{program.name}``"
    assert rest[-1].startswith(command)
    extra = re.fullmatch(
        r"( \(needs ``reactorl\[[a-z0-9]+\]``\))?", rest[-1][len(command) :]
    )
    assert extra is not None, rest[-1]
    third_party = _imports(program) - sys.stdlib_module_names - {"reactorl"}
    uses_rl = "from reactorl.rl import" in program.read_text(encoding="utf-8")
    assert bool(extra[0]) == bool(third_party or uses_rl)


def test_index_lists_every_example_with_its_first_line() -> None:
    listed = re.findall(r"^\| \[`(.+?)`\]\((.+?)\) \| (.+?) \|", INDEX, re.MULTILINE)

    assert all(name == target for name, target, _ in listed)
    found = {name: text for name, _, text in listed}
    assert len(found) == len(listed)
    first = {p.name: _docstring(p).splitlines()[0] for p in PROGRAMS}
    for path in LF:
        line = path.read_text(encoding="utf-8").splitlines()[0]
        first[f"lf/{path.name}"] = line.removeprefix("// ")
    assert found == {name: text.replace("``", "`") for name, text in first.items()}


@pytest.mark.parametrize("extra", sorted(set(re.findall(r"reactorl\[(.+?)\]", INDEX))))
def test_index_names_the_extra_an_example_needs(extra: str) -> None:
    for path in PROGRAMS:
        (row,) = (r for r in INDEX.splitlines() if r.startswith(f"| [`{path.name}`]"))
        needed = f"``reactorl[{extra}]``" in _docstring(path)
        assert (f"`reactorl[{extra}]`" in row) == needed, path.name
