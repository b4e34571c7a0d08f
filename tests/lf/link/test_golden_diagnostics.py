"""Golden files of the diagnostics of wrong programs.

``golden/<topic>/<name>.lf`` is a program, ``<name>.txt`` its complete report.
After an intended change, review the difference and accept it with
``REACTORL_ACCEPT=1 pytest tests/lf/link/test_golden_diagnostics.py``.
"""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import reactorl.lf
from reactorl.lf.diagnostics import Report
from reactorl.lf.link.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

GOLDEN = Path(__file__).parent / "golden"
PACKAGE = Path(reactorl.lf.__file__).parent
# Files in subdirectories of a topic are imported by the others.
PROGRAMS = [
    *sorted(p.relative_to(GOLDEN) for p in GOLDEN.glob("*/*.lf")),
    Path("packages/src/Packages.lf"),
    Path("files/Emty.lf"),  # does not exist
    Path("files/robot.py"),
]
FILES = [
    PACKAGE / "source.py",
    *(PACKAGE / "link" / f"{name}.py" for name in ("imports", "properties", "resolve")),
    *sorted((PACKAGE / "link" / "rules").glob("*.py")),
]
FOUND_ELSEWHERE = {
    # Tested in test_resolve.py, because they depend on the machine.
    "reading the file failed: permission denied",
    "reading the file failed: {}",
    "the path contains a NUL character",
    "the file name {} must be UTF-8",
    "the path is not a regular file",
    "the file must be at most {} bytes long",
    "a parent of the path is a file, not a directory",
    "Python cannot compile this code: it is too complex",
}


@pytest.fixture(autouse=True)
def _in_golden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN)
    monkeypatch.delenv("LF_PACKAGES", raising=False)


def rendered(path: Path) -> str:
    report = Report()
    resolve(path, report)
    return "".join(f"{d.render()}\n" for d in report.in_order())


@pytest.mark.parametrize("path", PROGRAMS, ids=str)
def test_report_equals_golden_text(path: Path) -> None:
    text = rendered(path)
    golden = path.with_suffix(".txt")

    if os.environ.get("REACTORL_ACCEPT"):
        golden.write_text(text)

    assert text == golden.read_text()


def test_every_golden_text_has_a_program() -> None:
    texts = {p.relative_to(GOLDEN) for p in GOLDEN.rglob("*.txt")}

    assert texts == {path.with_suffix(".txt") for path in PROGRAMS}


def test_every_message_occurs_in_a_golden_text() -> None:
    output = "".join(p.read_text() for p in GOLDEN.rglob("*.txt"))

    missing = [
        f"{file.name}: {message}"
        for file in FILES
        for message in messages(file)
        if message not in FOUND_ELSEWHERE and not occurs(message, output)
    ]

    assert not missing


def occurs(message: str, output: str) -> bool:
    pattern = ".+".join(re.escape(part) for part in message.split("{}"))
    return re.search(rf"(error|warning): {pattern}", output) is not None


def messages(file: Path) -> Iterator[str]:
    """Yield the messages (``what``) of a module, with ``{}`` for variable parts."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Assign):
            target = node.targets[0]
            if isinstance(target, ast.Name) and target.id == "what":
                yield from template(node.value)
            elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                first = target.elts[0]
                if isinstance(first, ast.Name) and first.id == "what":
                    yield from template(node.value.elts[0])
        elif isinstance(node, ast.Call) and name_of(node.func) in SAYING:
            yield from template(node.args[SAYING[name_of(node.func)]])


SAYING = {"error": 1, "warning": 1, "_unopened": 1, "_unreadable": 3}


def name_of(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        whom = function.value
        if function.attr in ("error", "warning") and (
            not isinstance(whom, ast.Name) or whom.id != "context"
        ):
            return "report." + function.attr
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


SAYING |= {"report.error": 2, "report.warning": 2}


def template(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        parts = [p.value if isinstance(p, ast.Constant) else "{}" for p in node.values]
        yield "".join(str(part) for part in parts)
