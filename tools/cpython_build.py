# SPDX-License-Identifier: Apache-2.0
"""Builds CPython 3.14, free-threaded or with a GIL, from Debian's source package.

Builds are kept in a cache. A finished one is renamed into place, so the cache never
holds an incomplete one. A lock lets one process build while others wait.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import http.client
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

CORE_MINUTES, OPTIMIZED_CORE_MINUTES = 10, 40  # duration of a build, for the estimate

RELEASES = {  # version: sha256 of Debian's archive; tried in this order
    "3.14.7": "3b48dac8fb59f62eaa67ac83c1eb12bda1b7a08406dd286e252c11a66be27f81",
    "3.14.6": "143b1dddefaec3bd2e21e3b839b34a2b7fb9842272883c576420d605e9f30c63",
    "3.14.5": "7e32597b99e5d9a39abed35de4693fa169df3e5850d4c334337ffd6a19a36db6",
    "3.14.4": "d923c51303e38e249136fc1bdf3568d56ecb03214efdef48516176d3d7faaef8",
}

# Headers that CPython needs, and the Debian packages that contain them.
HEADERS = {
    "openssl/ssl.h": "libssl-dev",
    "ffi.h": "libffi-dev",
    "zlib.h": "zlib1g-dev",
    "bzlib.h": "libbz2-dev",
    "lzma.h": "liblzma-dev",
    "sqlite3.h": "libsqlite3-dev",
    "readline/readline.h": "libreadline-dev",
}

# Run by a candidate: fails if a module that pip or NumPy needs is missing.
PROBE = """
import ctypes, ensurepip, json, os, ssl, sys, sysconfig, venv, zlib
var = sysconfig.get_config_var
print(json.dumps({
    "version": sys.version_info[:2],
    "headers": os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")),
    "free_threaded": bool(var("Py_GIL_DISABLED")),
    "optimized": "--enable-optimizations" in (var("CONFIG_ARGS") or ""),
}))
"""


class Unavailable(Exception):
    """One way to get an interpreter failed; the message gives the reason."""


def fail(reason: str) -> NoReturn:
    """Raise ``Unavailable``."""
    raise Unavailable(reason)


@dataclass(frozen=True)
class Variant:
    """A variant of CPython 3.14.

    Attributes:
        title: Its name in messages.
        free_threaded: Whether it is built without a GIL.
    """

    title: str
    free_threaded: bool

    @property
    def suffix(self) -> str:
        """What distinguishes its names: ``t`` if it is free-threaded."""
        return "t" if self.free_threaded else ""

    @property
    def name(self) -> str:
        """Its name for uv and on the command line."""
        return f"3.14{self.suffix}"

    @property
    def executable(self) -> str:
        """The name of the interpreter.

        A free-threaded build installs ``python3.14`` as well, so ``check`` is needed.
        """
        return f"python{self.name}"


FREE_THREADED = Variant("free-threaded CPython 3.14", free_threaded=True)
GIL = Variant("CPython 3.14 with a GIL", free_threaded=False)
VARIANTS = {variant.name: variant for variant in (FREE_THREADED, GIL)}


@dataclass(frozen=True)
class Cache:
    """The per-user directory for builds, and which kind of build is wanted."""

    root: Path
    variant: Variant
    optimize: bool = False

    def prefix(self, version: str) -> Path:
        """Where the build of ``version`` lives once it is complete."""
        kind = "-optimized" if self.optimize else ""
        name = f"{version}{self.variant.suffix}{kind}-{platform.machine()}"
        return self.root / name

    def python(self, version: str) -> Path:
        """The interpreter of the build of ``version``."""
        return self.prefix(version) / "bin" / self.variant.executable


def default_root() -> Path:
    """Return the per-user directory for builds."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "reactorl" / "python"


def say(message: str) -> None:
    """Print one line on stderr."""
    print(message, file=sys.stderr, flush=True)


# --- Checking a candidate -------------------------------------------------------------


def call(command: Sequence[str | Path], *, given: str = "", timeout: float = 60) -> str:
    """Run a command, ``given`` being its stdin, and return its stdout.

    Raises:
        Unavailable: It cannot start, fails, or takes longer than ``timeout`` seconds.
    """
    name = f"{Path(command[0]).name} {' '.join(map(str, command[1:]))}".splitlines()[0]
    try:
        result = subprocess.run(
            command,
            input=given,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        fail(f"`{name}` took longer than {timeout:.0f} s")
    except OSError as error:
        fail(f"`{name}` does not start: {error.strerror}")
    if result.returncode != 0:
        # The first line names the failure; tools that chain causes end with the root.
        lines = [line.strip() for line in result.stderr.splitlines() if line.strip()]
        reason = "; ".join(dict.fromkeys([*lines[:1], *lines[-1:]]))
        fail(reason or f"`{name}` failed with status {result.returncode}")
    return result.stdout


def check(python: Path, variant: Variant, *, optimize: bool = False) -> Path:
    """Return ``python`` if it is this variant of 3.14 and can make environments.

    Extensions are compiled for it, so it must have headers: distributions often put
    them into a package of their own.

    Raises:
        Unavailable: It is not.
    """
    facts = json.loads(call([python, "-I", "-c", PROBE]))
    wrong = None
    if facts["version"] != [3, 14]:
        wrong = "is Python {}.{}".format(*facts["version"])
    elif facts["free_threaded"] != variant.free_threaded:
        wrong = "has the GIL" if variant.free_threaded else "is free-threaded"
    elif not facts["headers"]:
        wrong = "has no headers"
    elif optimize and not facts["optimized"]:
        wrong = "was not built with --enable-optimizations"
    if wrong:
        fail(f"{python} {wrong}")
    with tempfile.TemporaryDirectory() as scratch:
        call([python, "-I", "-m", "venv", "--without-pip", scratch])
    return python


# --- The cache ------------------------------------------------------------------------


def from_cache(cache: Cache) -> Path:
    """Return the interpreter that an earlier run built."""
    for version in RELEASES:
        python = cache.python(version)
        if python.exists():
            return check(python, cache.variant)
    fail(f"none in {cache.root}")


def from_source(cache: Cache) -> Path:
    """Build one from Debian's source package, or wait for a build in progress."""
    if packages := missing_packages():
        fail(f"first run: apt-get install {' '.join(packages)}")
    mirrors = debian_mirrors()
    with locked(cache.root) as lock:
        with contextlib.suppress(Unavailable):
            return from_cache(cache)  # built while this process waited for the lock
        for leftover in cache.root.glob("build-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        version, archive = download_any(mirrors, cache.root)
        python = build(version, archive, cache, lock)
        archive.unlink()
    return python


@contextlib.contextmanager
def locked(root: Path) -> Iterator[int]:
    """Acquire the cache's lock, waiting if necessary; yield its file descriptor.

    A process that inherits the descriptor holds the lock, too. The build passes it to
    its children, so no second build starts while orphans of a killed one are running.
    """
    root.mkdir(parents=True, exist_ok=True)
    with (root / "lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"Another process is building in {root}; waiting for it to finish.")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


def missing_packages(
    tools: Sequence[str] = ("gcc", "make"), headers: Mapping[str, str] | None = None
) -> list[str]:
    """Return the Debian packages that a build needs and that are not installed.

    Args:
        tools: Programs whose packages have the same names; the first is the compiler.
        headers: Required headers and their packages; None: those of CPython.
    """
    missing = [tool for tool in tools if shutil.which(tool) is None]
    compiler = tools[0]
    if compiler in missing:
        return missing
    source = "".join(
        f"#if !__has_include(<{header}>)\n{package}\n#endif\n"
        for header, package in (HEADERS if headers is None else headers).items()
    )
    found = call([compiler, "-E", "-P", "-x", "c", "-"], given=source)
    return [*missing, *found.split()]


def debian_mirrors() -> list[str]:
    """Return apt's configured mirrors, each ending in a slash."""
    uris = call(["apt-get", "indextargets", "--format", "$(REPO_URI)"]).split()
    usable = [uri.rstrip("/") + "/" for uri in uris if uri.startswith(("http", "file"))]
    if not usable:
        fail("apt is configured with no mirror")
    return list(dict.fromkeys(usable))


def download_any(mirrors: Sequence[str], directory: Path) -> tuple[str, Path]:
    """Fetch the first release that a mirror has; returns its version and archive."""
    reasons = []
    for version, sha256 in RELEASES.items():
        for mirror in mirrors:
            name = f"python3.14_{version}.orig.tar.xz"
            url = f"{mirror}pool/main/p/python3.14/{name}"
            try:
                return version, download(url, sha256, directory)
            except Unavailable as error:
                reasons.append(f"{url}: {error}")
    fail("; ".join(reasons))


def download(url: str, sha256: str, directory: Path) -> Path:
    """Fetch ``url`` into ``directory`` and verify its ``sha256``.

    The file is written under a temporary name and renamed when it is complete and
    verified.
    """
    target = directory / url.rpartition("/")[2]
    if target.exists() and digest(target) == sha256:
        return target
    part = target.with_name(f"{target.name}.part")
    say(f"Fetching {url}")
    try:
        with urllib.request.urlopen(url, timeout=60) as answer, part.open("wb") as file:
            shutil.copyfileobj(answer, file)
            file.flush()
            os.fsync(file.fileno())
        if (found := digest(part)) != sha256:
            fail(f"checksum is {found}, expected {sha256}")
        part.replace(target)
    except (OSError, http.client.HTTPException) as error:
        fail(str(error) or type(error).__name__)
    finally:
        part.unlink(missing_ok=True)
    return target


def digest(path: Path) -> str:
    """The file's sha256, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- The build ------------------------------------------------------------------------


def build(version: str, archive: Path, cache: Cache, lock: int) -> Path:
    """Build ``version`` and move it into the cache atomically."""
    prefix = cache.prefix(version)
    jobs = len(os.sched_getaffinity(0))
    minutes = (OPTIMIZED_CORE_MINUTES if cache.optimize else CORE_MINUTES) / jobs
    say(
        f"Building {cache.variant.title}, release {version}, into {prefix}\n"
        f"This happens once and takes about {minutes:.0f} minutes on {jobs} cores."
    )
    # pip is omitted: every virtual environment gets its own.
    # The profile of an optimized build comes from running the test suite.
    kind = "--enable-optimizations" if cache.optimize else "--disable-test-modules"
    options = [kind, "--with-ensurepip=no", "--without-static-libpython"]
    if cache.variant.free_threaded:
        options.append("--disable-gil")
    progress = Progress()
    with tempfile.TemporaryDirectory(dir=cache.root, prefix="build-") as scratch:
        stage = Path(scratch, "stage")
        try:
            progress.show("unpack")
            source = unpack(archive, Path(scratch))
            step = Runner(source, cache.root / f"{prefix.name}.log", lock, progress)
            step.run("configure", "./configure", f"--prefix={prefix}", *options)
            units = 760 if cache.optimize else 300
            step.run("compile", "make", f"-j{jobs}", units=units)
            step.run("install", "make", "install", f"DESTDIR={stage}")
        finally:
            progress.close()
        made = stage / prefix.relative_to(prefix.anchor)
        python = cache.python(version)
        staged = made / python.relative_to(prefix)
        check(staged, cache.variant, optimize=cache.optimize)
        os.sync()
        shutil.rmtree(prefix, ignore_errors=True)  # a build that no longer works
        made.replace(prefix)
    return check(python, cache.variant, optimize=cache.optimize)


def unpack(archive: Path, directory: Path) -> Path:
    """Unpack ``archive`` and return the directory that was in it."""
    try:
        with tarfile.open(archive) as tar:
            if hasattr(tarfile, "data_filter"):  # not before 3.11.4
                tar.extraction_filter = tarfile.data_filter
            tar.extractall(directory)
    except tarfile.TarError as error:  # also: this Python was built without lzma
        fail(f"cannot unpack {archive}: {error}")
    return next(path for path in directory.iterdir() if path.is_dir())


class Progress:
    """A live line on a terminal; elsewhere a line per step and one each minute."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._begin = self._last_line = time.monotonic()
        self._step = ""

    def show(self, step: str, done: str = "") -> None:
        """Show the current step, its progress and the time since the start."""
        now = time.monotonic()
        minutes, seconds = divmod(int(now - self._begin), 60)
        line = f"  {minutes}:{seconds:02}  {step} {done}"
        if self._live:
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
        elif step != self._step or now - self._last_line >= 60:
            say(line.rstrip())
            self._last_line = now
        self._step = step

    def close(self) -> None:
        """End the live line."""
        if self._live:
            say("")


@dataclass(frozen=True)
class Runner:
    """Runs the commands of a build and shows their progress."""

    directory: Path
    log: Path
    lock: int
    progress: Progress

    def run(
        self, name: str, *command: str, units: int = 0, mark: bytes = b" -c "
    ) -> None:
        """Run ``command``; its children die with it if this process is interrupted.

        Args:
            name: Name of the step, for the progress.
            command: Command to run.
            units: Approximate number of files it compiles.
            mark: Text that its output contains once per compiled file.
        """
        # Variables of an outer make would connect an inner one to its job server.
        outer = ("MAKE", "MFLAGS", "PYTHON")
        env = {k: v for k, v in os.environ.items() if not k.startswith(outer)}
        compiled = 0
        with self.log.open("wb") as output, self.log.open("rb") as view:
            process = subprocess.Popen(
                command,
                cwd=self.directory,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=(self.lock,),
            )
            try:
                while process.poll() is None:
                    compiled += view.read().count(mark)
                    share = f"{min(compiled / units, 0.99):.0%}" if units else ""
                    self.progress.show(name, share)
                    time.sleep(0.1)
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                raise
        if process.returncode != 0:
            lines = self.log.read_text(errors="replace").splitlines()
            say("\n".join(["", *lines[-10:]]))
            fail(f"`{' '.join(command)}` failed; its output is in {self.log}")
