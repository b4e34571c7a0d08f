# SPDX-License-Identifier: Apache-2.0
"""The committed stubs are what the extensions say of themselves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PATTERNS = ROOT / "cpp" / "bind" / "stub.pat"


@pytest.mark.parametrize(
    ("module", "options"),
    [
        ("reactorl._core", ("-p", str(PATTERNS))),
        ("reactorl.rl.wrappers._resize", ()),
        ("reactorl.rl.envs._stepping", ()),
        ("reactorl.rl.envs.native._bodies", ()),
        ("reactorl.rl.envs._preemption", ()),
    ],
)
def test_the_stub_is_up_to_date(
    module: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    pytest.importorskip("nanobind", reason="the stub generator is a build requirement")
    stub = (ROOT / "src" / Path(*module.split("."))).with_suffix(".pyi")
    fresh = tmp_path / stub.name

    subprocess.run(
        [
            *(sys.executable, "-m", "nanobind.stubgen"),
            *("-m", module, *options, "-o", str(fresh)),
        ],
        check=True,
        capture_output=True,
    )

    assert fresh.read_text() == stub.read_text(), "run: make stubs"
