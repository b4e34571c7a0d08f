"""The committed stub is what the extension says of itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PATTERNS = Path(__file__).parents[2] / "cpp" / "bind" / "stub.pat"
STUB = PATTERNS.parents[2] / "src" / "reactorl" / "_core.pyi"


def test_the_stub_is_up_to_date(tmp_path: Path) -> None:
    pytest.importorskip("nanobind", reason="the stub generator is a build requirement")
    fresh = tmp_path / "_core.pyi"

    subprocess.run(
        [
            *(sys.executable, "-m", "nanobind.stubgen"),
            *("-m", "reactorl._core", "-p", str(PATTERNS), "-o", str(fresh)),
        ],
        check=True,
        capture_output=True,
    )

    assert fresh.read_text() == STUB.read_text(), "run: make stubs"
