# SPDX-License-Identifier: Apache-2.0
"""Draw the diagrams of the documentation from the code above them.

Run it with an interpreter that has the package installed: ``make docs-pictures``. Each
picture ends with the digest of the DOT text it was drawn from. The DOT text depends on
the page alone, whereas Graphviz renders it differently from version to version, so
tests compare the digests.
"""

from __future__ import annotations

import hashlib
import re
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from page_blocks import Picture, blocks, pictures, write_files
from page_run import PageRun

if TYPE_CHECKING:
    from collections.abc import Iterator

    from page_blocks import Block
    from reactorl import Program, Reactor
    from reactorl.diagram import Graph

ROOT = Path(__file__).resolve().parents[1]
DIGEST = re.compile(r"<!-- drawn from ([0-9a-f]{64}) -->\n\Z")


def dot_of(target: type[Reactor] | Reactor | Program | Graph) -> str:
    """Return the DOT text of a program, without source positions."""
    from reactorl.diagram import Graph, graph

    drawn = target if isinstance(target, Graph) else graph(target)
    scene = drawn.scene
    nameless = replace(
        scene,
        boxes=tuple(replace(b, where="", cls_where="") for b in scene.boxes),
        items=tuple(replace(i, where="") for i in scene.items),
        edges=tuple(replace(e, where="") for e in scene.edges),
    )
    return replace(drawn, scene=nameless).dot()


def digest(dot: str) -> str:
    """Return the digest of a DOT text."""
    return hashlib.sha256(dot.encode()).hexdigest()


def drawn_from(svg: Path) -> str | None:
    """Return the digest stored in a picture, or None."""
    found = DIGEST.search(svg.read_text(encoding="utf-8")) if svg.exists() else None
    return found[1] if found else None


def steps(page: str) -> list[Block | Picture]:
    """Return the blocks and pictures of a page, in order."""
    return sorted([*blocks(page), *pictures(page)], key=lambda step: step.line)


def texts(page: Path) -> Iterator[tuple[Picture, str]]:
    """Execute a page's Python blocks; yield each picture with its DOT text."""
    name, text = str(page.relative_to(ROOT)), page.read_text(encoding="utf-8")
    if not pictures(text):
        return
    with tempfile.TemporaryDirectory() as directory, PageRun(Path(directory)) as run:
        write_files(blocks(text), run.directory)
        for step in steps(text):
            if isinstance(step, Picture):
                yield step, run.picture(step, name)
            elif step.language == "python" and step.is_run and step.file is None:
                run.python(step, name)


def main() -> None:
    """Draw all pictures that are out of date; remove those no page uses."""
    from reactorl.diagram.graphviz import rendered

    kept = set()
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for picture, dot in texts(page):
            svg = (page.parent / picture.file).resolve()
            kept.add(svg)
            if drawn_from(svg) == digest(dot) and "--all" not in sys.argv:
                continue
            svg.parent.mkdir(exist_ok=True)
            image = rendered(dot, "svg").decode().rstrip()
            svg.write_text(f"{image}\n<!-- drawn from {digest(dot)} -->\n", "utf-8")
            print(svg.relative_to(ROOT))
    for svg in (ROOT / "docs" / "pictures").glob("*.svg"):
        if svg not in kept:
            svg.unlink()
            print(f"{svg.relative_to(ROOT)}: removed, no page uses it")


if __name__ == "__main__":
    main()
