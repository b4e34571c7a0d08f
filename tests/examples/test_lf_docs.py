# SPDX-License-Identifier: Apache-2.0
"""The LF guide documents every attribute, option and target property."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from reactorl.lf.link.property_kinds import KINDS
from reactorl.lf.link.rules.attributes import SPECS

GUIDE = Path(__file__).parents[2] / "docs" / "lf.md"


def test_guide_documents_every_attribute_option_and_property() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    usage = subprocess.run(
        [sys.executable, "-W", "error", "-m", "reactorl", "run", "--help"],
        capture_output=True,
        check=True,
        text=True,
        timeout=200,
    ).stdout

    for attribute in SPECS:
        assert f"`@{attribute}" in text, attribute
    for option in sorted(set(re.findall(r"--[a-z-]+", usage)) - {"--help"}):
        assert f"`{option}" in text, option
    for known in KINDS:
        assert f"`{known}`" in text, known
