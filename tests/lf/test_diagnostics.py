# SPDX-License-Identifier: Apache-2.0
"""A report contains each diagnostic once, ordered by file and position."""

from __future__ import annotations

from pathlib import Path

from reactorl.lf.diagnostics import Report
from reactorl.lf.link.resolve import resolve
from reactorl.lf.places import path_of
from reactorl.lf.source import Source, Span
from tests.lf.work import calls_of


def test_root_file_comes_first(tmp_path: Path) -> None:
    # What is wrong with the imported file is found first, by the parser.
    (tmp_path / "b.lf").write_text("target Python\nreactor B { input }\n")
    asked = tmp_path / "a.lf"
    asked.write_text(
        'target Python\nimport B from "b.lf"\nmain reactor { c = new C() }\n'
    )
    report = Report()

    resolve(asked, report)

    assert [path_of(d).name for d in report.diagnostics] == ["b.lf", "a.lf"]
    assert [path_of(d).name for d in report.in_order()] == ["a.lf", "b.lf"]


def test_adding_many_diagnostics_takes_linear_time() -> None:
    def noted(count: int) -> int:
        source = Source(Path("a.lf"), "x\n" * count)
        report = Report()
        for _ in range(2):
            for n in range(count):
                report.error(source, Span(2 * n, 2 * n + 1), "wrong")
        return len(report.diagnostics)

    assert noted(50_000) == 50_000
    assert calls_of(lambda: noted(2_000)) < 2.5 * calls_of(lambda: noted(1_000))
