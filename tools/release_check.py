#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check what a release needs, from its version to the bytes of its wheels.

Every check is a function that yields problems; none means that it passed. Checks read
files only, except ``reproducible``, which builds again and can be skipped.

Standard library only.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from dataclasses import dataclass, field
from email.parser import BytesParser
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from cpython_build import Unavailable, call, digest, say
from wheels import ROOT, WANTED, build, dist_parser, record_of, tag_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

LICENCES = {"LICENSE", "src/reactorl/diagram/assets/elkjs/LICENSE.md"}
"""Texts that wheels must contain: our own, and those of code by others."""
THIRD_PARTY = re.compile(r"\.min\.(js|css)(\.gz)?$|/(vendor|third_party)/")
"""Names of files that are the work of others; each needs a licence beside it."""
PATHS = re.compile(
    rb"(?<![\w.$}/*-])/(?:root|home|Users|work|build|tmp|private|var/folders|opt/hosted)"
    rb"/[\w.+-]+(?:/[\w.+-]+)*"
)
"""Absolute paths of a build machine."""
BINARY = (".so", ".dylib", ".pyd")


@dataclass(frozen=True)
class Release:
    """What is to be released.

    Attributes:
        root: The repository.
        dist: Directory of the source distribution and the wheels.
        site: Directory of the built documentation.
        tags: Tags of the wheels that must exist.
        own_paths: Directories of this machine that must not occur in an artefact.
    """

    root: Path
    dist: Path
    site: Path
    tags: Sequence[str] = WANTED
    own_paths: Sequence[str] = field(default=())

    @property
    def version(self) -> str:
        """The version in pyproject.toml."""
        text = (self.root / "pyproject.toml").read_text()
        return str(tomllib.loads(text)["project"]["version"])

    @property
    def wheels(self) -> list[Path]:
        """The wheels of this version."""
        return sorted(self.dist.glob(f"reactorl-{self.version}-*.whl"))

    @property
    def extensions(self) -> list[str]:
        """The extension modules that CMake builds, as paths without a suffix."""
        text = (self.root / "CMakeLists.txt").read_text()
        found = re.findall(r"^ *reactorl_extension\((\w+) (\S+)", text, re.MULTILINE)
        return [f"{directory}/{name}" for name, directory in found]

    @property
    def sdist(self) -> Path:
        """Where the source distribution has to be."""
        return self.dist / f"reactorl-{self.version}.tar.gz"


Problems: TypeAlias = "Iterator[str]"

# --- Checks ---------------------------------------------------------------------------


def version(release: Release) -> Problems:
    """The version is a release number, and no artefact has another one."""
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", release.version):
        yield f"version must be like 1.2.3 or 1.2.3rc1, got {release.version!r}"
    ours = {release.sdist, *release.wheels}
    for path in sorted({*release.dist.glob("*.whl"), *release.dist.glob("*.tar.gz")}):
        if path not in ours:
            yield f"{path.name} must have version {release.version}; remove it"


def changelog(release: Release) -> Problems:
    """CHANGELOG.md has a dated entry for the version, and it is not empty."""
    text = (release.root / "CHANGELOG.md").read_text()
    heading = rf"^## \[{re.escape(release.version)}\] - \d{{4}}-\d\d-\d\d$"
    found = re.search(heading + r"\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if found is None:
        yield (
            f"CHANGELOG.md must have the line '## [{release.version}] - YYYY-MM-DD'; "
            "move the entries of Unreleased below it"
        )
    elif not re.search(r"^- ", found[1], re.MULTILINE):
        yield f"CHANGELOG.md must have entries for {release.version}, got none"


def documentation(release: Release) -> Problems:
    """The documentation is built and newer than its sources."""
    index = release.site / "index.html"
    if not index.exists():
        yield f"{index} must exist; run make docs"
        return
    built = index.stat().st_mtime_ns
    pages = [release.root / "mkdocs.yml", *(release.root / "docs").rglob("*.md")]
    for page in sorted(pages):
        if page.stat().st_mtime_ns > built:
            name = page.relative_to(release.root)
            yield f"{name} must not be newer than the documentation; run make docs"


def all_wheels(release: Release) -> Problems:
    """There is one wheel for each tag, and it needs no newer system than promised."""
    found: dict[str, list[Path]] = {}
    for wheel in release.wheels:
        _, _, _, abi, platforms = wheel.stem.split("-")
        found.setdefault(abi, []).append(wheel)
        if not re.search(r"manylinux2014_|macosx_", platforms):
            yield f"{wheel.name} must be for manylinux2014 or macOS"
    for tag in release.tags:
        if tag not in found:
            yield f"a wheel with tag {tag} must exist; run make wheels ARGS={tag}"


def wheel_contents(release: Release) -> Problems:
    """Wheels contain the package, its extensions and nothing beside it."""
    for wheel in release.wheels:
        names = set(read_wheel(wheel))
        info = f"reactorl-{release.version}.dist-info/"
        for name in sorted(names):
            if not name.startswith(("reactorl/", info)):
                yield f"{wheel.name} must contain the package only, got {name}"
            if "__pycache__" in name:
                yield f"{wheel.name} must not contain {name}"
        if "reactorl/py.typed" not in names:
            yield f"{wheel.name} must contain reactorl/py.typed"
        abi = tag_of(wheel).removeprefix("cp")
        for stem in release.extensions:
            built = [n for n in names if n.startswith(f"{stem}.")]
            built = [n for n in built if n.endswith(BINARY)]
            if len(built) != 1 or f"-{abi}-" not in built[0]:
                yield (
                    f"{wheel.name} must contain one extension {stem} for {abi}, "
                    f"got {', '.join(sorted(built)) or 'none'}"
                )


def wheels_tested(release: Release) -> Problems:
    """All tests have passed with every wheel, and the versions are written down."""
    for wheel in release.wheels:
        record = record_of(wheel)
        if not record.exists():
            yield f"{record.name} must exist; run make test-wheels"
        elif digest(wheel) not in record.read_text():
            yield f"{record.name} must be of this {wheel.name}; run make test-wheels"


def source(release: Release) -> Problems:
    """The source distribution has every file of the repository, and no other."""
    if not release.sdist.exists():
        yield f"{release.sdist} must exist; run make wheels"
        return
    try:
        listed = call(["git", "-C", release.root, "ls-files"]).splitlines()
    except Unavailable as error:
        yield f"git ls-files failed: {error}"
        return
    hidden = (".ci/", ".github/")
    expected = {name for name in listed if not name.startswith(hidden)} | {"PKG-INFO"}
    found = {name.partition("/")[2] for name in read_sdist(release.sdist)}
    for name in sorted(expected - found):
        yield f"{release.sdist.name} must contain {name}"
    for name in sorted(found - expected):
        yield f"{release.sdist.name} must not contain {name}, which is not in git"


def licences(release: Release) -> Problems:
    """Artefacts contain the licence of everything they ship, and name it."""
    for wheel in release.wheels:
        files = read_wheel(wheel)
        info = f"reactorl-{release.version}.dist-info"
        for name in sorted(LICENCES):
            if not files.get(f"{info}/licenses/{name}", b"").strip():
                yield f"{wheel.name} must contain the licence {name}"
        expression = BytesParser().parsebytes(files.get(f"{info}/METADATA", b""))
        if not expression["License-Expression"]:
            yield f"{wheel.name} must have a License-Expression in its METADATA"
        yield from _unlicensed(wheel.name, files)
    if release.sdist.exists():
        names = {name.partition("/")[2] for name in read_sdist(release.sdist)}
        for name in sorted(LICENCES - names):
            yield f"{release.sdist.name} must contain the licence {name}"


def _unlicensed(artefact: str, files: Mapping[str, bytes]) -> Problems:
    for name in sorted(files):
        if not THIRD_PARTY.search(name):
            continue
        folder = name.rpartition("/")[0]
        if not any(re.match(rf"{re.escape(folder)}/LICEN[CS]E", n) for n in files):
            yield f"{artefact} must contain a licence beside {name}"


def machine_paths(release: Release) -> Problems:
    """No artefact contains an absolute path of the machine that built it."""
    own = [path.encode() for path in release.own_paths]
    for artefact in (*release.wheels, release.sdist):
        if not artefact.exists():
            continue
        binary = artefact.suffix == ".whl"
        files = read_wheel(artefact) if binary else read_sdist(artefact)
        for name, content in files.items():
            found = {one for one in own if one in content}
            # Sources may mention paths, in examples; compiled files have no reason to.
            if name.endswith(BINARY):
                found |= set(PATHS.findall(content))
            for path in sorted(found):
                yield f"{artefact.name}: {name} must not contain {path.decode()}"


def reproducible(
    release: Release, rebuild: Callable[[Sequence[str], Path], None]
) -> Problems:
    """A second build, in another directory, has the same bytes.

    Args:
        release: The release.
        rebuild: Builds the wheels with some tags, and the source distribution, in a
            directory.
    """
    built = {tag_of(wheel): wheel for wheel in release.wheels}
    tags = [tag for tag in release.tags if tag in built]
    with tempfile.TemporaryDirectory() as scratch:
        rebuild(tags, Path(scratch))
        for first in (release.sdist, *(built[tag] for tag in tags)):
            second = Path(scratch, first.name)
            if not second.exists():
                yield f"{first.name} must be built again, but the second build lacks it"
            elif digest(first) != digest(second):
                yield (
                    f"{first.name} must have the same bytes in two builds; "
                    f"they differ in {', '.join(differing(first, second)) or 'order'}"
                )


# --- Reading --------------------------------------------------------------------------


def read_wheel(path: Path) -> dict[str, bytes]:
    """Return the files in a wheel."""
    with zipfile.ZipFile(path) as archive:
        return {n: archive.read(n) for n in archive.namelist() if not n.endswith("/")}


def read_sdist(path: Path) -> dict[str, bytes]:
    """Return the files in a source distribution."""
    found = {}
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file is not None:
                found[member.name] = file.read()
    return found


def differing(first: Path, second: Path) -> list[str]:
    """Return the names of files that differ between two archives of one kind."""
    read = read_wheel if first.suffix == ".whl" else read_sdist
    left, right = read(first), read(second)
    return sorted(n for n in left.keys() | right.keys() if left.get(n) != right.get(n))


# --- Command line ---------------------------------------------------------------------

CHECKS: dict[str, Callable[[Release], Problems]] = {
    "version": version,
    "changelog": changelog,
    "documentation": documentation,
    "wheels": all_wheels,
    "wheel contents": wheel_contents,
    "tests on wheels": wheels_tested,
    "source distribution": source,
    "licences": licences,
    "paths of this machine": machine_paths,
}
"""The checks that only read, in the order of the report."""


def check(
    release: Release, rebuild: Callable[[Sequence[str], Path], None] | None
) -> dict[str, list[str]]:
    """Run all checks; return the problems of each by its name.

    Args:
        release: The release.
        rebuild: Builds again; None: whether the build is reproducible is not checked.
    """
    found = {name: list(one(release)) for name, one in CHECKS.items()}
    if rebuild is not None:
        found["reproducible"] = list(reproducible(release, rebuild))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = dist_parser(__doc__, tag_help="require a wheel with this tag only")
    parser.add_argument(
        "--no-rebuild",
        action="store_true",
        help="do not build again to see whether the bytes are the same",
    )
    options = parser.parse_args(arguments)
    release = Release(
        root=ROOT,
        dist=options.dist.resolve(),
        site=ROOT / "build" / "site",
        tags=options.tag or WANTED,
        own_paths=(str(ROOT), str(Path.home()) + "/."),
    )

    def rebuild(tags: Sequence[str], out: Path) -> None:
        build(tags, ROOT / "build" / "wheels", out)

    try:
        found = check(release, None if options.no_rebuild else rebuild)
    except (Unavailable, OSError, subprocess.SubprocessError) as error:
        say(f"release check failed: {error}")
        return 1
    for name, problems in found.items():
        print(f"{'FAILED' if problems else 'ok':8}{name}")
        for problem in problems:
            print(f"        - {problem}")
    return 1 if any(found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
