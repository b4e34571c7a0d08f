# SPDX-License-Identifier: Apache-2.0
"""``reactorl bench`` calls the benchmarks, which only a checkout contains."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reactorl.cli.commands import bench
from reactorl.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]


@pytest.fixture
def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Pretend that the package is installed outside a checkout."""
    monkeypatch.chdir(tmp_path)
    installed = (
        tmp_path / "lib" / "python" / "site-packages" / "reactorl" / "cli" / "commands"
    )
    monkeypatch.setattr(bench, "__file__", str(installed / "bench.py"))
    return


@pytest.mark.usefixtures("_elsewhere")
@pytest.mark.parametrize("args", [[], ["--quick"], ["actors", "--out", "x"]])
def test_checkout_is_required(
    args: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", *args]) == 2

    said = capsys.readouterr().err
    assert "requires a checkout" in said
    assert "make bench" in said


def test_report_in_a_checkout(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)

    assert main(["bench", "--report", "--out", str(tmp_path)]) == 2
    assert "has no results" in " ".join(capsys.readouterr().out.split())


def test_help_lists_workloads_and_engines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)

    with pytest.raises(SystemExit) as caught:
        main(["bench", "--help"])

    assert caught.value.code == 0
    shown = capsys.readouterr().out
    assert "object_size" in shown
    assert "ray-cgraph" in shown
