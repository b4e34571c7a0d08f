# SPDX-License-Identifier: Apache-2.0
"""The README starts with what users get, is short, and its links lead to files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from page_blocks import blocks

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("link", re.findall(r"\]\((?!https?:)([^)#]+)", README))
def test_links_lead_to_files(link: str) -> None:
    assert (ROOT / link).is_file()


def test_readme_shows_a_vector_env_then_a_program_with_output() -> None:
    first, second, third = blocks(README)

    assert "VectorEnv(" in first.text
    assert "(Reactor)" in second.text
    assert (second.language, third.language) == ("python", "text")


def test_readme_has_a_diagram_a_benchmark_and_the_two_commands() -> None:
    assert re.search(r"!\[[^]]+\]\(docs/pictures/\w+\.svg\)", README)
    assert re.search(r"!\[[^]]+\]\(docs/benchmarks/\w+\.svg\)", README)
    assert "`make train`" in README
    assert "`make test`" in README


def test_readme_starts_with_features_and_explains_reactors_later() -> None:
    headings = re.findall(r"^## (.+)$", README, re.MULTILINE)
    introduction = README.partition("\n## ")[0]

    assert headings[:2] == ["Try it", "How it works"]
    assert re.search(r"\b[Rr]eactors?\b", introduction) is None
    assert len(introduction.splitlines()) <= 40
    assert len(README.splitlines()) < 150
