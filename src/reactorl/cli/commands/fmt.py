# SPDX-License-Identifier: Apache-2.0
"""``reactorl fmt``: format programs in place."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from reactorl._util.files import atomic_writer
from reactorl.cli.support.console import say
from reactorl.cli.support.errors import show
from reactorl.diagnostics import Diagnostic
from reactorl.lf import (
    MAX_BYTES,
    Report,
    Source,
    about_file,
    format_text,
    read_source,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

DESCRIPTION = """\
Format programs in place. Comments and meaning are kept: a file is written only
after the new text was parsed again and gave the same program. Files with syntax
errors are not changed.
"""
EPILOG = """\
examples:
  reactorl fmt hello.lf              format one file
  reactorl fmt --check src           is everything below src formatted?
  reactorl fmt --diff hello.lf       show the changes
  reactorl fmt - < hello.lf          print the formatted text

exit status: 0 on success, 1 if --check found a file to format, 2 if a file has
errors or cannot be read or written.
"""

STDIN = Path("-")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def add_to(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "fmt",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    parser.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="PATH",
        help="a file, a directory (all .lf files below it), or - (stdin to stdout)",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="change nothing; exit with 1 if a file is not formatted",
    )
    parser.add_argument(
        "--diff", action="store_true", help="change nothing; print the changes"
    )
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Format files; return the exit status."""
    report = Report()
    changed = 0
    for path in dict.fromkeys(_files(args.paths, report)):
        if path == STDIN:
            changed += _stdin(report, check=args.check, diff=args.diff)
        else:
            changed += _file(path, report, check=args.check, diff=args.diff)
    show(report.in_order())
    if report.failed:
        return 2
    return 1 if args.check and changed else 0


def _files(paths: list[Path], report: Report) -> Iterator[Path]:
    """Yield the files, those of a directory in order."""
    for path in paths:
        if path == STDIN or not path.is_dir():
            yield path
            continue
        found = list(_below(path))
        if not found:
            what = "the directory contains no .lf file"
            report.add(about_file(path, what))
        yield from found


def _below(directory: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(directory):
        folders[:] = sorted(f for f in folders if not f.startswith("."))
        for name in sorted(files):
            if name.endswith(".lf"):
                yield Path(folder, name)


def _file(path: Path, report: Report, *, check: bool, diff: bool) -> bool:
    """Format a file; return whether its text changes."""
    source = read_source(path)
    if isinstance(source, Diagnostic):
        report.add(source)
        return False
    text = format_text(source, report)
    if text is None or text == source.text:
        return False
    if diff:
        _show_diff(source, text)
    if check or diff:
        say(f"would format {path}\n")
        return True
    try:
        _replace(path, text)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        what = f"writing the file failed: {reason}"
        report.add(about_file(path, what))
        return False
    say(f"formatted {path}\n")
    return True


def _replace(path: Path, text: str) -> None:
    """Give a file new text; its mode, byte order mark and all kinds of links stay."""
    path = path.resolve()
    if not os.access(path, os.W_OK):
        raise PermissionError(13, "permission denied", str(path))
    old = path.read_bytes()
    new = _encoded(text, old)
    if path.stat().st_nlink > 1:
        _overwrite(path, old, new)
        return
    with atomic_writer(path) as file:
        file.write(new)


def _overwrite(path: Path, old: bytes, new: bytes) -> None:
    """Write into a file that has other hard links: a rename would split them."""
    try:
        with path.open("r+b") as file:
            file.write(new)
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        with suppress(OSError):
            path.write_bytes(old)
        raise


def _stdin(report: Report, *, check: bool, diff: bool) -> bool:
    """Format stdin to stdout; return whether the text changes."""
    path = Path("<stdin>")
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        what = f"the program must be at most {MAX_BYTES} bytes long"
        report.add(about_file(path, what, "Check that this is the input you meant."))
        return False
    try:
        source = Source(path, data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        what = f"byte 0x{data[error.start]:02x} at offset {error.start} is not UTF-8"
        report.add(about_file(path, what))
        return False
    text = format_text(source, report)
    if text is None:
        return False
    if diff:
        _show_diff(source, text)
    elif not check:
        _write(_encoded(text, data))
    return text != source.text


def _encoded(text: str, old: bytes) -> bytes:
    mark = BYTE_ORDER_MARK if old.startswith(BYTE_ORDER_MARK) else b""
    return mark + text.encode()


def _show_diff(source: Source, text: str) -> None:
    from difflib import unified_diff

    old, new = (t.splitlines(keepends=True) for t in (source.text, text))
    name = str(source.path)
    for line in unified_diff(old, new, name, name):
        ended = (
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        )
        _write(ended.encode())


def _write(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
