# SPDX-License-Identifier: Apache-2.0
"""Two builds of our package, to be measured in turns: this source and another one.

The other source is a revision of this repository, or a directory (such as another
worktree). Both are built in the same way, for the interpreter of each engine, unless
both directories have extensions that were compiled in place. Each build gets a virtual
environment that sees it and, after it, all packages of the engine's interpreter.
"""

from __future__ import annotations

import json
import subprocess
import tarfile
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.harness.environments import (
    Place,
    SetUpError,
    call,
    exclusive,
    facts_of,
    pip_install,
)
from benchmarks.harness.fingerprints import ours_digest, value_digest
from benchmarks.harness.process import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

BUILDS = ROOT / "build" / "against"
LIBRARIES = """
import json, os, sys, sysconfig
ours = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
ours.add(os.path.join(sysconfig.get_path("stdlib"), "lib-dynload"))
found = [p for p in sys.path if os.path.isdir(p) and p not in ours]
print(json.dumps([found, sysconfig.get_config_var("EXT_SUFFIX"), sys._base_executable]))
"""
"""Prints the directories of packages of an interpreter, and where it comes from."""


@dataclass(frozen=True, slots=True)
class Source:
    """A source tree of our package.

    Attributes:
        label: Names it in engines: ``ours-ft@LABEL``.
        directory: Its root.
    """

    label: str
    directory: Path

    def compiled_in_place(self, suffix: str) -> bool:
        """Return whether it has extensions for an interpreter beside its modules."""
        return (self.directory / "src" / "reactorl" / f"_core{suffix}").exists()


def other_source(given: str) -> Source:
    """Return the source of a revision, or in a directory.

    Raises:
        SetUpError: It is neither.
    """
    directory = Path(given)
    if (directory / "src" / "reactorl").is_dir():
        return Source(directory.resolve().name, directory.resolve())
    try:
        commit = call(["git", "rev-parse", "--verify", f"{given}^{{commit}}"])
    except SetUpError:
        msg = (
            f"--against must be a revision or a directory with src/reactorl, got "
            f"{given!r}"
        )
        raise SetUpError(msg) from None
    label = commit[:10]
    source = BUILDS / label / "source"
    with exclusive(BUILDS / label):
        if not source.exists():
            found = subprocess.run(
                ["git", "archive", commit], cwd=ROOT, capture_output=True, check=True
            )
            part = source.with_name("source.part")
            with tarfile.open(fileobj=BytesIO(found.stdout)) as archive:
                archive.extractall(part, filter="data")
            part.rename(source)
    return Source(label, source)


def both_builds(
    engines: Mapping[str, Place], other: Source, say: Callable[[str], None]
) -> dict[str, Place]:
    """Return the places of engines of ours, each in two builds.

    Args:
        engines: Engines that run our package, and where they are installed.
        other: The other source; its engines are called ``NAME@LABEL``.
        say: Called with what is being done.

    Raises:
        SetUpError: Something cannot be built.
    """
    found: dict[str, Place] = {}
    this = Source("", ROOT)
    made: dict[tuple[str, str], Place] = {}
    for name, place in engines.items():
        paths, suffix, base = _libraries(place.python)
        in_place = all(s.compiled_in_place(suffix) for s in (this, other))
        for source in (this, other):
            key = source.label, place.python
            if key not in made:
                packages = (
                    source.directory / "src"
                    if in_place
                    else _built(source, place.python, suffix, say)
                )
                python = _environment(packages, paths, base)
                _check(python, packages)
                made[key] = replace(
                    place,
                    python=python,
                    facts=facts_of(python),
                    source=ours_digest(source.directory),
                )
            found[f"{name}@{source.label}" if source.label else name] = made[key]
    return found


def _libraries(python: str) -> tuple[list[str], str, str]:
    paths, suffix, base = json.loads(call([python, "-c", LIBRARIES]))
    return [p for p in paths if p != str(ROOT)], suffix, base


def _built(
    source: Source, python: str, suffix: str, say: Callable[[str], None]
) -> Path:
    """Return a directory with our package, built from a source for an interpreter."""
    digest = ours_digest(source.directory)
    kind = suffix.split(".")[1]
    target = BUILDS / f"{digest}-{kind}" / "packages"
    with exclusive(target.parent):
        if not target.exists():
            say(f"building {source.label or 'this source'} for {kind}")
            part = target.with_name("packages.part")
            options = ("--no-build-isolation", "--no-deps", "--upgrade")
            build = ("-C", f"build-dir={target.with_name('cmake')}")
            where = ("--target", str(part))
            pip_install(python, *options, *build, *where, str(source.directory))
            part.rename(target)
    return target


def _environment(packages: Path, paths: list[str], base: str) -> str:
    """Return an interpreter that finds a build before everything else installed."""
    named = f"{packages}\n{base}\n{paths}"
    home = BUILDS / f"venv-{value_digest(named)}"
    python = home / "bin" / "python"
    with exclusive(home):
        if not (home / ".ready").exists():
            call([base, "-m", "venv", "--clear", "--without-pip", str(home)])
            code = "import sysconfig; print(sysconfig.get_path('purelib'))"
            site = Path(call([str(python), "-c", code]))
            (site / "packages.pth").write_text("\n".join([str(packages), *paths]))
            (home / ".ready").touch()
    return str(python)


def _check(python: str, packages: Path) -> None:
    """Raise unless an interpreter imports our package from a directory."""
    code = "import reactorl; print(reactorl.__file__)"
    found = Path(call([python, "-P", "-c", code]))
    if not found.is_relative_to(packages):
        msg = f"reactorl must come from {packages}, got {found}"
        raise SetUpError(msg)
