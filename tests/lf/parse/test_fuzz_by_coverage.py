"""A short coverage-guided search for texts that crash the parser or the formatter."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("atheris", reason="it has no wheel for this Python")

ROOT = Path(__file__).resolve().parents[3]


def test_fuzzer_finds_no_crash(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    programs = sorted((ROOT / "tests" / "conformance").rglob("*.lf"))[::10]
    for n, program in enumerate(programs):
        shutil.copy(program, corpus / f"{n}.lf")

    done = subprocess.run(
        [
            *(sys.executable, "-m", "tests.lf.parse.fuzz"),
            *("-runs=4000", "-max_len=600", "-seed=1", "-timeout=20"),
            f"-artifact_prefix={tmp_path}/",
            str(corpus),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr[-4000:]
    assert "Done 4000 runs" in done.stderr
