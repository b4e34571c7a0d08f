"""The Python blocks of the README run, in order, and print what stands below them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples.snippets import write_programs

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)
MARK = "=== next block"


def test_code_prints_what_the_readme_says(tmp_path: Path) -> None:
    blocks = BLOCK.findall(README)
    script = tmp_path / "readme.py"
    write_programs(README, tmp_path)
    script.write_text(f"print({MARK!r})\n".join(f"{code}\n" for code, _ in blocks))

    done = subprocess.run(
        [sys.executable, "-W", "error", script],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        text=True,
        timeout=120,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.split(f"{MARK}\n") == [expected for _, expected in blocks]


def test_every_python_block_is_found() -> None:
    assert len(BLOCK.findall(README)) == README.count("```python") >= 2


@pytest.mark.parametrize("link", re.findall(r"\]\((?!https?:)([^)#]+)", README))
def test_links_lead_to_files(link: str) -> None:
    assert (ROOT / link).is_file()


def test_every_make_target_that_is_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")

    for target in re.findall(r"`make ([a-z-]+)", README):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
