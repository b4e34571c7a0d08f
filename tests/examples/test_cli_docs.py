# SPDX-License-Identifier: Apache-2.0
"""The page on the command line lists every command, and no other."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def test_page_lists_every_command() -> None:
    usage = subprocess.run(
        [sys.executable, "-W", "error", "-m", "reactorl", "--help"],
        capture_output=True,
        check=True,
        text=True,
        timeout=200,
    ).stdout

    listed = re.findall(
        r"^\| `reactorl (\w+)", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    commands = re.findall(r"^  ([a-z]+)  +\S", usage, re.MULTILINE)

    assert len(commands) > 10
    assert sorted(listed) == sorted(commands)
