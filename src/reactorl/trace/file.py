# SPDX-License-Identifier: Apache-2.0
"""Trace files: the canonical text between a header and a closing line.

The header says what ran (format version, digest of the program, seed, options); the
closing line has the number of tags and a digest, so a truncated or changed file is an
error. Optional sections before it are one line of JSON each: the order of the program's
reactions (``structure``), its diagram (``scene``), and measured times (``timing``). A
name that ends in ``.gz`` is compressed. Without measured times, equal runs of one
program give equal files, byte for byte.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NoReturn, TypeAlias

from reactorl._util.files import atomic_writer
from reactorl.errors import TraceError
from reactorl.position import Position
from reactorl.trace.record import TagRecord, Trace
from reactorl.trace.text import lines, parse_lines
from reactorl.trace.timing_text import (
    parse_structure,
    parse_timing,
    structure_json,
    timing_json,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from reactorl.trace.timing import Structure, Timing

VERSION: Final = 2
"""The format this package writes; it reads earlier ones, too."""

_HEADER: Final = "reactorl trace"
_CLOSING: Final = "end "
_SECTIONS: Final = ("structure", "scene", "timing")
_AGAIN: Final = "Run the program again to get a complete one."

Scalar: TypeAlias = bool | int | float | str | None


@dataclass(frozen=True, slots=True)
class SavedTrace:
    """A trace with the identity of its run.

    Attributes:
        trace: The trace; empty if it was not kept.
        program: Digest of the program.
        seed: Of the run.
        options: Of the run.
        kept: Whether the trace was kept; if not, the file is there for its times.
        structure: The program's reactions and their order.
        scene: The program's diagram, as JSON text.
        timing: Measured times; has ``structure``, too.
    """

    trace: Trace
    program: str = ""
    seed: int = 0
    options: Mapping[str, Scalar] = field(default_factory=dict)
    kept: bool = True
    structure: Structure | None = None
    scene: str | None = None
    timing: Timing | None = None


def save(path: str | os.PathLike[str], saved: SavedTrace | Trace) -> None:
    """Write a trace to ``path``, atomically.

    Args:
        path: Where to; a name that ends in ``.gz`` is compressed.
        saved: The trace, alone or with what ran.
    """
    if isinstance(saved, Trace):
        saved = SavedTrace(saved)
    target = Path(path)
    facts = {
        "program": saved.program,
        "seed": saved.seed,
        "options": dict(saved.options),
        "kept": saved.kept,
    }
    with _writer(target) as file:
        head = f"{_HEADER} {VERSION} {json.dumps(facts, sort_keys=True)}\n"
        file.write(head.encode())
        seen = hashlib.sha256(head.encode())
        count = 0
        for line in lines(saved.trace):
            count += line.startswith("(")
            data = line.encode()
            seen.update(data)
            file.write(data)
        for name, content in _sections(saved):
            data = f"{name} {content}\n".encode()
            seen.update(data)
            file.write(data)
        file.write(f"{_CLOSING}{count} tags {seen.hexdigest()}\n".encode())


def load(path: str | os.PathLike[str]) -> SavedTrace:
    """Read a trace file.

    Raises:
        TraceError: It is truncated, changed, of another version, or not a trace file;
            names the file, the line, and the remedy.
    """
    source = Path(path)
    reader = _Reader(source)
    with _opened(source) as file:
        facts = reader.header(file)
        trace = Trace(tuple(reader.body(file)))
    structure, timing = reader.structure, reader.timing
    return SavedTrace(trace, *facts, structure, reader.scene, timing)


def _sections(saved: SavedTrace) -> Iterator[tuple[str, str]]:
    structure = saved.structure
    if saved.timing is not None:
        structure = saved.timing.structure
    if structure is not None:
        yield "structure", structure_json(structure)
    if saved.scene is not None:
        # The same text on one line for all writers.
        yield "scene", json.dumps(json.loads(saved.scene), separators=(",", ":"))
    if saved.timing is not None:
        yield "timing", timing_json(saved.timing)


class _Reader:
    """One pass over a file, keeping count for errors and for the closing line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen = hashlib.sha256()
        self._number = 0
        self._version = 0
        self.structure: Structure | None = None
        self.scene: str | None = None
        self.timing: Timing | None = None

    def header(self, file: IO[bytes]) -> tuple[str, int, Mapping[str, Scalar], bool]:
        """Read the first line."""
        line = next(self._lines(file), "")
        if not line.startswith(f"{_HEADER} "):
            self._refuse("the file is not a trace", "Give a file that save() wrote.")
        version, _, rest = line[len(_HEADER) + 1 :].partition(" ")
        if version not in map(str, range(1, VERSION + 1)):
            self._refuse(
                f"format version must be at most {VERSION}, got {version}",
                "Run the program again, or read it with the version that wrote it.",
            )
        self._version = int(version)
        try:
            facts = json.loads(rest)
            kept = bool(facts["kept"]) if self._version > 1 else True
            return facts["program"], facts["seed"], facts["options"], kept
        except (ValueError, KeyError, TypeError):
            self._refuse("the header is damaged", _AGAIN)

    def body(self, file: IO[bytes]) -> Iterator[TagRecord]:
        """Read the tags and check the closing line."""
        count = 0
        closing = ""

        def body_lines() -> Iterator[str]:
            nonlocal closing
            for line in self._lines(file):
                if line.startswith(_CLOSING):
                    closing = line
                    return
                if self._version == 1 or not self._section(line):
                    yield line

        for record in parse_lines(body_lines(), file=str(self._path), first=2):
            count += 1
            yield record
        # The digest covers everything before the closing line.
        if not closing:
            self._refuse("the file is truncated: no closing line", _AGAIN)
        if closing != f"{_CLOSING}{count} tags {self._seen.hexdigest()}":
            self._refuse("the file was changed after it was written", _AGAIN)
        if next(self._lines(file), None) is not None:
            self._refuse("unexpected text after the closing line", _AGAIN)

    def _section(self, line: str) -> bool:
        """Read a section, if the line is one."""
        name, _, content = line.partition(" ")
        if name not in _SECTIONS:
            return False
        try:
            if name == "structure":
                self.structure = parse_structure(content)
            elif name == "scene":
                json.loads(content)
                self.scene = content
            elif self.structure is not None:
                self.timing = parse_timing(content, self.structure)
        except (ValueError, TypeError, RecursionError) as error:
            self._refuse(f"the {name} is damaged ({error})", _AGAIN)
        return True

    def _lines(self, file: IO[bytes]) -> Iterator[str]:
        while True:
            self._number += 1
            try:
                data = file.readline()
                line = data.decode()
            except (OSError, EOFError, zlib.error):
                self._refuse("damaged or truncated compressed data", _AGAIN)
            except UnicodeDecodeError:
                self._refuse("not UTF-8 text", "Give a file that save() wrote.")
            if not data:
                return
            if not line.endswith("\n"):
                self._refuse("the file is truncated in this line", _AGAIN)
            if not line.startswith(_CLOSING):
                self._seen.update(data)
            yield line[:-1]

    def _refuse(self, what: str, remedy: str) -> NoReturn:
        raise TraceError(what, Position(str(self._path), self._number), remedy)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    with path.open("rb") as raw:
        if path.suffix != ".gz":
            yield raw
            return
        with gzip.GzipFile(fileobj=raw, mode="rb") as file:
            yield file  # type: ignore[misc]


@contextmanager
def _writer(path: Path) -> Iterator[IO[bytes]]:
    """Open a new file that replaces ``path``, compressed if the name ends in .gz."""
    with atomic_writer(path) as raw:
        if path.suffix != ".gz":
            yield raw
            return
        # No name and no time, so that equal traces give equal files.
        with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
            yield file  # type: ignore[misc]
