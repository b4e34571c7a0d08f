#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Test wheels in fresh environments without a compiler, and compare with gcc's build.

For each wheel in ``dist`` that an interpreter of this machine can install:

1. a new virtual environment gets the wheel and the packages of the tests,
2. tools/wheel_digests.py has to give the same digests as with the build in ``.venv``,
3. the tests run against the installed wheel; PATH contains no compiler.

Arguments after ``--`` go to pytest.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cpython_build import Unavailable, call, fail, say
from wheels import PIP_TIMEOUT, ROOT, Interpreter, interpreters, requirements

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

COMPILERS = re.compile(
    r"(.*-)?(gcc|g\+\+|cc|c\+\+|cpp|clang|clang\+\+|clang-cpp|c89|c99|tcc|zig|icx|icpx"
    r"|nvcc|gfortran)(-[0-9.]+)?"
)
"""Names of programs that compile C or C++."""
DIGEST_TIMEOUT = 1200.0  # seconds
REFERENCES = {"cp311": "gil", "cp314t": "ft"}
"""Environments of ``make`` by the tag of their usual interpreter."""

# Run by the environment's interpreter: where it has the package from.
INSTALLED = """
import json, reactorl, reactorl._core, sys
print(json.dumps([reactorl.__file__, reactorl._core.__file__, sys.prefix]))
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
        (site,) = place.glob("lib/python*/site-packages")
        (site / "packages.pth").write_text(f"{packages}\n")
    for file in json.loads(call([python, "-I", "-c", INSTALLED])):
        if not Path(file).is_relative_to(place):
            fail(f"{file} must be inside {place}: this would not test {wheel.name}")
    return python


def tag_of(wheel: Path) -> str:
    """Return the tag of the ABI of a wheel, from its name."""
    return wheel.stem.split("-")[-2]


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
    """Return the names of digests that differ, or that one side does not have.

    Trainings are compared only if JAX and the other packages have equal versions:
    their results may depend on them.
    """
    same = ours["packages"] == other["packages"]
    kinds = ("program", "vector", "train") if same else ("program",)
    left, right = (
        {k: v for k, v in side["digests"].items() if k.startswith(kinds)}
        for side in (ours, other)
    )
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
    say(f"{wheel.name}: installing for {target.path}")
    place = work / f"test-{target.tag}"
    python = install(wheel, target, place, packages)
    links = without_compilers(
        work / f"path-{target.tag}", path_directories(os.environ.get("PATH", ""))
    )
    env = {
        **{k: v for k, v in os.environ.items() if k not in ("CC", "CXX", "PYTHONPATH")},
        "PATH": f"{python.parent}{os.pathsep}{links}",
        "VIRTUAL_ENV": str(place),
    }
    ours = digests(python, work / f"digests-{target.tag}.json", env)
    name = REFERENCES.get(target.tag, "gil")
    reference = ROOT / ".venv" / name / "bin" / "python"
    if not reference.exists():
        fail(f"{reference} must exist, to compare digests; run make test-{name}")
    other = digests(reference, work / f"digests-{name}.json", os.environ)
    if wrong := differences(ours, other):
        fail(f"digests differ from those of {reference}: {', '.join(wrong)}")
    same = ours["packages"] == other["packages"]
    what = "all" if same else "programs only, as versions of packages differ"
    say(f"{wheel.name}: digests equal those of .venv/{name} ({what})")
    done = subprocess.run(
        [python, "-m", "pytest", *pytest], check=False, cwd=ROOT, env=env
    )
    if done.returncode != 0:
        fail(f"pytest failed with status {done.returncode}")
    say(f"{wheel.name}: passed")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--dist",
        type=Path,
        default=ROOT / "dist",
        metavar="DIR",
        help="directory of the wheels (%(default)s)",
    )
    parser.add_argument(
        "--tag",
        action="append",
        help="test the wheel with this ABI tag only; can be repeated (all)",
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
    found = interpreters(chosen)
    failed = []
    for tag in chosen:
        if tag not in found:
            say(f"{wheels[tag].name}: not tested, because there is no interpreter")
            continue
        try:
            test(
                wheels[tag],
                found[tag],
                ROOT / "build" / "wheels",
                packages=options.packages and options.packages.resolve(),
                pytest=options.pytest,
            )
        except (Unavailable, OSError, subprocess.SubprocessError) as error:
            say(f"{wheels[tag].name}: failed: {error}")
            failed.append(tag)
    if not found:
        say(f"none of {', '.join(chosen)} has an interpreter here")
    return 1 if failed or not found else 0


if __name__ == "__main__":
    sys.exit(main())
