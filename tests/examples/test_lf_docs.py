"""What documents say about LF is so: programs, commands, and Python code."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from reactorl.lf.property_kinds import KINDS
from reactorl.lf.rules.attributes import SPECS
from tests.examples.snippets import CONSOLE, PROGRAM, commands, write_programs

ROOT = Path(__file__).parents[2]
TEXTS = {
    name: (ROOT / name).read_text(encoding="utf-8")
    for name in ("README.md", "docs/lf.md")
}
PYTHON = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```\n", re.DOTALL)


def _output(directory: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        cwd=directory,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("name", TEXTS)
def test_commands_print_what_stands_below_them(name: str, tmp_path: Path) -> None:
    text = TEXTS[name]
    assert len(write_programs(text, tmp_path)) == text.count("```lf\n") > 0

    for command, expected in commands(text):
        program, *arguments = shlex.split(command)
        assert program == "reactorl"
        found = _output(tmp_path, "-m", "reactorl", *arguments)
        assert found == (0, expected), command


@pytest.mark.parametrize("name", TEXTS)
def test_every_block_is_found(name: str) -> None:
    assert len(PROGRAM.findall(TEXTS[name])) == TEXTS[name].count("```lf")
    assert len(CONSOLE.findall(TEXTS[name])) == TEXTS[name].count("```console")
    assert commands(TEXTS[name])


def test_python_code_of_the_guide_prints_what_stands_below_it(tmp_path: Path) -> None:
    text = TEXTS["docs/lf.md"]
    write_programs(text, tmp_path)
    blocks = PYTHON.findall(text)

    assert len(blocks) == text.count("```python") > 0
    for code, expected in blocks:
        (tmp_path / "guide.py").write_text(code, encoding="utf-8")
        assert _output(tmp_path, "guide.py") == (0, expected)


def test_the_guide_tells_of_every_attribute_option_and_property(tmp_path: Path) -> None:
    text = TEXTS["docs/lf.md"]
    _, usage = _output(tmp_path, "-m", "reactorl", "run", "--help")

    for attribute in SPECS:
        assert f"`@{attribute}" in text, attribute
    for option in sorted(set(re.findall(r"--[a-z-]+", usage)) - {"--help"}):
        assert f"`{option}" in text, option
    for known in KINDS:
        assert f"`{known}`" in text, known
