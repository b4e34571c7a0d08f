# SPDX-License-Identifier: Apache-2.0
"""Docs, sources and help use the terms of the glossary: banned words are rejected."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATHS = (
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile", "mkdocs.yml"),
    *("docs/*.md", "examples/*", "src/*.py", "tools/*.py"),
)

BANNED = {
    r"whoever|whomever": "name the subject: the caller, the worker",
    r"somebody|nobody|anybody": "name the subject, or use the passive voice",
    r"seats?": "sub-environment",
    r"compan(?:y|ies)|crews?": "shard",
    r"pupils?": "agent",
    r"manieth": "every 64th",
    r"bequeath\w*": "restore",
    r"told|heard": "serialized, deserialized; reported, received; distinguished",
    r"(?:go|goes|going|went|gone) on": "continue",
    r"worth(?! it\b)(?! \w+ing)": "value, cost",
    r"dear|dearer|dearest": "expensive",
    r"likeliest": "greedy",
    r"(?:was|were) due": "expected",
    r"(?:can|could|cannot|to) be had": "available",
    r"never meets?": "without synchronization",
    r"(?:runs|trainings|they) part": "diverge",
    r"what (?:came|comes|became) of": "result",
    r"befalls?|mend(?:s|ed|ing)?": "happens to; fix",
    r"(?<!there )is no(?! (?:longer|later|earlier|more|less|fewer|larger|smaller))": (
        "is not a"
    ),
}
"""Patterns, and what to write instead. Identifiers are checked, too."""

ALLOWED: dict[str, tuple[str, ...]] = {
    # The name of a bank: random streams are derived from it, so results depend on it.
    "src/reactorl/rl/flow/multi_agent_program.py": (
        "--> pupil[0..m)",
        'AGENT: Final = "pupil"',
    ),
}
"""Parts of lines that may contain a banned word, by file."""


def _files() -> list[str]:
    command = ["git", "ls-files", *PATHS]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip("not a Git checkout")
    return done.stdout.split()


def _violations(text: str, pattern: str) -> list[tuple[int, str]]:
    """Return the lines with a match that neither letters precede nor follow."""
    word = re.compile(rf"(?<![a-z])(?:{pattern})(?![a-z])", re.IGNORECASE)
    lines = enumerate(text.splitlines(), start=1)
    return [(number, line.strip()) for number, line in lines if word.search(line)]


@pytest.mark.parametrize("pattern", BANNED)
def test_no_file_uses_a_banned_word(pattern: str) -> None:
    found = [
        f"{name}:{number}: {line}"
        for name in _files()
        for number, line in _violations((ROOT / name).read_text("utf-8"), pattern)
        if not any(part in line for part in ALLOWED.get(name, ()))
    ]

    assert found == [], f"use instead: {BANNED[pattern]}"


def test_every_exception_is_needed() -> None:
    for name, parts in ALLOWED.items():
        text = (ROOT / name).read_text("utf-8")
        lines = [line for pattern in BANNED for _, line in _violations(text, pattern)]
        for part in parts:
            assert any(part in line for line in lines), (name, part)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Whoever is late waits.", 1),
        ("the seat's company", 2),
        ("self._crew = crews", 1),
        ("This is no reactor.", 1),
        ("There is no list to extend.", 0),
        ("It is no longer used, and is no later than that.", 0),
        ("It is worth sharing, and worth it.", 0),
        ("How much a reward is worth", 1),
        ("a retold story about accompanying", 0),
        ("The runs part; B went on.", 2),
    ],
)
def test_banned_words_are_found(text: str, expected: int) -> None:
    assert sum(len(_violations(text, pattern)) for pattern in BANNED) == expected


def test_files_of_all_kinds_are_checked() -> None:
    files = _files()

    assert {"README.md", "docs/vector.md", "docs/coming-from/ray.md"} <= set(files)
    assert {"src/reactorl/cli/main.py", "examples/hello.py"} <= set(files)
