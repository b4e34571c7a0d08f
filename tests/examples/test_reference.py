# SPDX-License-Identifier: Apache-2.0
"""The reference documents every public name exactly once."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs" / "reference"


def _entries(page: str) -> list[str]:
    text = (PAGES / page).read_text(encoding="utf-8")
    return re.findall(r"^::: ([\w.]+)$", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("package", "page"), [("reactorl", "reactorl.md"), ("reactorl.rl", "rl.md")]
)
def test_every_public_name_has_an_entry(package: str, page: str) -> None:
    entries = _entries(page)

    expected = [f"{package}.{name}" for name in import_module(package).__all__]

    assert sorted(set(entries)) == sorted(entries)
    assert sorted(set(expected) - set(entries)) == []


@pytest.mark.parametrize("name", ["testing", "trace", "lf", "diagram", "dashboard"])
def test_page_documents_a_whole_package(name: str) -> None:
    assert _entries(f"{name}.md") == [f"reactorl.{name}"]
