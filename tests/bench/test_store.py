# SPDX-License-Identifier: Apache-2.0
"""Damaged or incomplete results raise an error with a remedy."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from benchmarks.harness import command
from benchmarks.harness.store import Store, StoreError

SAMPLE = Path(__file__).parent / "sample"
ONE = "measurements/actors--empty-2--plain--0.json"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Return a copy of the sample."""
    return Path(shutil.copytree(SAMPLE, tmp_path / "results"))


def test_sample_is_complete() -> None:
    run, results = Store(SAMPLE).read()

    assert len(results.measurements) + len(results.failures) == len(run.files)


def change(path: Path, *, text: str | None = None, **fields: object) -> None:
    if text is None:
        text = json.dumps({**json.loads(path.read_text()), **fields})
    path.write_text(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "Expecting value"),
        ('{"format": 1, "key"', "damaged"),
        ("[]", "it is not a JSON object"),
        ("{}", "its format is None"),
        ('{"format": 99}', "its format is 99, this version reads 1"),
    ],
)
@pytest.mark.parametrize("name", ["run.json", ONE])
def test_damaged_file_is_named(results: Path, name: str, text: str, why: str) -> None:
    change(results / name, text=text)

    with pytest.raises(StoreError) as caught:
        Store(results).read()

    message = str(caught.value)
    assert str(results / name) in message
    assert why in message
    assert "run the same command again" in message


@pytest.mark.parametrize("field", ["seconds", "calm", "digest", "job"])
def test_measurement_without_a_field_is_damaged(results: Path, field: str) -> None:
    content = json.loads((results / ONE).read_text())
    del content["measurement"][field]
    change(results / ONE, measurement=content["measurement"])

    with pytest.raises(StoreError, match="damaged"):
        Store(results).read()


def test_load_average_is_that_of_calls_that_measured(results: Path) -> None:
    machine = json.loads((results / ONE).read_text())["machine"]
    change(results / ONE, machine=machine | {"load_average": [7.5, 2.0, 1.0]})
    change(results / "run.json", machine=machine | {"load_average": [9.0, 2.0, 1.0]})

    run, _ = Store(results).read()

    assert run.machine["load_average"] == [7.5, 2.0, 1.0]


def test_measurement_without_machine_is_damaged(results: Path) -> None:
    change(results / ONE, machine={})

    with pytest.raises(StoreError, match="load_average"):
        Store(results).read()


def test_measurement_without_slices_is_damaged(results: Path) -> None:
    content = json.loads((results / ONE).read_text())["measurement"]
    change(results / ONE, measurement={**content, "seconds": [], "calm": []})

    with pytest.raises(StoreError, match="it has no slices"):
        Store(results).read()


def test_measurement_of_another_run_is_refused(results: Path) -> None:
    change(results / ONE, key="other")

    with pytest.raises(StoreError, match="belongs to another run"):
        Store(results).read()


def test_missing_measurements_are_counted_and_named(results: Path) -> None:
    (results / ONE).unlink()

    with pytest.raises(StoreError) as caught:
        Store(results).read()

    assert "1 of 35 measurements are missing" in str(caught.value)
    assert Path(ONE).name in str(caught.value)
    assert "continues where it stopped" in str(caught.value)


@pytest.mark.parametrize("name", ["", "not/there"])
def test_directory_without_results_is_reported(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = tmp_path / name

    assert command.main(["--report", "--out", str(directory)]) == 2

    shown = " ".join(capsys.readouterr().out.split())
    assert "has no results: run.json is missing. Measure first" in shown
    assert not (directory / "benchmarks.md").exists()


def test_command_reports_damaged_file(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(results / ONE, text="{")

    assert command.main(["--report", "--out", str(results)]) == 2
    assert "is damaged" in " ".join(capsys.readouterr().out.split())
