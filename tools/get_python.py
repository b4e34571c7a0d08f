#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Print the path of CPython 3.14 or free-threaded 3.14t, installing it if necessary.

These are tried in order; the first that works is printed as the only line of stdout:

1. ``python3.14`` or ``python3.14t`` on PATH
2. an interpreter this script built before, in the per-user cache
3. ``uv python install``
4. a build from Debian's source package into the per-user cache

Standard library only: it runs before anything is installed.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from cpython_build import (
    VARIANTS,
    Cache,
    Unavailable,
    Variant,
    call,
    check,
    default_root,
    fail,
    from_cache,
    from_source,
    locked,
    say,
)

UV_TIMEOUT = 300.0  # seconds for each step of uv; its own retries end sooner

# --- Ways to get an interpreter -------------------------------------------------------


def from_path(cache: Cache) -> Path:
    """Return the interpreter on PATH with the name of the variant."""
    found = shutil.which(cache.variant.executable)
    if found is None:
        fail("not found")
    return check(Path(found), cache.variant, optimize=cache.optimize)


def from_uv(cache: Cache) -> Path:
    """Download an interpreter with uv; those are built with optimizations."""
    uv = find_uv(cache)
    variant = cache.variant
    say(f"Asking uv for {variant.title}.")
    install = [*uv, "python", "install", "--no-bin", "--no-progress", variant.name]
    call(install, timeout=UV_TIMEOUT)
    find = [*uv, "python", "find", "--no-project", "--system", "--managed-python"]
    return check(Path(call([*find, variant.name]).strip()), variant)


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


def ways_to(variant: Variant) -> list[tuple[str, Way]]:
    """Return the ways to get a variant, the cheapest first, and their names."""
    return [
        (f"{variant.executable} on PATH", from_path),
        ("an earlier build", from_cache),
        (f"uv python install {variant.name}", from_uv),
        ("build from Debian's source package", from_source),
    ]


def find(cache: Cache, ways: Sequence[tuple[str, Way]] | None = None) -> Path:
    """Return the interpreter of the first way that works.

    Args:
        cache: The cache, and what is wanted.
        ways: The ways to try; None: all.

    Raises:
        Unavailable: None does; the message lists what was tried and why it failed.
    """
    failures = []
    for name, way in ways_to(cache.variant) if ways is None else ways:
        try:
            return way(cache)
        except (Unavailable, OSError) as error:
            failures.append(f"  {name}: {error}")
            say(f"{name}: {error}")
    tried = "\n".join(failures)
    fail(
        f"{cache.variant.title} could not be installed. Tried:\n{tried}\n"
        f"Fix one of these, or put {cache.variant.executable} on PATH."
    )


# --- Command line ---------------------------------------------------------------------


def interrupt(signum: int, _frame: object) -> None:
    """Handle other signals like Ctrl-C, so that unfinished builds are removed."""
    raise KeyboardInterrupt(signal.Signals(signum).name)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "variant",
        choices=VARIANTS,
        help="with a GIL (3.14), or free-threaded (3.14t)",
    )
    parser.add_argument(
        "--optimize",
        action="store_true",
        help="require a build with --enable-optimizations (for benchmarks)",
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=default_root(),
        metavar="DIR",
        help="cache directory for builds (%(default)s)",
    )
    options = parser.parse_args(arguments)
    for signum in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, interrupt)
    try:
        variant = VARIANTS[options.variant]
        print(find(Cache(options.cache.resolve(), variant, options.optimize)))
    except Unavailable as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        say("Interrupted; the unfinished build was removed. Run again to start over.")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
