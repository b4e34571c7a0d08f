# SPDX-License-Identifier: Apache-2.0
"""A report holds each diagnostic once, and shows them in the reader's order."""

from __future__ import annotations

import time
from pathlib import Path

from reactorl.lf.diagnostics import Report
from reactorl.lf.resolve import resolve
from reactorl.lf.source import Source, Span


def test_the_file_asked_for_comes_first(tmp_path: Path) -> None:
    # What is wrong with the imported file is found first, by the parser.
    (tmp_path / "b.lf").write_text("target Python\nreactor B { input }\n")
    asked = tmp_path / "a.lf"
    asked.write_text(
        'target Python\nimport B from "b.lf"\nmain reactor { c = new C() }\n'
    )
    report = Report()

    resolve(asked, report)

    assert [d.path.name for d in report.diagnostics] == ["b.lf", "a.lf"]
    assert [d.path.name for d in report.in_order()] == ["a.lf", "b.lf"]


def test_many_diagnostics_are_each_noted_once_and_soon() -> None:
    source = Source(Path("a.lf"), "x\n" * 50_000)
    report = Report()
    began = time.process_time()

    for _ in range(2):
        for n in range(50_000):
            report.error(source, Span(2 * n, 2 * n + 1), "wrong")

    assert len(report.diagnostics) == 50_000
    assert time.process_time() - began < 20  # 40 ns per pair would be twice as long
