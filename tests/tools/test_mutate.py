# SPDX-License-Identifier: Apache-2.0
"""Mutants are judged in a copy of the tree, and the list of mutants is current."""

from __future__ import annotations

import dataclasses
import os
import shutil
import sys
from pathlib import Path

import pytest

import mutate
from mutants import MUTANTS
from mutants.mutant import Mutant

CODE = """\
def larger(one: int, other: int) -> int:
    return one if one > other else other
"""
TESTS = """\
from tiny.runs.code import larger

def test_larger() -> None:
    assert larger(2, 1) == 2
    assert larger(1, 2) == 2
"""
FILE = "src/tiny/runs/code.py"


def mutant(name: str, before: str, after: str, test: str = "test_code.py") -> Mutant:
    return Mutant(name, FILE, before, after, (f"tests/{test}",), f"why {name}")


KILLED = mutant("tiny-killed", "one > other", "one < other")
SURVIVES = mutant("tiny-survives", "one > other", "one >= other")
STALE = mutant("tiny-stale", "one == other", "one != other")
BROKEN = mutant("other", "one > other", "one < other", "test_broken.py")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a project of one function; one of its test files fails."""
    files = {
        "pyproject.toml": "",
        "src/tiny/__init__.py": "",
        # Only the ``runs`` of the root is left out of the copy.
        "src/tiny/runs/__init__.py": "",
        "runs/large": "",
        FILE: CODE,
        "tests/test_code.py": TESTS,
        "tests/test_broken.py": "def test_broken() -> None:\n    assert False\n",
    }
    root = tmp_path / "project"
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def content(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_killed_and_survived_mutants_are_reported_and_the_tree_is_unchanged(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = content(project)

    status = mutate.main([], root=project, mutants=[KILLED, SURVIVES, KILLED])

    lines = capsys.readouterr().out.splitlines()
    assert status == 1
    assert [line.split(":")[0] for line in lines] == [
        "killed    tiny-killed",
        "survived  tiny-survives",
        "          why tiny-survives",
        "killed    tiny-killed",
        "killed 2 of 3 = 67%",
    ]
    assert "test_code.py" in lines[0]
    assert content(project) == before


def test_chosen_mutants_are_judged_alone(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    all_mutants = [KILLED, SURVIVES, STALE, BROKEN]

    assert mutate.main(["--only", KILLED.name], root=project, mutants=all_mutants) == 0

    assert capsys.readouterr().out.splitlines()[-1] == "killed 1 of 1 = 100%"
    with pytest.raises(SystemExit):
        mutate.main(["--only", "none"], root=project, mutants=all_mutants)
    assert "--only must name a mutant, got none" in capsys.readouterr().err


def test_mutants_that_cannot_be_judged_are_errors(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mutate.main([], root=project, mutants=[STALE, BROKEN]) == 1

    stale, broken, score = capsys.readouterr().out.splitlines()
    assert stale == (
        f"error     tiny-stale: text before must occur once in {FILE}, got 0 times"
    )
    assert broken.startswith("error     other: tests must pass without the mutant, got")
    assert score == "killed 0 of 0; 2 could not be judged"


def test_survivor_with_an_argument_is_not_a_failure(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argued = dataclasses.replace(SURVIVES, argument="equal numbers are the same")

    assert mutate.main([], root=project, mutants=[argued]) == 0

    survived, argument, score = capsys.readouterr().out.splitlines()
    assert survived.startswith("survived  tiny-survives: ")
    assert argument == "          equal numbers are the same"
    assert score == "killed 0 of 1 = 0%; 1 survived for a stated reason"


CPP_FILES = {
    "CMakeLists.txt": """\
cmake_minimum_required(VERSION 3.24)
project(tiny LANGUAGES CXX)
option(REACTORL_PYTHON "" ON)
if(REACTORL_PYTHON)
  # A module of Python stands for an extension: only what is installed counts.
  file(STRINGS cpp/number.hpp line)
  string(REGEX REPLACE ".*= ([0-9]+).*" "NUMBER = \\\\1\\n" text "${line}")
  set(module "${CMAKE_CURRENT_BINARY_DIR}/_core.py")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS cpp/number.hpp)
  file(CONFIGURE OUTPUT "${module}" CONTENT "${text}")
  install(FILES "${module}" DESTINATION tiny)
  add_library(core OBJECT cpp/core.cpp)
else()
  enable_testing()
  add_executable(number_test cpp/test/number_test.cpp)
  add_test(NAME number_test COMMAND number_test)
endif()
""",
    "cpp/number.hpp": "constexpr int number = 7;\n",
    "cpp/core.cpp": '#include "number.hpp"\nint use() { return number; }\n',
    "cpp/test/number_test.cpp": """\
#include <cstdio>
#include "../number.hpp"
int main() {
  if (number == 7) return 0;
  std::puts("FAILED number_is_seven");
  return 1;
}
""",
    "tests/test_core.py": """\
from tiny._core import NUMBER

def test_number() -> None:
    assert NUMBER == 7
""",
}


def needs_cmake() -> None:
    beside = Path(sys.executable).parent
    if not shutil.which("ninja", path=str(beside)) or not shutil.which("c++"):
        pytest.skip("needs a compiler, and CMake and Ninja beside the interpreter")


def add_cpp(project: Path) -> None:
    for name, text in CPP_FILES.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def cpp_mutant(name: str, after: str, test: str) -> Mutant:
    return Mutant(name, "cpp/number.hpp", "= 7;", after, (test,), f"why {name}")


def test_mutants_of_cpp_are_compiled_and_judged(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    needs_cmake()
    add_cpp(project)
    in_cpp, in_python = "cpp/test/number_test.cpp", "tests/test_core.py"
    before = content(project)

    status = mutate.main(
        [],
        root=project,
        mutants=[
            cpp_mutant("cpp-killed", "= 8;", in_cpp),
            cpp_mutant("cpp-survives", "= 6 + 1;", in_cpp),
            cpp_mutant("cpp-broken", "= seven;", in_cpp),
            cpp_mutant("bind-killed", "= 8;", in_python),
            cpp_mutant("bind-broken", "= seven + 8;", in_python),
            # The extension is that of the clean code again.
            dataclasses.replace(KILLED, tests=(in_python,)),
        ],
    )

    lines = capsys.readouterr().out.splitlines()
    assert status == 1
    assert lines[0] == "killed    cpp-killed: FAILED number_is_seven"
    assert lines[1].startswith("survived  cpp-survives: 1 C++ tests passed")
    assert lines[2] == "          why cpp-survives"
    assert lines[3].startswith(
        "error     cpp-broken: code must compile with the mutant, got"
    )
    assert lines[4].startswith("killed    bind-killed: FAILED tests/test_core.py")
    assert lines[5].startswith(
        "error     bind-broken: code must compile with the mutant, got"
    )
    assert lines[6].startswith("survived  tiny-killed: 1 passed")
    assert lines[8:] == [
        "cpp          killed 1 of 2 = 50%",
        "bind         killed 1 of 1 = 100%",
        "tiny         killed 0 of 1 = 0%",
        "killed 2 of 4 = 50%; 2 could not be judged",
    ]
    assert content(project) == before


def test_mutant_with_an_old_time_is_compiled(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As if the clock had been set back since the code without it was compiled."""
    needs_cmake()
    add_cpp(project)
    write_text = Path.write_text

    def old(path: Path, *text: str, **how: str) -> int:
        written = write_text(path, *text, **how)
        os.utime(path, (1e9, 1e9))
        return written

    monkeypatch.setattr(Path, "write_text", old)
    in_cpp, in_python = "cpp/test/number_test.cpp", "tests/test_core.py"
    status = mutate.main(
        [],
        root=project,
        mutants=[
            cpp_mutant("bind-killed", "= 8;", in_python),
            cpp_mutant("cpp-killed", "= 8;", in_cpp),
        ],
    )

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("killed    bind-killed: FAILED tests/test_core.py")
    assert lines[1] == "killed    cpp-killed: FAILED number_is_seven"
    assert status == 0


def test_mutant_of_what_is_not_built_is_an_error(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    needs_cmake()
    add_cpp(project)
    (project / "cpp" / "other.hpp").write_text("constexpr int other = 7;\n")
    monkeypatch.setattr(mutate, "_NOTICED_WITHIN", 0.0)
    unused = dataclasses.replace(
        cpp_mutant("cpp-unused", "= 8;", "cpp/test/number_test.cpp"),
        file="cpp/other.hpp",
    )

    assert mutate.main([], root=project, mutants=[unused]) == 1

    assert capsys.readouterr().out.splitlines()[0] == (
        "error     cpp-unused: what its tests run must be built from cpp/other.hpp"
    )


def test_names_are_unique() -> None:
    assert len({each.name for each in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("each", MUTANTS, ids=lambda each: each.name)
def test_listed_mutant_applies_and_has_tests(each: Mutant) -> None:
    text = (mutate.ROOT / each.file).read_text(encoding="utf-8")
    changed = mutate.mutated(text, each)

    if each.file.endswith(".py"):
        compile(changed, each.file, "exec")
    assert changed != text
    assert each.has_cpp_tests or not any("cpp/" in test for test in each.tests)
    for test in each.tests:
        path, *names = test.split("::")
        assert (mutate.ROOT / path).exists()
        for name in names:
            function = f"def {name.partition('[')[0]}("
            assert function in (mutate.ROOT / path).read_text(encoding="utf-8")
