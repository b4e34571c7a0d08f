# SPDX-License-Identifier: Apache-2.0
"""Every LF example is formatted, valid, and prints its stored output byte for byte."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = sorted((Path(__file__).parents[2] / "examples" / "lf").glob("*.lf"))
REAL_TIME = {"deadline"}


def _reactorl(*arguments: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "reactorl", *map(str, arguments)],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        timeout=250,
    )


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
@pytest.mark.parametrize("workers", [1, 4])
def test_example_prints_its_stored_output(program: Path, workers: int) -> None:
    done = _reactorl("run", program, "--workers", workers)

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == program.with_suffix(".out").read_bytes()


def test_examples_are_formatted_and_valid() -> None:
    assert len(PROGRAMS) >= 5
    assert _reactorl("fmt", "--check", *PROGRAMS).returncode == 0
    done = _reactorl("check", *PROGRAMS)
    assert done.stderr.decode() == f"{len(PROGRAMS)} files: no problems\n"


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_only_real_time_examples_wait_for_the_clock(program: Path) -> None:
    text = program.read_text(encoding="utf-8")

    assert ("fast: true" not in text and "timer" in text) == (program.stem in REAL_TIME)
