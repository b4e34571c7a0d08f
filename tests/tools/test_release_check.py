# SPDX-License-Identifier: Apache-2.0
"""Each check of a release passes on a good release, and names what is wrong in others.

Artefacts are made up: small archives without compiled code.
"""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import tarfile
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import release_check
from release_check import Release

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

ELK = "src/reactorl/diagram/assets/elkjs/LICENSE.md"
INFO = "reactorl-1.2.0.dist-info"
WHEEL = "reactorl-1.2.0-cp311-cp311-manylinux2014_x86_64.whl"
TESTED = WHEEL.replace(".whl", ".tested.txt")
SUFFIX = "cpython-311-x86_64-linux-gnu.so"
CHANGES = "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-01-02\n\n- A line.\n"
SOURCES = {
    "pyproject.toml": '[project]\nname = "reactorl"\nversion = "1.2.0"\n',
    "CHANGELOG.md": CHANGES,
    "LICENSE": "ours",
    ELK: "theirs",
    "docs/index.md": "# Home\n",
    "mkdocs.yml": "site_name: x\n",
    "CMakeLists.txt": (
        "# reactorl_extension(NAME DIRECTORY)\n"
        "  reactorl_extension(_core reactorl ${sources})\n"
        "  reactorl_extension(_stepping reactorl/rl/envs\n    cpp/stepping.cpp)\n"
    ),
}
IN_WHEEL: dict[str, bytes] = {
    "reactorl/__init__.py": b"",
    "reactorl/py.typed": b"",
    f"reactorl/_core.{SUFFIX}": b"\x7fELF /usr/lib/x ./cpp/src/a.cpp",
    f"reactorl/rl/envs/_stepping.{SUFFIX}": b"\x7fELF",
    "reactorl/diagram/assets/elkjs/elk-worker.min.js.gz": b"x",
    "reactorl/diagram/assets/elkjs/LICENSE.md": b"theirs",
    f"{INFO}/METADATA": b"Name: reactorl\nLicense-Expression: Apache-2.0\n",
    f"{INFO}/licenses/LICENSE": b"ours",
    f"{INFO}/licenses/{ELK}": b"theirs",
}


def write_wheel(path: Path, files: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)


def write_sdist(path: Path, files: Mapping[str, str]) -> None:
    with tarfile.open(path, "w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"reactorl-1.2.0/{name}")
            member.size = len(content.encode())
            archive.addfile(member, io.BytesIO(content.encode()))


@pytest.fixture
def release(tmp_path: Path) -> Release:
    root, dist = tmp_path / "root", tmp_path / "dist"
    dist.mkdir()
    for name, content in SOURCES.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    subprocess.run(["git", "init", "-q", root], check=True)
    subprocess.run(["git", "-C", root, "add", "."], check=True)
    site = root / "build" / "site"
    site.mkdir(parents=True)
    (site / "index.html").touch()
    write_wheel(dist / WHEEL, IN_WHEEL)
    write_sdist(dist / "reactorl-1.2.0.tar.gz", {**SOURCES, "PKG-INFO": "x"})
    digest = hashlib.sha256((dist / WHEEL).read_bytes()).hexdigest()
    (dist / TESTED).write_text(f"# {WHEEL} sha256 {digest}\nnumpy==2.4.0\n")
    return Release(root, dist, site, tags=("cp311",), own_paths=("/made/here",))


def rebuild_same(tags: Sequence[str], out: Path) -> None:
    assert list(tags) == ["cp311"]
    write_wheel(out / WHEEL, IN_WHEEL)
    write_sdist(out / "reactorl-1.2.0.tar.gz", {**SOURCES, "PKG-INFO": "x"})


def test_a_good_release_has_no_problems(release: Release) -> None:
    found = release_check.check(release, rebuild_same)

    assert not any(found.values()), found
    assert list(found) == [*release_check.CHECKS, "reproducible"]


def test_wheels_must_have_been_tested_as_they_are(release: Release) -> None:
    (release.dist / TESTED).unlink()
    (problem,) = release_check.wheels_tested(release)
    assert problem == f"{TESTED} must exist; run make test-wheels"

    (release.dist / TESTED).write_text(f"# {WHEEL} sha256 {'0' * 64}\n")
    (problem,) = release_check.wheels_tested(release)
    assert problem == f"{TESTED} must be of this {WHEEL}; run make test-wheels"


@pytest.mark.parametrize("version", ["1.2", "1.2.0.dev1", "one"])
def test_version_must_be_that_of_a_release(release: Release, version: str) -> None:
    text = SOURCES["pyproject.toml"].replace("1.2.0", version)
    (release.root / "pyproject.toml").write_text(text)

    assert "version must be like 1.2.3" in next(release_check.version(release))


def test_artefacts_of_other_versions_are_named(release: Release) -> None:
    (release.dist / "reactorl-1.1.0.tar.gz").touch()

    (problem,) = release_check.version(release)

    assert problem == "reactorl-1.1.0.tar.gz must have version 1.2.0; remove it"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("## [Unreleased]\n\n- A line.\n", "must have the line '## [1.2.0] - YYYY"),
        ("## [1.2.0]\n\n- A line.\n", "must have the line"),
        ("## [1.2.0] - 2026-01-02\n\n## [1.1.0] - 2025-01-02\n\n- Old.\n", "entries"),
    ],
)
def test_changelog_must_have_dated_entries(
    release: Release, text: str, problem: str
) -> None:
    (release.root / "CHANGELOG.md").write_text(text)

    (found,) = release_check.changelog(release)

    assert problem in found


def test_documentation_must_exist_and_be_newer_than_its_pages(release: Release) -> None:
    index = release.site / "index.html"
    now = index.stat().st_mtime_ns
    os.utime(release.root / "docs" / "index.md", ns=(now + 1, now + 1))
    (found,) = release_check.documentation(release)
    assert found.startswith("docs/index.md must not be newer")
    index.unlink()
    (found,) = release_check.documentation(release)
    assert found.endswith("must exist; run make docs")


def test_missing_wheels_are_named(release: Release) -> None:
    (found,) = release_check.all_wheels(replace(release, tags=("cp311", "cp314t")))

    assert found.startswith("a wheel with tag cp314t must exist")


def test_wheels_of_this_machine_only_are_rejected(release: Release) -> None:
    made = release.dist / WHEEL
    made.rename(release.dist / "reactorl-1.2.0-cp311-cp311-linux_x86_64.whl")

    (found,) = release_check.all_wheels(release)

    assert "must be for manylinux2014 or macOS" in found


@pytest.mark.parametrize(
    ("extra", "without", "problem"),
    [
        ({"tests/a.py": b""}, (), "must contain the package only, got tests/a.py"),
        ({"reactorl/__pycache__/a.pyc": b""}, (), "must not contain reactorl/__pyc"),
        ({}, ("reactorl/py.typed",), "must contain reactorl/py.typed"),
        (
            {},
            (f"reactorl/rl/envs/_stepping.{SUFFIX}",),
            "one extension reactorl/rl/envs/_stepping for 311, got none",
        ),
        (
            {},
            (f"reactorl/_core.{SUFFIX}",),
            "one extension reactorl/_core for 311, got none",
        ),
        (
            {"reactorl/_core.cpython-314t-x86_64-linux-gnu.so": b""},
            (),
            "one extension reactorl/_core for 311, got reactorl/_core.cpython-311",
        ),
    ],
)
def test_wheels_contain_the_package_and_one_extension_of_each(
    release: Release, extra: dict[str, bytes], without: Sequence[str], problem: str
) -> None:
    files = {**IN_WHEEL, **extra}
    write_wheel(
        release.dist / WHEEL, {n: c for n, c in files.items() if n not in without}
    )

    (found,) = release_check.wheel_contents(release)

    assert problem in found


def test_sdist_must_have_the_files_of_git_and_no_others(release: Release) -> None:
    files = {**SOURCES, "PKG-INFO": "x", "notes.txt": "mine"}
    del files["mkdocs.yml"]
    write_sdist(release.sdist, files)

    assert list(release_check.source(release)) == [
        "reactorl-1.2.0.tar.gz must contain mkdocs.yml",
        "reactorl-1.2.0.tar.gz must not contain notes.txt, which is not in git",
    ]
    release.sdist.unlink()
    (found,) = release_check.source(release)
    assert found.endswith("must exist; run make wheels")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({f"{INFO}/licenses/LICENSE": b" \n"}, "must contain the licence LICENSE"),
        ({f"{INFO}/METADATA": b"Name: reactorl\n"}, "must have a License-Expression"),
        ({"reactorl/web/lib.min.js": b""}, "a licence beside reactorl/web/lib.min.js"),
    ],
)
def test_licences_of_everything_are_required(
    release: Release, changes: dict[str, bytes], problem: str
) -> None:
    write_wheel(release.dist / WHEEL, {**IN_WHEEL, **changes})

    (found,) = release_check.licences(release)

    assert problem in found


@pytest.mark.parametrize(
    ("name", "content", "path"),
    [
        (f"reactorl/_core.{SUFFIX}", b"\0/home/me/src/a.cpp\0", "/home/me/src/a.cpp"),
        (f"reactorl/_core.{SUFFIX}", b"\0/tmp/x-12/b.o\0", "/tmp/x-12/b.o"),
        ("reactorl/__init__.py", b"# /made/here/a.py", "/made/here"),
    ],
)
def test_paths_of_the_build_machine_are_found(
    release: Release, name: str, content: bytes, path: str
) -> None:
    write_wheel(release.dist / WHEEL, {**IN_WHEEL, name: content})

    (found,) = release_check.machine_paths(release)

    assert found == f"{WHEEL}: {name} must not contain {path}"


def test_examples_of_paths_in_sources_are_fine(release: Release) -> None:
    text = b'"""Such as /home/me/runs/1."""'
    write_wheel(release.dist / WHEEL, {**IN_WHEEL, "reactorl/a.py": text})

    assert list(release_check.machine_paths(release)) == []


def test_second_build_must_have_the_same_bytes(release: Release) -> None:
    changed = f"reactorl/_core.{SUFFIX}"

    def rebuild(tags: Sequence[str], out: Path) -> None:
        rebuild_same(tags, out)
        write_wheel(out / WHEEL, {**IN_WHEEL, changed: b"\x7fELF other"})
        (out / "reactorl-1.2.0.tar.gz").unlink()

    lacking, differs = release_check.reproducible(release, rebuild)

    assert lacking.startswith("reactorl-1.2.0.tar.gz must be built again")
    assert differs.endswith(f"they differ in {changed}")


def test_wheels_that_are_not_asked_for_are_not_built_again(release: Release) -> None:
    (release.dist / WHEEL.replace("-cp311-m", "-cp314t-m")).touch()

    assert list(release_check.reproducible(release, rebuild_same)) == []


def test_failed_checks_give_status_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = release_check.main(["--dist", str(tmp_path), "--no-rebuild"])

    assert status == 1
    assert "FAILED  wheels\n" in capsys.readouterr().out


def test_extensions_are_those_of_this_project() -> None:
    root = release_check.ROOT
    extensions = Release(root=root, dist=root, site=root).extensions

    stubs = (root / "src" / "reactorl").rglob("_*.pyi")
    assert {f"{name}.pyi" for name in extensions} == {
        stub.relative_to(root / "src").as_posix() for stub in stubs
    }
