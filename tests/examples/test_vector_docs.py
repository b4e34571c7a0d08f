# SPDX-License-Identifier: Apache-2.0
"""The code in the guide to the vector environment runs, block after block."""

from __future__ import annotations

import re
from pathlib import Path

BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


def test_every_block_runs() -> None:
    text = (Path(__file__).parents[2] / "docs" / "vector.md").read_text("utf-8")
    blocks = BLOCK.findall(text)
    assert len(blocks) == text.count("```python") >= 3
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "docs/vector.md", "exec"), names)
