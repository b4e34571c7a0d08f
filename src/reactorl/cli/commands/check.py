# SPDX-License-Identifier: Apache-2.0
"""``reactorl check``: report all errors in programs without running them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reactorl.cli.support.console import say
from reactorl.cli.support.errors import show
from reactorl.diagnostics import Severity
from reactorl.lf import Report, path_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

DESCRIPTION = """\
Report all errors and warnings in programs and in the files that they import.
Nothing is executed.
"""
EPILOG = """\
examples:
  reactorl check hello.lf
  reactorl check src/*.lf

exit status: 0 without errors (warnings do not count), 2 with errors.
"""


def add_to(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "check",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE.lf", help="the files to check"
    )
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Check files; return the exit status."""
    from reactorl.lf import check

    files = list(dict.fromkeys(args.files))
    report = Report()
    for file in files:
        found = Report()  # of its own, so that a file imported twice counts for both
        check(file, found)
        for path in found.files:
            report.add_file(path)
        for diagnostic in found.diagnostics:
            report.add(diagnostic)
    show(report.in_order())
    say(f"{_summary(report, len(files))}\n")
    return 2 if report.failed else 0


def _summary(report: Report, checked: int) -> str:
    found = report.diagnostics
    if not found:
        return f"{count(checked, 'file')}: no problems"
    errors = _of(report, Severity.ERROR)
    warnings = _of(report, Severity.WARNING)
    counts = [count(n, what) for n, what in ((errors, "error"), (warnings, "warning"))]
    shown = ", ".join(c for c, n in zip(counts, (errors, warnings), strict=True) if n)
    return f"{shown} in {count(_distinct(path_of(d) for d in found), 'file')}"


def _of(report: Report, severity: Severity) -> int:
    return sum(d.severity is severity for d in report.diagnostics)


def _distinct(paths: Iterable[Path]) -> int:
    return len(dict.fromkeys(paths))


def count(n: int, what: str) -> str:
    """Return a number and a noun, in the singular or plural."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
