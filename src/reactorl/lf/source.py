# SPDX-License-Identifier: Apache-2.0
"""Source files: their text, spans of it, and reading them."""

from __future__ import annotations

import stat
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from reactorl.diagnostics import Diagnostic
from reactorl.lf.diagnostics import about_file, nearest
from reactorl.lf.places import position

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Span:
    """A range of characters of a source text: offsets of its start and its end."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """Return the span from the start of this one to the end of ``other``."""
        return Span(self.start, other.end)


NOWHERE = Span(0, 0)
"""The span of a node that does not come from a text, e.g. in tests."""


@dataclass(frozen=True)
class Source:
    """The decoded text of one ``.lf`` file, with the line ends of the file."""

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
        """Return line and column of an offset, counted from 1."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """Return a line, counted from 1, without its line end."""
        starts = self._line_starts
        end = starts[number] if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r\n")


# -- reading files --------------------------------------------------------------------

MAX_BYTES = 16 * 2**20
"""Upper bound of a file's size; a larger file is not LF source code."""

_BYTE_ORDER_MARKS = ((b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"))


UNOPENED: Final = "file-not-opened"


def read_source(path: Path) -> Source | Diagnostic:
    """Return the text of a file, or a diagnostic if it cannot be read.

    The diagnostic has the code ``UNOPENED`` if the file could not be opened at all, so
    that a file that imports it can point at the import instead.
    """
    try:
        data = _read_bytes(path)
    except FileNotFoundError:
        return _unopened(path, "no such file", _similar_file(path))
    except IsADirectoryError:
        return _unopened(path, "the path is a directory", _a_file_in(path))
    except NotADirectoryError:
        return _unopened(path, "a parent of the path is a file, not a directory")
    except PermissionError:
        advice = "Make it readable, for example with 'chmod u+r'."
        return _unopened(path, "reading the file failed: permission denied", advice)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        return _unopened(path, f"reading the file failed: {reason}")
    except ValueError:  # a NUL character in the path
        return _unopened(path, "the path contains a NUL character")
    if data is None:
        advice = "Pipes and devices cannot be read; copy the program to a file."
        return _unopened(path, "the path is not a regular file", advice)
    if path.suffix == ".py":
        advice = f"Run it with Python: python {path}; 'reactorl graph' draws it."
        return _unopened(path, "this is a Python file, not an LF file", advice)
    if len(data) > MAX_BYTES:
        what = f"the file must be at most {MAX_BYTES} bytes long"
        return _unopened(path, what, "Check that this is the file you meant.")
    return _decode(path, data)


def _read_bytes(path: Path) -> bytes | None:
    """Return at most a byte more than ``MAX_BYTES``; None if not a regular file.

    Opening a pipe would block, and a device may have no end.
    """
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        return None
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


def _decode(path: Path, data: bytes) -> Source | Diagnostic:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            what = f"the file must be encoded in UTF-8, got {encoding}"
            return _unreadable(path, Source(path, ""), None, what, _SAVE)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The codec's offset does not include the byte order mark; ours does.
        skipped = 3 if data.startswith(b"\xef\xbb\xbf") else 0
        at = len(data[skipped : skipped + error.start].decode())
        source = Source(path, data.decode("utf-8-sig", errors="replace"))
        offset = skipped + error.start
        what = f"byte 0x{data[offset]:02x} at offset {offset} is not UTF-8"
        return _unreadable(path, source, Span(at, at + 1), what, _SAVE)
    source = Source(path, text)
    nul = text.find("\0")
    if nul >= 0:
        what = "the file contains a NUL character, so it is not a text file"
        return _unreadable(path, source, Span(nul, nul + 1), what, "")
    if not text.strip():
        advice = "Begin with 'target Python' and declare a reactor."
        return _unreadable(path, source, None, "the file is empty", advice)
    return source


_SAVE = "Save the file as UTF-8."


def _unopened(path: Path, what: str, advice: str = "") -> Diagnostic:
    return about_file(path, what, advice, code=UNOPENED)


def _unreadable(
    path: Path, source: Source, span: Span | None, what: str, advice: str
) -> Diagnostic:
    if span is None:
        return about_file(path, what, advice)
    return Diagnostic(what, position(source, span), advice)


def _similar_file(path: Path) -> str:
    """Return the remedy for a missing file: a file with a similar name."""
    directory = path.parent
    try:
        names = [p.name for p in directory.iterdir() if p.suffix == ".lf"]
    except OSError:
        return f"The directory '{directory}' does not exist either."
    if path.suffix != ".lf" and f"{path.name}.lf" in names:
        return f"Did you mean '{path.name}.lf'?"
    by_fold = {name.casefold(): name for name in sorted(names)}
    if path.name.casefold() in by_fold:
        return f"Did you mean '{by_fold[path.name.casefold()]}'?"
    return nearest(path.name, names)


def _a_file_in(directory: Path) -> str:
    """Return the remedy for a directory: a file in it."""
    try:
        names = sorted(p.name for p in directory.iterdir() if p.suffix == ".lf")
    except OSError:
        names = []
    if not names:
        return "Name an .lf file."
    return f"Name a file in it, for example '{directory / names[0]}'."
