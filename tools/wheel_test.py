#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Test wheels in fresh environments without a compiler, and compare with gcc's build.

For each wheel in ``dist`` that an interpreter of this machine can install:

1. a new virtual environment gets the wheel and the packages of the tests,
2. gcc builds the package from the same source distribution for the same interpreter,
   and tools/wheel_digests.py has to give the same digests with both,
3. the tests run against the installed wheel; PATH contains no compiler.

If all tests have passed, ``.tested.txt`` beside the wheel has the versions of all
packages that they ran with, as constraints for pip, and the digest of the wheel.

With ``--speed``, tools/wheel_speed.py measures both builds instead of 2 and 3.
Arguments after ``--`` go to pytest.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cpython_build import Unavailable, call, digest, fail, say, unpack
from wheels import (
    BUILD_TIMEOUT,
    PIP_TIMEOUT,
    ROOT,
    Interpreter,
    add_python,
    dist_parser,
    environment,
    record_of,
    requirements,
    select,
    tag_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

COMPILERS = re.compile(
    r"(.*-)?(gcc|g\+\+|cc|c\+\+|cpp|clang|clang\+\+|clang-cpp|c89|c99|tcc|zig|icx|icpx"
    r"|nvcc|gfortran)(-[0-9.]+)?"
)
"""Names of programs that compile C or C++."""
DIGEST_TIMEOUT = 1200.0  # seconds

# Run by an environment's interpreter: where it has the package from.
INSTALLED = """
import json, reactorl, reactorl._core
print(json.dumps([reactorl.__file__, reactorl._core.__file__]))
"""

# Run by an environment's interpreter: what it is, and what it runs on.
PLATFORM = """
import platform
libc = " ".join(platform.libc_ver())
print(f"CPython {platform.python_version()}, {libc}, {platform.machine()}")
"""

# --- PATH without a compiler ----------------------------------------------------------


def without_compilers(place: Path, directories: Iterable[Path]) -> Path:
    """Fill a directory with links to all programs on PATH but compilers.

    Compilers share directories with programs that tests need, such as git and sh, so
    no part of PATH can be left out instead.

    Args:
        place: Directory to create; it is emptied first.
        directories: The parts of PATH; the first that has a program wins.
    """
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for directory in directories:
        if not directory.is_dir():
            continue
        for program in sorted(directory.iterdir()):
            link = place / program.name
            if not COMPILERS.fullmatch(program.name) and not link.is_symlink():
                link.symlink_to(program.absolute())
    return place


def path_directories(path: str) -> list[Path]:
    """Return the directories of a PATH, without pyenv's shims and this repository's."""
    found = [Path(part) for part in path.split(os.pathsep) if part]
    return [one for one in found if one.name != "shims" and ROOT not in one.parents]


# --- Environments ---------------------------------------------------------------------


@dataclass(frozen=True)
class Builds:
    """Two builds of the package for one interpreter, with the same other packages.

    Attributes:
        wheel: Interpreter of the environment with the wheel.
        gcc: Interpreter of the environment with gcc's build.
    """

    wheel: Path
    gcc: Path


def site_packages(place: Path) -> Path:
    """Return the directory of packages of a virtual environment."""
    (site,) = place.glob("lib/python*/site-packages")
    return site


def check_packages(python: Path) -> None:
    """Raise unless all installed packages have what they require.

    Raises:
        Unavailable: One lacks another, or has it in a version that it does not accept.
    """
    done = subprocess.run(
        [python, "-m", "pip", "--disable-pip-version-check", "check"],
        capture_output=True,
        check=False,
        text=True,
        timeout=PIP_TIMEOUT,
    )
    if done.returncode != 0:
        fail(f"pip check failed: {(done.stdout or done.stderr).strip()}")


def check_origin(python: Path, place: Path) -> None:
    """Raise unless an interpreter imports the package from a directory.

    Raises:
        Unavailable: It does not import it, or from elsewhere.
    """
    for file in json.loads(call([python, "-I", "-c", INSTALLED])):
        if not Path(file).is_relative_to(place):
            fail(f"{python} must import the package from {place}, got {file}")


def install(
    wheel: Path, target: Interpreter, place: Path, packages: Path | None
) -> Path:
    """Install a wheel and the packages of the tests into a new environment.

    Args:
        wheel: The wheel.
        target: The interpreter.
        place: Directory of the environment; what is there is removed.
        packages: Directory of installed packages to use instead of downloading them.

    Returns:
        The interpreter of the environment.

    Raises:
        Unavailable: pip failed, or the environment has the package from elsewhere.
    """
    call([target.path, "-m", "venv", "--clear", place], timeout=PIP_TIMEOUT)
    python = place / "bin" / "python"
    pip = [
        str(python),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    call([*pip, "--only-binary", ":all:", "--no-index", wheel], timeout=PIP_TIMEOUT)
    if packages is None:
        # The base installation was enough for the wheel; the rest is for the tests.
        only = [*pip, "--only-binary", ":all:"]
        call([*only, *requirements("test")], timeout=PIP_TIMEOUT)
    else:
        # In a .pth file, so it comes after the wheel, and .pth files there are ignored.
        (site_packages(place) / "packages.pth").write_text(f"{packages}\n")
    check_origin(python, place)
    check_packages(python)
    return python


def built_by_gcc(sdist: Path, target: Interpreter, work: Path) -> Path:
    """Return a directory with the package, compiled by the system's compiler.

    It is built from the source distribution, as the wheel is, so that only compilers
    and their options differ. A build of the same source distribution is used again.
    """
    place = work / f"gcc-{target.tag}"
    stamp, packages = place / "built.json", place / "packages"
    content = json.dumps([str(target.path), digest(sdist)])
    if stamp.exists() and stamp.read_text() == content:
        return packages
    say(f"{target.tag}: building {sdist.name} with gcc")
    shutil.rmtree(place, ignore_errors=True)
    python = environment(work / target.tag, target.path, requirements("build"))
    with tempfile.TemporaryDirectory(dir=work) as scratch:
        command: list[str | Path] = [
            *(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
            *("--no-build-isolation", "--no-deps", "--no-cache-dir"),
            *("--target", packages, unpack(sdist, Path(scratch))),
        ]
        call(command, timeout=BUILD_TIMEOUT)
    stamp.write_text(content)
    return packages


def install_both(
    wheel: Path, target: Interpreter, work: Path, packages: Path | None
) -> Builds:
    """Install a wheel, and gcc's build beside it.

    Args:
        wheel: The wheel; the source distribution must be in the same directory.
        target: The interpreter.
        work: Directory of the environments.
        packages: Directory of installed packages to use instead of downloading them.

    Raises:
        Unavailable: Something cannot be built or installed.
    """
    sdist = wheel.with_name("-".join(wheel.name.split("-")[:2]) + ".tar.gz")
    if not sdist.exists():
        fail(f"{sdist} must exist, to build it with gcc; run make wheels")
    say(f"{wheel.name}: installing for {target.path}")
    place = work / f"test-{target.tag}"
    python = install(wheel, target, place, packages)
    other = work / f"test-gcc-{target.tag}"
    built = built_by_gcc(sdist, target, work)
    call([target.path, "-m", "venv", "--clear", "--without-pip", other])
    # The first directory with a package wins, and the wheel is in the second one.
    found = [built, site_packages(place), *([packages] if packages else [])]
    lines = "".join(f"{directory}\n" for directory in found)
    (site_packages(other) / "packages.pth").write_text(lines)
    gcc = other / "bin" / "python"
    check_origin(gcc, built)
    return Builds(python, gcc)


# --- Digests --------------------------------------------------------------------------


def digests(python: Path, out: Path, env: Mapping[str, str]) -> dict[str, Any]:
    """Return what tools/wheel_digests.py finds with an interpreter."""
    done = subprocess.run(
        [python, ROOT / "tools" / "wheel_digests.py", out],
        capture_output=True,
        check=False,
        cwd=out.parent,
        env=dict(env),
        text=True,
        timeout=DIGEST_TIMEOUT,
    )
    if done.returncode != 0:
        fail(f"wheel_digests.py failed with {python}:\n{done.stderr.strip()}")
    found: dict[str, Any] = json.loads(out.read_text())
    return found


def differences(ours: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Return the names of digests that differ, or that one side does not have."""
    left, right = ours["digests"], other["digests"]
    return sorted(k for k in left.keys() | right.keys() if left.get(k) != right.get(k))


# --- Testing --------------------------------------------------------------------------


def test(
    wheel: Path,
    target: Interpreter,
    work: Path,
    *,
    packages: Path | None,
    pytest: Sequence[str],
) -> None:
    """Test one wheel.

    Raises:
        Unavailable: It cannot be installed, has other digests, or a test failed.
    """
    record_of(wheel).unlink(missing_ok=True)
    builds = install_both(wheel, target, work, packages)
    python = builds.wheel
    links = without_compilers(
        work / f"path-{target.tag}", path_directories(os.environ.get("PATH", ""))
    )
    env = {
        **{k: v for k, v in os.environ.items() if k not in ("CC", "CXX", "PYTHONPATH")},
        "PATH": f"{python.parent}{os.pathsep}{links}",
        "VIRTUAL_ENV": str(python.parent.parent),
    }
    ours = digests(python, work / f"digests-{target.tag}.json", env)
    other = digests(builds.gcc, work / f"digests-gcc-{target.tag}.json", env)
    if wrong := differences(ours, other):
        fail(f"digests differ from those of gcc's build: {', '.join(wrong)}")
    say(f"{wheel.name}: all {len(ours['digests'])} digests equal those of gcc's build")
    done = subprocess.run(
        [python, "-m", "pytest", *pytest], check=False, cwd=ROOT, env=env
    )
    if done.returncode != 0:
        fail(f"pytest failed with status {done.returncode}")
    if not pytest:
        write_record(wheel, python)
    say(f"{wheel.name}: passed")


def write_record(wheel: Path, python: Path) -> None:
    """Write what a wheel was tested with: facts, and constraints for pip."""
    facts = call([python, "-I", "-c", PLATFORM]).strip()
    freeze = ("-m", "pip", "--disable-pip-version-check", "freeze")
    packages = call([python, *freeze, "--exclude", "reactorl"])
    head = f"# All tests passed with {facts}.\n# {wheel.name} sha256 {digest(wheel)}\n"
    record_of(wheel).write_text(head + packages)


def measure(
    wheel: Path, target: Interpreter, work: Path, *, packages: Path | None
) -> None:
    """Compare the speed of one wheel with that of gcc's build.

    Raises:
        Unavailable: It cannot be installed or measured, or is too slow.
    """
    builds = install_both(wheel, target, work, packages)
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "wheel_speed.py", builds.wheel, builds.gcc],
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    if done.returncode != 0:
        fail(f"wheel_speed.py failed with status {done.returncode}")
    say(f"{wheel.name}: fast enough")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = dist_parser(__doc__, tag_help="test the wheel with this ABI tag only")
    add_python(parser)
    parser.add_argument(
        "--speed",
        action="store_true",
        help="compare speed with gcc's build instead of testing; needs an idle machine",
    )
    parser.add_argument(
        "--packages",
        type=Path,
        metavar="DIR",
        help="site-packages to use instead of downloading the packages of the tests",
    )
    parser.add_argument("pytest", nargs="*", help="arguments for pytest, after --")
    options = parser.parse_args(arguments)
    wheels = {tag_of(wheel): wheel for wheel in sorted(options.dist.glob("*.whl"))}
    chosen = [tag for tag in wheels if options.tag is None or tag in options.tag]
    if not chosen:
        say(f"{options.dist} must contain wheels to test: run make wheels")
        return 1
    try:
        found = select(chosen, options.python)
    except Unavailable as error:
        say(f"wheel test failed: {error}")
        return 1
    work = ROOT / "build" / "wheels"
    packages = options.packages and options.packages.resolve()
    failed = []
    for tag in chosen:
        if tag not in found:
            say(f"{wheels[tag].name}: not tested, because there is no interpreter")
            continue
        wheel, target = wheels[tag], found[tag]
        try:
            if options.speed:
                measure(wheel, target, work, packages=packages)
            else:
                test(wheel, target, work, packages=packages, pytest=options.pytest)
        except (Unavailable, OSError, subprocess.SubprocessError) as error:
            say(f"{wheels[tag].name}: failed: {error}")
            failed.append(tag)
    if not found:
        say(f"none of {', '.join(chosen)} has an interpreter here")
    return 1 if failed or not found else 0


if __name__ == "__main__":
    sys.exit(main())
