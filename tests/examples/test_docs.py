# SPDX-License-Identifier: Apache-2.0
"""Every code block of the documentation runs and prints the output shown below it."""

from __future__ import annotations

import re
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from docs_pictures import digest, drawn_from, steps
from page_blocks import Block, Picture, blocks, pictures, write_files
from page_run import PageRun
from tests.examples.snippets import same

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
TEXTS = {str(page.relative_to(ROOT)): page.read_text("utf-8") for page in PAGES}
SHELLS = ("console", "sh")


def _execute_page(name: str, directory: Path) -> None:
    page = steps(TEXTS[name])
    with PageRun(directory) as run:
        write_files(blocks(TEXTS[name]), run.directory)
        for step, after in pairwise([*page, Block(0, "", "")]):
            place = f"{name}:{step.line}"
            if isinstance(step, Picture):
                svg = (ROOT / name).parent / step.file
                assert drawn_from(svg) == digest(run.picture(step, name)), (
                    f"{place}: {step.file} is not up to date; run `make docs-pictures`"
                )
            elif step.file or not step.is_run:
                continue
            elif step.language == "python":
                is_shown = isinstance(after, Block) and after.language == "text"
                shown = after.text if is_shown else ""
                found = run.python(step, name)
                assert same(found, shown), f"{place} printed:\n{found}"
            elif step.language in SHELLS:
                _check_shell(run, step, place)


def _check_shell(run: PageRun, block: Block, place: str) -> None:
    done = run.shell(block)
    asked = [line == "echo $?" for line, _, _ in done[1:]] + [False]
    for (line, shown, found), status_is_shown in zip(done, asked, strict=True):
        assert found.status == 0 or status_is_shown, (
            f"{place}: `{line}` ended with {found.status}:\n{found.output}"
        )
        if shown is not None:
            numbers = block.marks.keys().isdisjoint(("in tests", "other numbers"))
            assert same(found.output, shown, numbers=numbers), (
                f"{place}: `{line}` printed:\n{found.output}"
            )


@pytest.mark.parametrize("name", TEXTS)
def test_blocks_run_and_print_the_output_shown(name: str, tmp_path: Path) -> None:
    _execute_page(name, tmp_path)


@pytest.mark.parametrize("name", TEXTS)
def test_every_block_is_run_or_gives_a_reason(name: str) -> None:
    page = blocks(TEXTS[name])
    everything = "".join(b.text for b in page if b.runs and b.language != "text")
    for before, block in pairwise([Block(0, "", ""), *page]):
        place = f"{name}:{block.line}"
        if not block.runs:
            continue
        if block.language == "text":
            assert before.language == "python", f"{place}: output without code above it"
            assert before.runs == block.runs, place
        elif block.file is not None:
            used = re.escape(block.file.removesuffix(".py"))
            count = len(re.findall(rf"\b{used}\b", everything))
            assert count > 1, f"{place}: nothing uses {block.file}"
        else:
            assert block.language in ("python", *SHELLS), (
                f"{place}: a block of language {block.language!r} is not run; "
                "put <!-- not run: REASON --> above it"
            )


def test_parser_finds_every_fence() -> None:
    for name, text in TEXTS.items():
        fences = re.findall(r"^ *(?:`{3}|~{3})", text, re.MULTILINE)
        assert len(fences) == 2 * len(blocks(text)), name


def test_modules_needed_by_blocks_are_installed() -> None:
    if sys.version_info >= (3, 13):
        pytest.skip("some have no wheels for this Python")
    for name, text in TEXTS.items():
        for block in blocks(text):
            missing = not block.is_there
            assert not missing, f"{name}:{block.line}"


def test_mentioned_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for name, text in TEXTS.items():
        for target in re.findall(
            r"(?:`|^|\$ )make ([a-z][a-z0-9-]+)", text, re.MULTILINE
        ):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), (name, target)


def test_every_picture_is_generated() -> None:
    made = {
        ((ROOT / name).parent / picture.file).resolve()
        for name, text in TEXTS.items()
        for picture in pictures(text)
    }
    for name, text in TEXTS.items():
        for file in re.findall(r"!\[[^]]*\]\(([^)]+)\)", text):
            path = ((ROOT / name).parent / file).resolve()
            by_benchmarks = path.is_relative_to(ROOT / "docs" / "benchmarks")
            assert path in made or by_benchmarks, f"{name}: {file}"
            assert path.is_file(), f"{name}: {file}"
    assert set((ROOT / "docs" / "pictures").glob("*.svg")) == made


def test_mentioned_source_files_exist() -> None:
    for name, text in TEXTS.items():
        for path in re.findall(r"`((?:rl|src|tests|tools|examples)/[\w/.]+)`", text):
            where = ROOT / "src/reactorl" if path.startswith("rl/") else ROOT
            assert (where / path).exists(), (name, path)


@pytest.mark.parametrize(
    ("found", "shown", "numbers", "expected"),
    [
        ("a 1\nb\n", "a 1\nb\n", True, True),
        ("a 2\nb\n", "a 1\nb\n", True, False),
        ("a 2\nb\n", "a 1\nb\n", False, True),
        ("a  2\nb\n", "a 1\nb\n", False, True),
        ("a 2\nc\n", "a 1\nb\n", False, False),
        ("a 2\nb\n", "a …\nb\n", True, True),
        ("a\nx\ny\nb\n", "a\n…\nb\n", True, True),
        ("a\nx\ny\nc\n", "a\n…\nb\n", True, False),
        ("a\nb\nc\n", "a\nb\n", True, False),
        ("", "a\n", True, False),
    ],
)
def test_output_comparison(
    found: str, shown: str, *, numbers: bool, expected: bool
) -> None:
    assert same(found, shown, numbers=numbers) is expected


def test_parser_finds_blocks_in_tabs_with_their_marks() -> None:
    text = (
        "text\n\n<!-- needs: ray -->\n\n```python\nx = 1\n```\n\n"
        '=== "Tab"\n\n    <!-- not run: a drawing -->\n'
        "    ~~~\n    a\n      b\n    ~~~\n"
        "\n```text\n```\n"
    )

    first, second, third = blocks(text)

    assert first == Block(6, "python", "x = 1\n", {"needs": "ray"})
    assert second == Block(13, "", "a\n  b\n", {"not run": "a drawing"})
    assert (third.text, third.marks, first.runs, second.runs) == ("", {}, True, False)
