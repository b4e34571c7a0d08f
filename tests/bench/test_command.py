# SPDX-License-Identifier: Apache-2.0
"""The command: results, resuming, errors, and two builds in turns."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import reactorl
from benchmarks.harness import builds, command, environments
from benchmarks.harness.builds import Source
from benchmarks.harness.environments import SetUpError, places
from benchmarks.harness.facts import gil_is_on
from benchmarks.harness.store import Store
from benchmarks.harness.turns import Turns
from benchmarks.suites import SUITES
from reactorl import get_include

PLAIN = "plain" if gil_is_on() else "plain-ft"
OURS = "ours-gil" if gil_is_on() else "ours-ft"
OURS_1 = "ours-1-gil" if gil_is_on() else "ours-1-ft"
BODIES = "bodies-1-gil" if gil_is_on() else "bodies-1-ft"
PLAIN_VECTOR = "gym-sync" if gil_is_on() else "gym-sync-ft"


def bench(out: Path, *more: str) -> int:
    words = ["reactors", "--smoke", "--here", "--engines", PLAIN, OURS]
    return command.main([*words, "--out", str(out), *more])


def contents(out: Path) -> dict[str, str]:
    return {p.name: p.read_text() for p in sorted(out.glob("measurements/*.json"))}


def test_run_writes_results_report_and_plots(
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


def test_existing_measurements_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench(tmp_path)
    before = contents(tmp_path)
    lost = tmp_path / "measurements" / f"reactors--100--{OURS}--0.json"
    lost.unlink()

    assert bench(tmp_path) == 0

    after = contents(tmp_path)
    changed = {name for name, text in after.items() if before[name] != text}
    # Engines that are compared are measured together.
    assert changed == {f"reactors--100--{e}--0.json" for e in (PLAIN, OURS)}
    assert "1 of 2 were measured before" in capsys.readouterr().out


def test_interrupted_run_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patch:
        run = Turns.run
        runs = []

        def once(turns: Turns) -> None:
            if runs:
                raise KeyboardInterrupt
            runs.append(turns)
            run(turns)

        patch.setattr(Turns, "run", once)
        assert bench(tmp_path) == 130
    assert "Run the same command again" in capsys.readouterr().out
    before = contents(tmp_path)
    assert len(before) == 2

    assert bench(tmp_path, "--report") == 2  # a run must be complete for a report
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


def test_engines_option_can_be_repeated(tmp_path: Path) -> None:
    words = ["reactors", "--smoke", "--here", "--out", str(tmp_path)]

    command.main([*words, "--engines", PLAIN, "--engines", OURS])

    measured = {name.split("--")[2] for name in contents(tmp_path)}
    assert measured == {PLAIN, OURS}


def test_unknown_workload_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["nonsense"]) == 2
    assert "WORKLOAD must be one of actors" in capsys.readouterr().err


def test_failing_engine_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "benchmarks.harness.workload.Workload.params_of",
        lambda self, case, effort: {"size": "not a number"},
    )

    assert bench(tmp_path) == 1

    page = (tmp_path / "benchmarks.md").read_text()
    assert f"{OURS} failed in reactors (10, 100): TypeError" in page
    assert "TypeError" in capsys.readouterr().out


def test_engine_that_cannot_be_installed_is_missing_with_the_reason(
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

    found, missing = places(["ray-actors", "ray-cgraph"], None, lambda text: None)

    assert found == {}
    assert set(missing) == {"ray-actors", "ray-cgraph"}
    assert "No matching distribution" in missing["ray-actors"]
    assert len(asked) == 2  # both share an environment, which is tried once


def test_engine_whose_environment_lacks_a_module_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = environments.Place("python", {})
    monkeypatch.setattr(environments.Environment, "set_up", lambda *_: place)
    monkeypatch.setattr(
        environments, "lacking", lambda _, modules: [m for m in modules if m == "lark"]
    )

    found, missing = places(["lf-gil", "lark-gil"], None, lambda text: None)

    assert list(found) == ["lf-gil"]
    assert missing == {"lark-gil": "lark not installed in python"}


def copy_package(directory: Path) -> Path:
    """Copy our package as it is installed; importing the copy leaves a mark."""
    package = Path(reactorl.__file__).parent
    ignore = shutil.ignore_patterns("__pycache__", "*.so")
    target = shutil.copytree(package, directory / "src" / "reactorl", ignore=ignore)
    for stub in package.rglob("_*.pyi"):
        name = ".".join(stub.relative_to(package.parent).with_suffix("").parts)
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        shutil.copy(spec.origin, target / stub.relative_to(package).parent)
    shutil.copytree(get_include(), target / "include")
    with (target / "__init__.py").open("a") as file:
        file.write("\nimport pathlib\npathlib.Path(__file__).with_name('used').touch()")
    return directory


@pytest.mark.parametrize(
    ("suite", "workload", "case", "engines"),
    [
        ("runtime", "star", "2", [OURS, OURS_1, BODIES]),
        ("vector", "vector", "cartpole-15", [OURS_1, PLAIN_VECTOR]),
    ],
)
def test_two_builds_are_measured_in_turns(
    suite: str,
    workload: str,
    case: str,
    engines: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    this, older = copy_package(tmp_path / "this"), copy_package(tmp_path / "older")

    def built(source: Source, *_: object) -> Path:
        """Stand in for building, which takes minutes."""
        return (older if source.label else this) / "src"

    monkeypatch.setattr(builds, "BUILDS", tmp_path / "builds")
    monkeypatch.setattr(builds, "_built", built)
    monkeypatch.setattr(Source, "compiled_in_place", lambda *_: False)
    words = ["--suite", suite, workload, "--smoke", "--here", "--against", str(older)]
    if PLAIN_VECTOR in engines:  # not one of ours: only if it is named
        words += ["--engines", *engines]
    out = tmp_path / "results"

    assert command.main([*words, "--out", str(out)]) == 0

    _, results = Store(out).read()
    ours = [engine for engine in engines if engine != PLAIN_VECTOR]
    found = {m.job.engine: m for m in results.measurements if m.job.case == case}
    assert set(found) == {*engines, *(f"{engine}@older" for engine in ours)}
    order = list(found)
    for engine in ours:
        assert order.index(f"{engine}@older") == order.index(engine) + 1
    assert len({m.digest for m in found.values()}) == 1
    assert (this / "src" / "reactorl" / "used").exists()
    assert (older / "src" / "reactorl" / "used").exists()
    page = (out / "benchmarks.md").read_text()
    for engine in ours:
        assert f"{engine}: time over that of older" in page
    assert "not measured" not in page


def test_interpreter_that_imports_another_build_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetUpError, match=f"must come from {tmp_path}"):
        builds._check(sys.executable, tmp_path)


def test_unknown_revision_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--suite", "runtime", "--here", "--out", str(tmp_path)]

    assert command.main([*words, "--against", "no-such-revision"]) == 2

    shown = " ".join(capsys.readouterr().out.split())
    assert "--against must be a revision or a directory with src/reactorl" in shown


def test_revision_is_extracted_from_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org"]
    root = tmp_path / "repository"
    (root / "src" / "reactorl").mkdir(parents=True)
    file = root / "src" / "reactorl" / "__init__.py"
    for text in ("old", "new"):
        file.write_text(text)
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", text]):
            subprocess.run([*git, *words], cwd=root, check=True)
    monkeypatch.setattr(builds, "ROOT", root)
    monkeypatch.setattr(environments, "ROOT", root)
    monkeypatch.setattr(builds, "BUILDS", tmp_path / "builds")

    source = builds.other_source("HEAD~1")

    assert (source.directory / "src/reactorl/__init__.py").read_text() == "old"
    assert builds.other_source("HEAD~1") == source


def test_complete_full_run_of_main_writes_the_docs() -> None:
    def writes(*words: str) -> bool:
        parser = argparse.ArgumentParser()
        command.add_arguments(parser)
        options = parser.parse_args(words)
        names = options.workloads or SUITES[options.suite].workloads
        return command._is_complete_main_run(options, names)

    assert writes("--full")
    assert not writes("--quick")
    assert not writes("--full", "actors")
    assert not writes("--full", "--engines", "plain")
    assert not writes("--full", "--suite", "runtime")
    assert not writes("--full", "--against", "HEAD")
