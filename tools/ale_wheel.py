#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Install ale-py, the Atari emulator, where it has no wheel to download.

Free-threaded CPython has none. ale-py is built from source once per user; the wheel is
cached and reused for other virtual environments. The build omits ale-py's window and
sound (SDL) and its own vector environments (OpenCV); it includes all games and ROMs.

Standard library only. The target environment must have the dependency group ``build``
of pyproject.toml installed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from cpython_build import (
    Progress,
    Runner,
    Unavailable,
    call,
    fail,
    locked,
    missing_packages,
    say,
)
from get_python import interrupt

if TYPE_CHECKING:
    from collections.abc import Sequence

VERSION = "0.12.1"
CORE_MINUTES = 3.0  # duration of a build, for the estimate
UNITS = 183  # approximate number of compiled files, for the progress
SWITCHES = ("SDL_SUPPORT", "BUILD_VECTOR_LIB", "BUILD_VECTOR_XLA_LIB")  # all off
HEADERS = {"zlib.h": "zlib1g-dev"}
INSTALL_TIMEOUT = 300.0  # seconds

# Run by the environment's interpreter.
FACTS = """
import json, sys, sysconfig
from importlib.util import find_spec
wanted = ["pip", "scikit_build_core", "nanobind", "cmake", "ninja"]
abi = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
print(json.dumps({
    "tag": "cp{}{}".format(*sys.version_info) + abi,
    "missing": [name for name in wanted if find_spec(name) is None],
}))
"""
WORKS = """
import sys
is_gil_enabled = getattr(sys, "_is_gil_enabled", lambda: None)
before = is_gil_enabled()
import ale_py
ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
ale_py.ALEInterface().loadROM(ale_py.roms.get_rom_path("pong"))
if is_gil_enabled() != before:
    sys.exit("importing ale_py turns the GIL on")
"""


def install(python: Path, root: Path) -> None:
    """Install ale-py into the environment of ``python``; build it if not cached.

    Raises:
        Unavailable: It cannot be built or does not work; the message says why.
    """
    facts = json.loads(call([python, "-c", FACTS]))
    name = f"ale_py-{VERSION}-*-{facts['tag']}-*{platform.machine()}.whl"
    if from_cache(root, name, python):
        return
    if facts["missing"]:
        need = ", ".join(facts["missing"])
        fail(f"{python} lacks {need}; first run: {python} -m pip install --group build")
    if packages := missing_packages(("g++",), HEADERS):
        fail(f"first run: apt-get install {' '.join(packages)}")
    with locked(root) as lock:
        # Another process may have built it while this one waited for the lock.
        if not from_cache(root, name, python):
            put(build(python, root, lock), python)


def from_cache(root: Path, name: str, python: Path) -> bool:
    """Install a cached wheel; return whether there was one that works."""
    for wheel in sorted(root.glob(name)):
        try:
            put(wheel, python)
        except Unavailable as error:
            say(f"{wheel}: {error}")
        else:
            return True
    return False


def put(wheel: Path, python: Path) -> None:
    """Install a wheel and check that it works."""
    say(f"Installing {wheel}")
    options = ("--quiet", "--disable-pip-version-check", "--force-reinstall")
    pip = (python, "-m", "pip", "install", *options, "--no-deps", wheel)
    call(pip, timeout=INSTALL_TIMEOUT)
    call([python, "-c", WORKS])


def build(python: Path, root: Path, lock: int) -> Path:
    """Build the wheel and move it into the cache atomically."""
    jobs = len(os.sched_getaffinity(0))
    cores = "1 core" if jobs == 1 else f"{jobs} cores"
    say(
        f"Building ale-py {VERSION} from source, as no wheel of it fits this Python.\n"
        f"This happens once per user and takes about {CORE_MINUTES / jobs + 0.5:.0f} "
        f"minutes on {cores}; the wheel is kept in {root}"
    )
    for leftover in root.glob("build-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    log = root / f"ale_py-{VERSION}.log"
    progress = Progress()
    with tempfile.TemporaryDirectory(dir=root, prefix="build-") as scratch:
        step = Runner(Path(scratch), log, lock, progress)
        try:
            step.run(
                "build", *command(python, scratch), units=UNITS, mark=b"] Building "
            )
        except Unavailable as error:
            fail(f"{first_error(log.read_text(errors='replace'))}\n{error}")
        finally:
            progress.close()
        made = next(Path(scratch).glob("*.whl"))
        os.sync()
        return made.replace(root / made.name)


def command(python: Path, directory: str) -> list[str]:
    """Return the command that builds the wheel in a directory."""
    # Isolation would fetch JAX, which is needed only by a part that we omit.
    options = ["--no-deps", "--no-build-isolation", "--no-cache-dir", "--verbose"]
    switches = [f"-D{switch}=OFF" for switch in SWITCHES]
    return [
        "env",
        " ".join([f"CMAKE_ARGS={os.environ.get('CMAKE_ARGS', '')}", *switches]),
        *(str(python), "-m", "pip", "wheel", *options),
        *("--no-binary", "ale-py", "--wheel-dir", directory, f"ale-py=={VERSION}"),
    ]


def first_error(log: str) -> str:
    """Return the lines of the first error of CMake, the compiler or pip."""
    lines = log.splitlines()
    for sign in ("CMake Error", "error:", "ERROR:"):
        for number, line in enumerate(lines):
            if sign in line:
                return "\n".join(filter(str.strip, lines[number : number + 4]))
    return "pip failed"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("python", type=Path, help="interpreter of the environment")
    parser.add_argument(
        "--cache",
        type=Path,
        default=home / "reactorl" / "wheels",
        metavar="DIR",
        help="cache directory for the wheel (%(default)s)",
    )
    options = parser.parse_args(arguments)
    for signum in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, interrupt)
    try:
        # Not resolved: the symbolic link identifies the virtual environment.
        install(options.python.absolute(), options.cache.resolve())
    except (Unavailable, OSError) as error:
        say(f"ale-py cannot be installed: {error}")
        return 1
    except KeyboardInterrupt:
        say("Interrupted; the unfinished build was removed. Run again to start over.")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
