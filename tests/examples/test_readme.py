# SPDX-License-Identifier: Apache-2.0
"""The README sells on one screen, and what it points to is there."""

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


def test_it_has_a_program_two_pictures_and_the_two_commands() -> None:
    first, second, *_ = blocks(README)

    assert (first.language, second.language) == ("python", "text")
    assert re.search(r"!\[[^]]+\]\(docs/pictures/\w+\.svg\)", README)
    assert re.search(r"!\[[^]]+\]\(docs/benchmarks/\w+\.svg\)", README)
    assert "`make train`" in README
    assert "`make test`" in README
    assert len(README.splitlines()) < 150
