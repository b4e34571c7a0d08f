# SPDX-License-Identifier: Apache-2.0
"""A run continues where it stopped, and says what is missing."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from benchmarks.evidence import command, environments
from benchmarks.engines import ENGINES
from benchmarks.harness.environments import SetUpError, places
from benchmarks.harness.turns import Case
from benchmarks.harness.facts import gil_is_on

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

PLAIN = "plain" if gil_is_on() else "plain-ft"
OURS = "ours-gil" if gil_is_on() else "ours-ft"


def bench(out: Path, *more: str) -> int:
    words = ["reactors", "--smoke", "--here", "--engines", PLAIN, OURS]
    return command.main([*words, "--out", str(out), *more])


def contents(out: Path) -> dict[str, str]:
    return {p.name: p.read_text() for p in sorted(out.glob("measurements/*.json"))}


def test_a_run_writes_results_with_facts_a_page_and_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(tmp_path) == 0

    names = list(contents(tmp_path))
    assert names == sorted(
        f"reactors--{case}--{engine}--0.json"
        for case in ("10", "100")
        for engine in (PLAIN, OURS)
    )
    one = json.loads((tmp_path / "measurements" / names[0]).read_text())
    assert one["machine"]["cores"] >= 1
    assert one["python"]["packages"]["numpy"]
    assert one["measurement"]["digest"]
    page = (tmp_path / "benchmarks.md").read_text()
    assert "## Number of reactors" in page
    for path in re.findall(r"\]\((.*?)\)", page):
        assert (tmp_path / path).stat().st_size > 1_000
        assert (tmp_path / path).with_suffix(".png").exists()
    assert "[0/2]" in capsys.readouterr().out


def test_what_was_measured_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench(tmp_path)
    before = contents(tmp_path)
    lost = tmp_path / "measurements" / f"reactors--100--{OURS}--0.json"
    lost.unlink()

    assert bench(tmp_path) == 0

    after = contents(tmp_path)
    changed = {name for name, text in after.items() if before[name] != text}
    # Who is compared with each other is measured together.
    assert changed == {f"reactors--100--{e}--0.json" for e in (PLAIN, OURS)}
    assert "1 of 2 were measured before" in capsys.readouterr().out


def test_an_interrupted_run_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patch:
        run = Case.run
        runs = []

        def once(case: Case) -> None:
            if runs:
                raise KeyboardInterrupt
            runs.append(case)
            run(case)

        patch.setattr(Case, "run", once)
        assert bench(tmp_path) == 130
    assert "Run the same command again" in capsys.readouterr().out
    before = contents(tmp_path)
    assert len(before) == 2

    assert bench(tmp_path, "--report") == 2  # there is no report on half a run
    assert "2 of 4 measurements are missing" in capsys.readouterr().out
    assert bench(tmp_path) == 0

    after = contents(tmp_path)
    assert len(after) == 4
    assert {name: after[name] for name in before} == before


def test_changed_code_is_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench(tmp_path)
    before = contents(tmp_path)
    monkeypatch.setattr("benchmarks.harness.plan.workload_digest", lambda name: "new")

    bench(tmp_path)

    assert all(before[name] != text for name, text in contents(tmp_path).items())


def test_engines_may_be_asked_for_one_by_one(tmp_path: Path) -> None:
    words = ["reactors", "--smoke", "--here", "--out", str(tmp_path)]

    command.main([*words, "--engines", PLAIN, "--engines", OURS])

    measured = {name.split("--")[2] for name in contents(tmp_path)}
    assert measured == {PLAIN, OURS}


def test_an_unknown_workload_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["nonsense"]) == 2
    assert "no workload is called nonsense" in capsys.readouterr().err


def test_a_failing_engine_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "benchmarks.harness.workload.Workload.params_of",
        lambda self, case, effort: {"size": "no number"},
    )

    assert bench(tmp_path) == 1

    page = (tmp_path / "benchmarks.md").read_text()
    assert f"{OURS} failed in reactors (10, 100): TypeError" in page
    assert "TypeError" in capsys.readouterr().out


def test_an_engine_that_cannot_be_installed_is_missing_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = []

    def refuse(words: list[str]) -> str:
        asked.append(words)
        if "pip" in words:
            msg = "ERROR: No matching distribution found for ray==2.60.0"
            raise SetUpError(msg)
        return ""

    monkeypatch.setattr(environments, "ROOT", tmp_path)
    monkeypatch.setattr(environments, "call", refuse)
    engines = [ENGINES["ray-actors"], ENGINES["ray-cgraph"]]

    found, missing = places(engines, in_this=False, say=lambda text: None)

    assert found == {}
    assert set(missing) == {"ray-actors", "ray-cgraph"}
    assert "No matching distribution" in missing["ray-actors"]
    assert len(asked) == 2  # both live in one environment: it is tried once
