# SPDX-License-Identifier: Apache-2.0
"""Coverage-guided fuzzing: ``python -m tests.lf.parse.fuzz -runs=100000 [corpus]``.

Any bytes that are text give a program or diagnostics, nothing else. Arguments are those
of libFuzzer.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["reactorl.lf"]):
    from reactorl.lf.diagnostics import Report
    from reactorl.lf.format.format import format_text
    from reactorl.lf.parse.parser import parse
    from reactorl.lf.parse.syntax import File
    from reactorl.lf.source import Source


def one_input(data: bytes) -> None:
    """Parse and format one text."""
    text = data.decode("utf-8", errors="ignore")
    source = Source(Path("fuzz.lf"), text)
    report = Report()
    tree = parse(source, report)
    assert isinstance(tree, File)
    for diagnostic in report.in_order():
        assert diagnostic.render()
    if not report.failed:
        formatted = format_text(source, Report())
        assert formatted is not None
        assert format_text(Source(Path("fuzz.lf"), formatted), Report()) == formatted


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
