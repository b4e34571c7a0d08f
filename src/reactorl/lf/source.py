# SPDX-License-Identifier: Apache-2.0
"""A source file in memory, and places in it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from reactorl.lf.diagnostics import Diagnostic, Severity, nearest

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a source text: offsets of its first character and of its end."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """Return the stretch from the start of this one to the end of ``other``."""
        return Span(self.start, other.end)


NOWHERE = Span(0, 0)
"""The span of what no source says, e.g. a tree that was made by hand."""


@dataclass(frozen=True)
class Source:
    """The text of one ``.lf`` file.

    Line ends are as in the file; the text has been decoded already.
    """

    path: Path
    text: str = field(repr=False)

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        text = self.text
        at = text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = text.find("\n", at + 1)
        return starts

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Return the place of an offset; lines and columns count from 1."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """Return a line, without its end; lines count from 1."""
        starts = self._line_starts
        end = starts[number] if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r\n")


# -- reading files --------------------------------------------------------------------

_BYTE_ORDER_MARKS = ((b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"))


def read_source(path: Path) -> Source | Diagnostic:
    """Return the text of a file, or what keeps it from being one.

    The diagnostic has no source if the file could not be opened at all, so that
    whoever imports it can point at the import instead.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return _unopened(path, "there is no such file", _similar_file(path))
    except IsADirectoryError:
        return _unopened(path, "this is a directory", _a_file_in(path))
    except NotADirectoryError:
        return _unopened(path, "a part of the path is a file, not a directory")
    except PermissionError:
        advice = "Make it readable, for example with 'chmod u+r'."
        return _unopened(path, "the file may not be read: permission denied", advice)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        return _unopened(path, f"the file cannot be read: {reason}")
    except ValueError:  # a NUL character in the path
        return _unopened(path, "this is no path of a file")
    if path.suffix == ".py":
        advice = f"Run it with Python: python {path}; 'reactorl graph' draws it."
        return _unopened(path, "this is a file of Python, not of LF", advice)
    return _decode(path, data)


def _decode(path: Path, data: bytes) -> Source | Diagnostic:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            what = f"the file is encoded in {encoding}, not in UTF-8"
            return _unreadable(path, Source(path, ""), None, what, _SAVE)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The codec counts without a byte order mark; the reader's editor does not.
        skipped = 3 if data.startswith(b"\xef\xbb\xbf") else 0
        at = len(data[skipped : skipped + error.start].decode())
        source = Source(path, data.decode("utf-8-sig", errors="replace"))
        offset = skipped + error.start
        what = f"byte 0x{data[offset]:02x} at offset {offset} is not UTF-8"
        return _unreadable(path, source, Span(at, at + 1), what, _SAVE)
    source = Source(path, text)
    nul = text.find("\0")
    if nul >= 0:
        what = "there is a NUL character: this is not a text file"
        return _unreadable(path, source, Span(nul, nul + 1), what, "")
    if not text.strip():
        advice = "Begin with 'target Python' and declare a reactor."
        return _unreadable(path, source, None, "the file is empty", advice)
    return source


_SAVE = "Save the file as UTF-8."


def _unopened(path: Path, what: str, advice: str = "") -> Diagnostic:
    return Diagnostic(Severity.ERROR, what, path, help=advice)


def _unreadable(
    path: Path, source: Source, span: Span | None, what: str, advice: str
) -> Diagnostic:
    return Diagnostic(Severity.ERROR, what, path, source, span, advice)


def _similar_file(path: Path) -> str:
    """Return advice for a file that does not exist: one that does."""
    directory = path.parent
    try:
        names = [p.name for p in directory.iterdir() if p.suffix == ".lf"]
    except OSError:
        return f"There is no directory '{directory}' either."
    if path.suffix != ".lf" and f"{path.name}.lf" in names:
        return f"Did you mean '{path.name}.lf'?"
    by_fold = {name.casefold(): name for name in sorted(names)}
    if path.name.casefold() in by_fold:
        return f"Did you mean '{by_fold[path.name.casefold()]}'?"
    return nearest(path.name, names)


def _a_file_in(directory: Path) -> str:
    """Return advice for a directory: a file in it."""
    try:
        names = sorted(p.name for p in directory.iterdir() if p.suffix == ".lf")
    except OSError:
        names = []
    if not names:
        return "Name an .lf file."
    return f"Name a file in it, for example '{directory / names[0]}'."
