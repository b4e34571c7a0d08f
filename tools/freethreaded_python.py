#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Print the path of a free-threaded CPython 3.14, installing one if necessary.

These are tried in order; the first that works is printed as the only line of stdout:

1. ``python3.14t`` on PATH
2. an interpreter this script built before, in the per-user cache
3. ``uv python install 3.14t``
4. a build from Debian's source package into the per-user cache

Standard library only: it runs before anything is installed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from cpython_build import (
    EXECUTABLE,
    Cache,
    Unavailable,
    call,
    check,
    fail,
    from_cache,
    from_source,
    locked,
    say,
)

UV_TIMEOUT = 300.0  # seconds for each step of uv; its own retries end sooner

# --- Ways to get an interpreter -------------------------------------------------------


def from_path(cache: Cache) -> Path:
    """Return ``python3.14t`` from PATH."""
    found = shutil.which(EXECUTABLE)
    if found is None:
        fail("not found")
    return check(Path(found), optimize=cache.optimize)


def from_uv(cache: Cache) -> Path:
    """Download an interpreter with uv; those are built with optimizations."""
    uv = find_uv(cache)
    say("Asking uv for a free-threaded CPython 3.14.")
    install = [*uv, "python", "install", "--no-bin", "--no-progress", "3.14t"]
    call(install, timeout=UV_TIMEOUT)
    find = [*uv, "python", "find", "--no-project", "--system", "--managed-python"]
    return check(Path(call([*find, "3.14t"]).strip()))


def find_uv(cache: Cache) -> list[str]:
    """Return the command that runs uv; install it into the cache if necessary."""
    for candidate in (["uv"], [sys.executable, "-m", "uv"]):
        with contextlib.suppress(Unavailable):
            call([*candidate, "--version"])
            return candidate
    home = cache.root / "uv"
    uv = [str(home / "bin" / "uv")]
    with locked(cache.root):
        try:
            call([*uv, "--version"])
        except Unavailable:
            say("Installing uv from PyPI, to ask it for an interpreter.")
            call([sys.executable, "-m", "venv", "--clear", home], timeout=UV_TIMEOUT)
            pip = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet"]
            call([*pip, "--retries", "1", "uv"], timeout=UV_TIMEOUT)
    return uv


Way = Callable[[Cache], Path]
WAYS: tuple[tuple[str, Way], ...] = (
    (f"{EXECUTABLE} on PATH", from_path),
    ("an earlier build", from_cache),
    ("uv python install 3.14t", from_uv),
    ("build from Debian's source package", from_source),
)


def find(cache: Cache, ways: Iterable[tuple[str, Way]] = WAYS) -> Path:
    """Return the interpreter of the first way that works.

    Raises:
        Unavailable: None does; the message lists what was tried and why it failed.
    """
    failures = []
    for name, way in ways:
        try:
            return way(cache)
        except (Unavailable, OSError) as error:
            failures.append(f"  {name}: {error}")
            say(f"{name}: {error}")
    tried = "\n".join(failures)
    fail(
        f"No free-threaded CPython 3.14 could be installed. Tried:\n{tried}\n"
        f"Fix one of these, or put {EXECUTABLE} on PATH."
    )


# --- Command line ---------------------------------------------------------------------


def interrupt(signum: int, _frame: object) -> None:
    """Handle other signals like Ctrl-C, so that unfinished builds are removed."""
    raise KeyboardInterrupt(signal.Signals(signum).name)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--optimize",
        action="store_true",
        help="require a build with --enable-optimizations (for benchmarks)",
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=home / "reactorl" / "python",
        metavar="DIR",
        help="cache directory for builds (%(default)s)",
    )
    options = parser.parse_args(arguments)
    for signum in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, interrupt)
    try:
        print(find(Cache(options.cache.resolve(), options.optimize)))
    except Unavailable as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        say("Interrupted; the unfinished build was removed. Run again to start over.")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
