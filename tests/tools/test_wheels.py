# SPDX-License-Identifier: Apache-2.0
"""Parts of the build and the test of wheels; nothing is compiled or downloaded."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import wheel_test
import wheels
from cpython_build import Unavailable

FACTS = (
    '{{"tag": "{tag}", "implementation": "cpython", "release": "{release}",'
    ' "version": [{version}], "headers": "{headers}"}}'
)


def python(
    path: Path, tag: str, version: str, *, release: str = "final", headers: bool = True
) -> Path:
    """Write a script that answers like an interpreter."""
    path.parent.mkdir(parents=True, exist_ok=True)
    include = path.parent / f"include-{path.name}"
    include.mkdir()
    if headers:
        (include / "Python.h").touch()
    facts = FACTS.format(tag=tag, version=version, release=release, headers=include)
    path.write_text(f"#!/bin/sh\necho '{facts}'\n")
    path.chmod(0o755)
    return path


def test_newest_interpreter_of_a_tag_is_used(tmp_path: Path) -> None:
    old = python(tmp_path / "old", "cp311", "3, 11, 2")
    new = python(tmp_path / "new", "cp311", "3, 11, 10")
    free = python(tmp_path / "free", "cp314t", "3, 14, 1")

    found = wheels.interpreters(("cp311", "cp312", "cp314t"), [new, old, free])

    assert {tag: one.path for tag, one in found.items()} == {
        "cp311": new,
        "cp314t": free,
    }


def test_interpreters_without_headers_or_before_release_are_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = python(tmp_path / "bare", "cp311", "3, 11, 2", headers=False)
    beta = python(tmp_path / "beta", "cp312", "3, 12, 0", release="beta")

    assert wheels.interpreters(("cp311", "cp312"), [bare, beta]) == {}
    said = capsys.readouterr().err
    assert "Python.h does not exist" in said
    assert "is not a final release" in said


def test_interpreters_are_looked_for_on_path_and_in_pyenv_but_not_in_shims(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = ["path", "pyenv/shims", "pyenv/versions/3.11.7/bin"]
    for place in places:
        python(tmp_path / place / "python3.11", "cp311", "3, 11, 7")
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}:{tmp_path / 'pyenv/shims'}")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    found = wheels.candidates(("cp311",))

    assert found == [
        tmp_path / "path/python3.11",
        tmp_path / "pyenv/versions/3.11.7/bin/python3.11",
    ]


def test_given_interpreter_is_used_instead_of_a_newer_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = python(tmp_path / "path/python3.12", "cp312", "3, 12, 9")
    given = python(tmp_path / "given", "cp311", "3, 11, 2")
    older = python(tmp_path / "older", "cp312", "3, 12, 1")
    monkeypatch.setenv("PATH", f"{newer.parent}:/usr/bin:/bin")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    found = wheels.select(("cp312",), [])
    assert found["cp312"].path == newer
    found = wheels.select(("cp312",), [older])
    assert found["cp312"].path == older
    with pytest.raises(Unavailable, match=r"--python must be for cp312, got .* cp311"):
        wheels.select(("cp312",), [given])


def test_groups_include_other_groups(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text(
        '[dependency-groups]\na = ["x", "y"]\nb = [{include-group = "a"}, "z", "x"]\n'
    )

    assert wheels.requirements("b", file=file) == ["x", "y", "z"]


def test_compiler_gets_the_target_the_flags_and_the_names_of_directories(
    tmp_path: Path,
) -> None:
    zig = tmp_path / "zig with space"
    zig.write_text('#!/bin/sh\nfor word; do echo "$word"; done\n')
    zig.chmod(0o755)
    names = {tmp_path / "scratch/src": ".", tmp_path / "scratch": "top"}

    made = wheels.wrappers(tmp_path / "bin", zig, names)
    said = subprocess.run(
        [made["c++"], "-c", "a b.cpp"], capture_output=True, check=True, text=True
    ).stdout.splitlines()
    archived = subprocess.run(
        [made["ar"], "x"], capture_output=True, check=True, text=True
    ).stdout.splitlines()

    assert said[0] == "c++"
    assert re.fullmatch(r"\w+-linux-gnu\.2\.17", said[said.index("-target") + 1])
    assert "-ffp-contract=off" in said
    maps = [word for word in said if word.startswith("-ffile-prefix-map=")]
    assert maps == [
        f"-ffile-prefix-map={tmp_path / 'scratch'}=top",
        f"-ffile-prefix-map={tmp_path / 'scratch/src'}=.",
    ]
    assert said[-2:] == ["-c", "a b.cpp"]
    assert archived == ["ar", "x"]


def test_every_build_rounds_after_each_operation() -> None:
    assert "-ffp-contract=off" in (wheels.ROOT / "CMakeLists.txt").read_text()


def test_source_date_is_given_or_that_of_the_last_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "12")
    assert wheels.source_date(tmp_path) == "12"
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(Unavailable, match="SOURCE_DATE_EPOCH must be set"):
        wheels.source_date(tmp_path)


def test_unknown_tags_are_rejected(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        wheels.main(["cp27"])

    assert "TAG must be one of cp311, " in capsys.readouterr().err


# --- Testing --------------------------------------------------------------------------


def test_path_for_tests_has_everything_but_compilers(tmp_path: Path) -> None:
    compilers = ["gcc", "c++", "x86_64-linux-gnu-g++-12", "clang-15", "cc", "zig"]
    others = ["git", "sh", "gccmakedep", "ccache-like", "dot"]
    for name in (*compilers, *others):
        (tmp_path / "first").mkdir(exist_ok=True)
        (tmp_path / "first" / name).touch()
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "git").touch()
    (tmp_path / "second" / "awk").touch()

    made = wheel_test.without_compilers(
        tmp_path / "made",
        [tmp_path / "first", tmp_path / "absent", tmp_path / "second"],
    )

    assert sorted(p.name for p in made.iterdir()) == sorted([*others, "awk"])
    assert (made / "git").resolve() == tmp_path / "first" / "git"


def test_tag_of_a_wheel_is_that_of_its_abi() -> None:
    name = "reactorl-0.1.0-cp314-cp314t-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"

    assert wheels.tag_of(Path(name)) == "cp314t"


def test_digests_must_be_equal_on_both_sides() -> None:
    ours = {"digests": {"program a": "1", "train b": "2", "vector c": "3"}}
    other = {"digests": {"program a": "1", "train b": "0"}}

    assert wheel_test.differences(ours, ours) == []
    assert wheel_test.differences(ours, other) == ["train b", "vector c"]


def test_wheel_without_its_source_distribution_is_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "reactorl-0.1.0-cp311-cp311-manylinux2014_x86_64.whl"
    target = wheels.Interpreter("cp311", tmp_path / "python", (3, 11, 2))

    with pytest.raises(Unavailable, match=r"reactorl-0\.1\.0\.tar\.gz must exist"):
        wheel_test.install_both(wheel, target, tmp_path, None)


def test_gcc_build_of_the_same_source_distribution_is_used_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sdist = tmp_path / "reactorl-0.1.0.tar.gz"
    target = wheels.Interpreter("cp311", tmp_path / "python", (3, 11, 2))
    commands: list[list[Any]] = []

    def pip(command: list[Any], **_: object) -> str:
        commands.append(command)
        (tmp_path / "gcc-cp311/packages").mkdir(parents=True)
        return ""

    monkeypatch.setattr(wheel_test, "environment", lambda *_: tmp_path / "env/python")
    monkeypatch.setattr(wheel_test, "unpack", lambda *_: tmp_path / "source")
    monkeypatch.setattr(wheel_test, "call", pip)
    built = []
    for content in (b"first", b"first", b"second"):
        sdist.write_bytes(content)
        built.append(wheel_test.built_by_gcc(sdist, target, tmp_path))

    assert set(built) == {tmp_path / "gcc-cp311/packages"}
    assert len(commands) == 2


def test_record_of_a_tested_wheel_has_its_digest_and_constraints_for_pip(
    tmp_path: Path,
) -> None:
    wheel = tmp_path / "reactorl-1.2.0-cp311-cp311-manylinux2014_x86_64.whl"
    wheel.write_bytes(b"content")

    wheel_test.write_record(wheel, Path(sys.executable))

    record = tmp_path / "reactorl-1.2.0-cp311-cp311-manylinux2014_x86_64.tested.txt"
    first, second, *lines = record.read_text().splitlines()
    assert first.startswith(f"# All tests passed with CPython {sys.version.split()[0]}")
    assert second == f"# {wheel.name} sha256 {hashlib.sha256(b'content').hexdigest()}"
    assert f"pytest=={pytest.__version__}" in lines
    assert not any("reactorl" in line for line in lines)


def test_packages_that_lack_others_are_refused(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    made = tmp_path / "venv/bin/python"
    wheel_test.check_packages(made)
    info = wheel_test.site_packages(tmp_path / "venv") / "lonely-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: lonely\nVersion: 1\nRequires-Dist: absent\n"
    )

    with pytest.raises(Unavailable, match="pip check failed: lonely 1 requires absent"):
        wheel_test.check_packages(made)


def test_the_workflow_builds_the_wheels_of_a_release_with_targets_that_exist() -> None:
    file = wheels.ROOT / ".github/workflows/wheels.yml"
    if not file.exists():
        pytest.skip("the source distribution does not contain it")
    project = tomllib.loads((wheels.ROOT / "pyproject.toml").read_text())
    workflow = file.read_text()
    makefile = (wheels.ROOT / "Makefile").read_text()

    built = project["tool"]["cibuildwheel"]["build"]
    pythons = re.search(r"python-version: \|\n((?: +3\.\d+t?\n)+)", workflow)
    targets = re.findall(r"- run: make ([\w-]+)", workflow)

    assert built == [f"{tag}-*" for tag in wheels.WANTED]
    assert pythons is not None
    tags = {f"cp{name.replace('.', '')}" for name in pythons[1].split()}
    assert tags == set(wheels.WANTED)
    assert targets == ["wheels", "test-wheels", "release-check"]
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
