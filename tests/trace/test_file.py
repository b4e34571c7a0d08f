# SPDX-License-Identifier: Apache-2.0
"""Trace files are loaded as they were saved, or rejected with a reason."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings

from reactorl.errors import TraceError
from reactorl.trace import SavedTrace, Trace, load, save
from tests.trace.test_text import EXAMPLE, traces

if TYPE_CHECKING:
    from pathlib import Path

SAVED = SavedTrace(EXAMPLE, "abc123", 7, {"timeout": 5, "keepalive": None})

ANY_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("name", ["run.trace", "run.trace.gz"])
@given(trace=traces)
@ANY_FOLDER
def test_loading_undoes_saving(tmp_path: Path, name: str, trace: Trace) -> None:
    save(tmp_path / name, trace)

    assert load(tmp_path / name) == SavedTrace(trace)


@pytest.mark.parametrize("name", ["run.trace", "run.trace.gz"])
def test_saved_facts_are_loaded_and_files_are_equal(tmp_path: Path, name: str) -> None:
    save(tmp_path / name, SAVED)
    first = (tmp_path / name).read_bytes()
    save(str(tmp_path / name), SAVED)

    assert load(tmp_path / name) == SAVED
    assert (tmp_path / name).read_bytes() == first
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_every_cut_is_noticed(tmp_path: Path) -> None:
    whole = tmp_path / "whole.trace"
    save(whole, SAVED)
    data = whole.read_bytes()

    for length in range(len(data)):
        cut = tmp_path / "cut.trace"
        cut.write_bytes(data[:length])
        with pytest.raises(TraceError):
            load(cut)


def test_every_cut_of_a_compressed_file_is_noticed(tmp_path: Path) -> None:
    whole = tmp_path / "whole.trace.gz"
    save(whole, SAVED)
    data = whole.read_bytes()

    for length in range(len(data)):
        cut = tmp_path / "cut.trace.gz"
        cut.write_bytes(data[:length])
        with pytest.raises(TraceError):
            load(cut)


def test_every_changed_byte_is_noticed(tmp_path: Path) -> None:
    whole = tmp_path / "whole.trace"
    save(whole, SAVED)
    data = whole.read_bytes()

    for place in range(len(data)):
        bad = tmp_path / "bad.trace"
        bad.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(TraceError):
            load(bad)


@pytest.mark.parametrize(
    ("change", "line", "what"),
    [
        (lambda text: "hello\n", 1, "not a trace"),
        (lambda text: "", 1, "not a trace"),
        (lambda text: text.replace("trace 2 ", "trace 3 "), 1, "got 3"),
        (lambda text: text.replace('"seed"', '"sead"'), 1, "header is damaged"),
        (lambda text: text.replace("{", "", 1), 1, "header is damaged"),
        (lambda text: text.replace("run main.go", "ran main.go"), 6, "unexpected line"),
        (lambda text: text.replace("main.go", "main.so"), 7, "was changed"),
        (lambda text: text + "(9, 0)\n", 8, "after the closing line"),
        (lambda text: text[: text.index("end ")], 7, "no closing line"),
    ],
)
def test_error_names_file_line_and_remedy(
    tmp_path: Path,
    change: object,
    line: int,
    what: str,
) -> None:
    path = tmp_path / "a.trace"
    save(path, SAVED)
    path.write_text(change(path.read_text()))  # type: ignore[operator]

    with pytest.raises(TraceError, match=what) as caught:
        load(path)

    assert caught.value.where is not None
    assert (caught.value.where.file, caught.value.where.line) == (str(path), line)
    assert caught.value.remedy


def test_bytes_that_are_not_text_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    path.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(TraceError, match="not UTF-8"):
        load(path)


def test_plain_file_with_the_name_of_a_compressed_one_is_rejected(
    tmp_path: Path,
) -> None:
    save(tmp_path / "a.trace", SAVED)
    (tmp_path / "a.trace").rename(tmp_path / "a.trace.gz")

    with pytest.raises(TraceError, match="compressed"):
        load(tmp_path / "a.trace.gz")


def test_compressed_file_is_the_plain_one_compressed(tmp_path: Path) -> None:
    save(tmp_path / "a.trace", SAVED)
    save(tmp_path / "a.trace.gz", SAVED)

    plain = (tmp_path / "a.trace").read_bytes()
    assert gzip.decompress((tmp_path / "a.trace.gz").read_bytes()) == plain


def test_failed_save_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    save(path, SAVED)
    before = path.read_bytes()

    with pytest.raises(TypeError):
        save(path, SavedTrace(EXAMPLE, options={"x": object()}))  # type: ignore[dict-item]

    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
