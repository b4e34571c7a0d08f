# SPDX-License-Identifier: Apache-2.0
"""The code in the guide to training prints what stands below it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "training.md").read_text("utf-8")
BLOCK = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```\n", re.DOTALL)


def test_the_code_prints_what_stands_below_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ((code, expected),) = BLOCK.findall(TEXT)
    exec(compile(code, "docs/training.md", "exec"), {})
    assert capsys.readouterr().out == expected


def test_files_that_are_named_exist() -> None:
    for name in re.findall(r"`(rl/[a-z_/]+\.py)`", TEXT):
        assert (ROOT / "src" / "reactorl" / name).is_file(), name
