#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Build the source distribution and wheels for Linux that need glibc 2.17 or later.

The compiler is zig from PyPI, which links against the symbols of any glibc and links
libc++ statically, so no container and no system compiler is needed. Wheels are built
from the source distribution, not from the working tree, so a file that it lacks is
noticed here.

Equal inputs give equal bytes: times come from ``SOURCE_DATE_EPOCH`` (the last commit's
if unset), and every path of this machine is replaced by a short name.

There is a wheel per version of CPython, and no wheel for the stable ABI (``abi3``),
which nanobind supports from 3.12 on. The bindings do not compile for it: they read
tuples, lists, dicts and floats by macros that it does not have (``PyTuple_GET_ITEM``,
``PyFloat_AS_DOUBLE``), in every step and for every value, and they attach and detach
workers with ``PyThreadState_DeleteCurrent``, ``PyInterpreterState_Main`` and
``_Py_IsFinalizing``, which it lacks in 3.12. Each has a slower or a later replacement;
free-threaded 3.14 has no stable ABI at all. Four wheels cost minutes of building, and
nothing at run time.

Standard library only. Interpreters are given with ``--python``, or found on PATH, in
pyenv, and in the per-user cache of tools/get_python.py; versions without an interpreter
are left out.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cpython_build import (
    VARIANTS,
    Cache,
    Unavailable,
    call,
    default_root,
    fail,
    from_cache,
    say,
    unpack,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
WANTED = ("cp311", "cp312", "cp313", "cp314", "cp314t")
"""Wheels of a release, by the tag of their ABI."""
POLICY = "manylinux2014"
GLIBC = "2.17"
PIP_TIMEOUT = 1200.0  # seconds
BUILD_TIMEOUT = 3600.0  # seconds; a build takes 90 on one core

FLAGS = (
    # Fused multiply-adds round once where gcc's build rounds twice: other bits.
    "-ffp-contract=off",
    # zig enables UBSan unless it sees an optimization level.
    "-fno-sanitize=all",
    "-g0",
)
# Without these, CMake looks for clang-scan-deps, which zig does not have, and its
# checks fail; LTO would need a linker plugin.
SETTINGS = {
    "CMAKE_CXX_SCAN_FOR_MODULES": "OFF",
    "CMAKE_HAVE_LIBC_PTHREAD": "ON",
    "REACTORL_LTO": "OFF",
}

# Run by an interpreter.
FACTS = """
import json, platform, sys, sysconfig
free = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
print(json.dumps({
    "tag": "cp{}{}".format(*sys.version_info) + free,
    "implementation": sys.implementation.name,
    "release": sys.version_info.releaselevel,
    "version": sys.version_info[:3],
    "headers": sysconfig.get_path("include"),
    "machine": platform.machine(),
    "prefix": sys.prefix,
    "base": sys.base_prefix,
}))
"""
SDIST = """
import sys
from scikit_build_core.build import build_sdist
print(build_sdist(sys.argv[1]))
"""


@dataclass(frozen=True)
class Interpreter:
    """A CPython to build for.

    Attributes:
        tag: Tag of its ABI, such as ``cp311`` or ``cp314t``.
        path: The executable.
        version: Major, minor and micro version.
    """

    tag: str
    path: Path
    version: tuple[int, int, int]


# --- Interpreters ---------------------------------------------------------------------


def candidates(tags: Iterable[str] = WANTED) -> list[Path]:
    """Return executables that may be interpreters of these tags, without running any.

    pyenv's shims are left out: they exist for versions that are not selected.
    """
    found: list[Path] = []
    for tag in tags:
        name = f"python3.{tag.removeprefix('cp3')}"
        places = [Path(p) for p in os.environ.get("PATH", "").split(os.pathsep) if p]
        root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
        places += sorted((root / "versions").glob("*/bin"))
        found += [p / name for p in places if p.name != "shims" and (p / name).exists()]
    for variant in VARIANTS.values():
        with contextlib.suppress(Unavailable, OSError):
            found.append(from_cache(Cache(default_root(), variant)))
    return found


def inspect(python: Path) -> Interpreter:
    """Return an interpreter's facts.

    Raises:
        Unavailable: It does not run, or nothing can be built for it.
    """
    facts = json.loads(call([python, "-I", "-c", FACTS]))
    if facts["implementation"] != "cpython" or facts["release"] != "final":
        fail(f"{python} is not a final release of CPython")
    if not Path(facts["headers"], "Python.h").exists():
        fail(f"{python} has no headers: {facts['headers']}/Python.h does not exist")
    major, minor, micro = facts["version"]
    return Interpreter(facts["tag"], python, (major, minor, micro))


def interpreters(
    tags: Sequence[str] = WANTED, paths: Iterable[Path] | None = None
) -> dict[str, Interpreter]:
    """Return one interpreter for each tag that has one, in the order of the tags.

    Args:
        tags: The tags to look for.
        paths: Executables to choose from; None: those of this machine.
    """
    found: dict[str, Interpreter] = {}
    for path in candidates(tags) if paths is None else paths:
        try:
            one = inspect(path)
        except Unavailable as error:
            say(f"{path}: {error}")
            continue
        if one.tag not in found or one.version > found[one.tag].version:
            found[one.tag] = one
    return {tag: found[tag] for tag in tags if tag in found}


def select(tags: Sequence[str], given: Iterable[Path]) -> dict[str, Interpreter]:
    """Return one interpreter for each tag that has one, in the order of the tags.

    Args:
        tags: The tags to look for.
        given: Executables to prefer to those that are found.

    Raises:
        Unavailable: Nothing can be built for a given one, or its tag is not asked for.
    """
    found = interpreters(tags)
    for path in given:
        one = inspect(path.absolute())  # not resolved: an environment has links
        if one.tag not in tags:
            fail(f"--python must be for {', '.join(tags)}, got {path} for {one.tag}")
        found[one.tag] = one
    return {tag: found[tag] for tag in tags if tag in found}


# --- Environments ---------------------------------------------------------------------


def requirements(*groups: str, file: Path = ROOT / "pyproject.toml") -> list[str]:
    """Return the requirements of dependency groups; pip before 25.1 cannot read them.

    Raises:
        KeyError: There is no such group.
    """
    table = tomllib.loads(file.read_text())["dependency-groups"]
    found: list[str] = []
    for group in groups:
        for entry in table[group]:
            if isinstance(entry, str):
                found.append(entry)
            else:
                found += requirements(entry["include-group"], file=file)
    return list(dict.fromkeys(found))


def environment(place: Path, python: Path, wanted: Sequence[str]) -> Path:
    """Return the interpreter of a virtual environment with these requirements.

    One that was made before with the same requirements and interpreter is used again.
    """
    stamp = place / "requirements.json"
    content = json.dumps([str(python), *wanted])
    made = place / "bin" / "python"
    if stamp.exists() and stamp.read_text() == content and made.exists():
        return made
    say(f"Making {place}")
    call([python, "-m", "venv", "--clear", place], timeout=PIP_TIMEOUT)
    pip = [str(made), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    call([*pip, "--only-binary", ":all:", *wanted], timeout=PIP_TIMEOUT)
    stamp.write_text(content)
    return made


# --- The compiler ---------------------------------------------------------------------


def wrappers(place: Path, zig: Path, names: Mapping[Path, str]) -> dict[str, Path]:
    """Write the programs that CMake takes for a compiler and its tools.

    Args:
        place: Directory to write them to.
        zig: zig's executable.
        names: What the artefacts call each directory of this machine.

    Returns:
        The programs by the name of zig's subcommand.
    """
    place.mkdir(parents=True, exist_ok=True)
    target = f"{platform.machine()}-linux-gnu.{GLIBC}"
    # The last match wins in clang: subdirectories come after their parents.
    maps = [
        f"-ffile-prefix-map={directory}={name}"
        for directory, name in sorted(names.items(), key=lambda item: str(item[0]))
    ]
    compile_options = ["-target", target, *FLAGS, *maps]
    made = {}
    for command in ("cc", "c++", "ar", "ranlib"):
        options = compile_options if command in ("cc", "c++") else []
        words = shlex.join([str(zig), command, *options])
        made[command] = place / command
        made[command].write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        made[command].chmod(0o755)
    return made


def source_date(root: Path = ROOT) -> str:
    """Return ``SOURCE_DATE_EPOCH``: of the environment, else of the last commit.

    Raises:
        Unavailable: It is not set, and this is not a clone.
    """
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return given
    try:
        return call(["git", "-C", root, "log", "-1", "--format=%ct"]).strip()
    except Unavailable as error:
        fail(f"SOURCE_DATE_EPOCH must be set where there is no git history: {error}")


# --- Building -------------------------------------------------------------------------


@dataclass(frozen=True)
class Builder:
    """Builds the source distribution and wheels.

    Attributes:
        work: Directory of environments, caches and unfinished builds.
        out: Where the results go.
        epoch: ``SOURCE_DATE_EPOCH``.
        tools: Interpreter of the environment with zig and auditwheel.
    """

    work: Path
    out: Path
    epoch: str
    tools: Path

    @classmethod
    def create(cls, work: Path, out: Path) -> Builder:
        """Make the environment of the tools, and the directories."""
        out.mkdir(parents=True, exist_ok=True)
        wanted = requirements("build", "wheels")
        tools = environment(work / "tools", Path(sys.executable), wanted)
        return cls(work, out, source_date(), tools)

    def sdist(self) -> Path:
        """Build the source distribution from the working tree; return its path."""
        with tempfile.TemporaryDirectory(dir=self.work) as scratch:
            command = [str(self.tools), "-c", SDIST, scratch]
            self._run(command, self.work / "sdist.log", cwd=ROOT)
            made = next(Path(scratch).glob("*.tar.gz"))
            return move(made, self.out)

    def wheel(self, target: Interpreter, sdist: Path) -> Path:
        """Build the wheel of an interpreter from the source distribution."""
        env = environment(self.work / target.tag, target.path, requirements("build"))
        facts = json.loads(call([env, "-I", "-c", FACTS]))
        zig = Path(call([self.tools, "-c", "import ziglang; print(ziglang.__file__)"]))
        with tempfile.TemporaryDirectory(dir=self.work) as scratch:
            source = unpack(sdist, Path(scratch))
            build = Path(scratch, "build")
            names = {
                Path(scratch): "reactorl-build",
                source: ".",
                Path(facts["prefix"]): "site",
                Path(facts["headers"]): "python",
                Path(facts["base"]): "python",
                zig.parent: "zig",
            }
            tool = wrappers(Path(scratch, "bin"), zig.parent / "zig", names)
            settings = {
                **SETTINGS,
                "CMAKE_AR": str(tool["ar"]),
                "CMAKE_RANLIB": str(tool["ranlib"]),
            }
            made = Path(scratch, "made")
            command: list[str | Path] = [
                *(env, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps"),
                *("--no-cache-dir", "--disable-pip-version-check", "--verbose"),
                *("--wheel-dir", made, f"-Cbuild-dir={build}"),
                *(f"-Ccmake.define.{key}={value}" for key, value in settings.items()),
                source,
            ]
            extra = {"CC": str(tool["cc"]), "CXX": str(tool["c++"])}
            self._run(command, self.work / f"{target.tag}.log", extra=extra)
            built = next(made.glob("*.whl"))
            fixed = Path(scratch, "fixed")
            self._run(
                [
                    *(
                        str(self.tools),
                        "-m",
                        "auditwheel",
                        "repair",
                        "--strip",
                        "--plat",
                    ),
                    *(f"{POLICY}_{platform.machine()}", "--wheel-dir", str(fixed)),
                    built,
                ],
                self.work / f"{target.tag}-auditwheel.log",
            )
            result = next(fixed.glob("*.whl"))
            return move(result, self.out)

    def _run(
        self,
        command: Sequence[str | Path],
        log: Path,
        *,
        cwd: Path | None = None,
        extra: Mapping[str, str] | None = None,
    ) -> None:
        """Run a command with the tools on PATH; its output goes to a file.

        Raises:
            Unavailable: It failed; the message has its last lines.
        """
        cache = str(self.work / "zig-cache")
        variables = {
            **os.environ,
            "PATH": f"{self.tools.parent}{os.pathsep}{os.environ.get('PATH', '')}",
            "SOURCE_DATE_EPOCH": self.epoch,
            "PYTHONHASHSEED": "0",
            "ZIG_GLOBAL_CACHE_DIR": cache,
            "ZIG_LOCAL_CACHE_DIR": cache,
            **(extra or {}),
        }
        with log.open("wb") as output:
            done = subprocess.run(
                command,
                cwd=self.work if cwd is None else cwd,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
                timeout=BUILD_TIMEOUT,
            )
        if done.returncode != 0:
            lines = log.read_text(errors="replace").splitlines()
            fail("\n".join([*lines[-15:], f"the output is in {log}"]))


def move(file: Path, directory: Path) -> Path:
    """Move a file, which may be on another file system; return its new path."""
    return Path(shutil.move(file, directory / file.name))


def record_of(wheel: Path) -> Path:
    """Return the file that says what a wheel was tested with."""
    return wheel.with_suffix(".tested.txt")


def tag_of(wheel: Path) -> str:
    """Return the tag of the ABI of a wheel, from its name."""
    return wheel.stem.split("-")[3]


def build(
    tags: Sequence[str], work: Path, out: Path, pythons: Iterable[Path] = ()
) -> list[Path]:
    """Build the source distribution and the wheels that can be built here.

    Args:
        tags: Tags of the wheels.
        work: Directory of environments, caches and logs.
        out: Where the results go.
        pythons: Interpreters to prefer to those that are found.

    Raises:
        Unavailable: A build failed, or no interpreter was found.
    """
    if platform.system() != "Linux":
        fail("this tool builds for Linux; cibuildwheel builds for macOS (wheels.yml)")
    targets = select(tags, pythons)
    work.mkdir(parents=True, exist_ok=True)
    builder = Builder.create(work, out)
    sdist = builder.sdist()
    say(f"{sdist}")
    for tag in tags:
        if tag not in targets:
            say(f"{tag}: left out, because no interpreter with headers was found")
    if not targets:
        fail(f"none of {', '.join(tags)} has an interpreter here")
    wheels = []
    for target in targets.values():
        say(f"{target.tag}: building with {target.path}")
        wheels.append(builder.wheel(target, sdist))
        say(f"{wheels[-1]}")
    return [sdist, *wheels]


def dist_parser(doc: str | None, *, tag_help: str) -> argparse.ArgumentParser:
    """Return a parser with the options of commands that read what was built.

    Args:
        doc: Docstring of the command's module; its first line is the description.
        tag_help: What the command does with the tags.
    """
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument(
        "--dist",
        type=Path,
        default=ROOT / "dist",
        metavar="DIR",
        help="directory of the wheels and the source distribution (%(default)s)",
    )
    parser.add_argument("--tag", action="append", help=f"{tag_help}; can be repeated")
    return parser


def add_python(parser: argparse.ArgumentParser) -> None:
    """Add the option that gives interpreters."""
    parser.add_argument(
        "--python",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="interpreter to use instead of one that is found; can be repeated",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "tags",
        nargs="*",
        metavar="TAG",
        help=f"wheels to build, of {', '.join(WANTED)} (all)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=ROOT / "dist",
        metavar="DIR",
        help="directory of the results (%(default)s)",
    )
    parser.add_argument(
        "--work",
        type=Path,
        default=ROOT / "build" / "wheels",
        metavar="DIR",
        help="directory of environments, caches and logs (%(default)s)",
    )
    add_python(parser)
    options = parser.parse_args(arguments)
    tags = options.tags or list(WANTED)
    for tag in tags:
        if tag not in WANTED:
            parser.error(f"TAG must be one of {', '.join(WANTED)}, got {tag}")
    try:
        work, out = options.work.resolve(), options.out.resolve()
        for path in build(tags, work, out, options.python):
            print(path)
    except (Unavailable, OSError, subprocess.SubprocessError) as error:
        say(f"wheels failed: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
