# SPDX-License-Identifier: Apache-2.0
"""Mutants are judged in a copy of the tree, and the list of mutants is current."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import mutate
from mutants import MUTANTS, Mutant

if TYPE_CHECKING:
    from pathlib import Path

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


def test_names_are_unique() -> None:
    assert len({each.name for each in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("each", MUTANTS, ids=lambda each: each.name)
def test_listed_mutant_applies_and_has_tests(each: Mutant) -> None:
    text = (mutate.ROOT / each.file).read_text(encoding="utf-8")
    changed = mutate.mutated(text, each)

    compile(changed, each.file, "exec")
    assert changed != text
    for test in each.tests:
        path, *names = test.split("::")
        assert (mutate.ROOT / path).exists()
        for name in names:
            function = f"def {name.partition('[')[0]}("
            assert function in (mutate.ROOT / path).read_text(encoding="utf-8")
