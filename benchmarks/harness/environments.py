# SPDX-License-Identifier: Apache-2.0
"""Virtual environments of engines, with pinned packages.

They are made below ``.venv`` when they are missing or their list of packages, their
Python or our own code has changed. One that cannot be made does not fail the run: its
engines are reported as missing, with the message of the installer.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from benchmarks.engines import engine_named
from benchmarks.harness.fingerprints import ours_digest
from benchmarks.harness.process import ROOT, ChildError, ask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from benchmarks.harness.engine import Engine

REQUIREMENTS = ROOT / "benchmarks" / "engines" / "requirements"
TOOLS = ROOT / "tools"
INSTALL_SECONDS = 1_800.0
LAST_LINES = 12


class SetUpError(RuntimeError):
    """An environment cannot be made; the text says why."""


@dataclass(frozen=True, slots=True)
class Place:
    """An environment that is ready.

    Attributes:
        python: Its interpreter.
        facts: Facts about it, see ``interpreter_facts``.
        complete: Whether it has what every case imports.
        source: Digest of the source of our package there, if it is not this one.
    """

    python: str
    facts: dict[str, Any]
    complete: bool = True
    source: str = ""

    def has(self, modules: Iterable[str]) -> bool:
        """Return whether modules are installed."""
        return self.complete or not lacking(self.python, tuple(modules))


@dataclass(frozen=True, slots=True)
class Environment:
    """How an environment is made.

    Attributes:
        name: Of its directory, ``.venv/bench-NAME``, and its list of packages.
        free_threaded: Whether its Python has no GIL.
        ours: Whether our package is installed there.
    """

    name: str
    free_threaded: bool = False
    ours: bool = False

    @property
    def home(self) -> Path:
        """Its directory."""
        return ROOT / ".venv" / f"bench-{self.name}"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.home / "bin" / "python"

    @property
    def _bare(self) -> Path:
        """Lists packages that are installed without their dependencies."""
        return REQUIREMENTS / f"{self.name}.bare.txt"

    def set_up(self, say: Callable[[str], None]) -> Place:
        """Make it unless it is up to date.

        Args:
            say: Called with what is being done.

        Raises:
            SetUpError: It cannot be made.
        """
        base = base_python(free_threaded=self.free_threaded)
        wanted = self._wanted(base)
        stamp = self.home / ".ready"
        with exclusive(self.home):
            if not (self.python.exists() and _read(stamp) == wanted):
                stamp.unlink(missing_ok=True)
                self._make(base, say)
                stamp.write_text(wanted)
        return Place(str(self.python), facts_of(str(self.python)))

    def _wanted(self, base: str) -> str:
        parts = [base, self._packages()]
        if self.ours:
            parts.append(ours_digest())
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def _packages(self) -> str:
        texts = [(REQUIREMENTS / f"{self.name}.txt").read_text(), _read(self._bare)]
        if self.ours:
            texts.append((REQUIREMENTS / "build.txt").read_text())
        return "".join(texts)

    def _make(self, base: str, say: Callable[[str], None]) -> None:
        packages = hashlib.sha256((base + self._packages()).encode()).hexdigest()
        done = self.home / ".packages"
        if not self.python.exists() or _read(done) != packages:
            say(f"{self.name}: making the environment")
            call([base, "-m", "venv", "--clear", str(self.home)])
            say(f"{self.name}: installing packages")
            self._pip("--upgrade", "pip")
            self._pip("-r", str(REQUIREMENTS / f"{self.name}.txt"))
            if self._bare.exists():
                self._pip("--no-deps", "-r", str(self._bare))
            if self.ours and self.free_threaded:
                say(f"{self.name}: installing ale-py, built if need be")
                call([sys.executable, str(TOOLS / "ale_wheel.py"), str(self.python)])
            done.write_text(packages)
        if self.ours:
            say(f"{self.name}: building ReactoRL")
            build = ROOT / "build" / f"bench-{self.name}"
            options = ("--no-build-isolation", "--no-deps", "--force-reinstall")
            self._pip(*options, "-C", f"build-dir={build}", str(ROOT))

    def _pip(self, *words: str) -> None:
        pip_install(str(self.python), *words)


ENVIRONMENTS = {
    environment.name: environment
    for environment in (
        Environment("ours-ft", free_threaded=True, ours=True),
        Environment("ours-gil", ours=True),
        Environment("ray"),
        Environment("gym"),
        Environment("envpool"),
        Environment("xronos"),
        Environment("sb3"),
        Environment("sbx"),
        Environment("rlox"),
        Environment("rllib"),
        Environment("purejaxrl"),
    )
}


def pip_install(python: str, *words: str) -> None:
    """Install packages.

    Raises:
        SetUpError: The installer failed.
    """
    quiet = ("-q", "--disable-pip-version-check")
    call([python, "-m", "pip", "install", *quiet, *words])


def call(command: list[str]) -> str:
    """Run a command and return its output.

    Raises:
        SetUpError: It failed; the last lines of its output are the reason.
    """
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=INSTALL_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetUpError(str(error)) from None
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        reason = "\n".join(lines[-LAST_LINES:])
        raise SetUpError(reason or f"exit status {done.returncode}")
    return done.stdout.strip()


@cache
def base_python(*, free_threaded: bool) -> str:
    """Return the interpreter that environments are made from.

    Raises:
        SetUpError: There is none.
    """
    if free_threaded:
        if given := os.environ.get("FT_PYTHON"):
            return given
        optimized = ["--optimize"] if os.environ.get("PGO") else []
        tool = str(TOOLS / "get_python.py")
        return call([sys.executable, tool, "3.14t", *optimized])
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        return getattr(sys, "_base_executable", None) or sys.executable
    found = shutil.which("python3")
    if found is None:
        msg = "python3 not found: engines with a GIL need one"
        raise SetUpError(msg)
    return found


@cache
def facts_of(python: str) -> dict[str, Any]:
    """Return the facts about an interpreter.

    Raises:
        SetUpError: It does not work.
    """
    try:
        facts: dict[str, Any] = ask(python, "facts")
    except ChildError as error:
        raise SetUpError(str(error)) from None
    return facts


@cache
def lacking(python: str, modules: tuple[str, ...]) -> list[str]:
    """Return which modules an interpreter lacks.

    Raises:
        SetUpError: It does not work.
    """
    try:
        found: list[str] = ask(python, "lacking", modules=modules)
    except ChildError as error:
        raise SetUpError(str(error)) from None
    return found


def given_place(engine: Engine, pythons: Mapping[str, str]) -> Place:
    """Return a given interpreter as the place of an engine.

    Args:
        engine: The engine.
        pythons: Interpreters with a GIL (``gil``) and without (``ft``).

    Raises:
        SetUpError: There is none of the kind, or it lacks what the engine needs.
    """
    if engine.python not in pythons:
        kind = "--ft PYTHON" if engine.python == "ft" else "--gil PYTHON"
        msg = f"no interpreter was given: {kind}"
        raise SetUpError(msg)
    python = pythons[engine.python]
    facts = facts_of(python)
    if facts["gil"] == (engine.python == "ft"):
        msg = f"{python} has {'a' if facts['gil'] else 'no'} GIL"
        raise SetUpError(msg)
    _check_needs(engine, python)
    return Place(python, facts, complete=False)


def places(
    engines: Iterable[str],
    pythons: Mapping[str, str] | None,
    say: Callable[[str], None],
) -> tuple[dict[str, Place], dict[str, str]]:
    """Return where engines are installed, and why some cannot be.

    Args:
        engines: Names of engines.
        pythons: Given interpreters, by kind; None: the environments of engines.
        say: Called with what is being done.
    """
    found: dict[str, Place] = {}
    missing: dict[str, str] = {}
    made: dict[str, Place | SetUpError] = {}
    for engine in map(engine_named, engines):
        try:
            if pythons is not None:
                found[engine.name] = given_place(engine, pythons)
            else:
                place = _made(engine.environment, made, say)
                _check_needs(engine, place.python)
                found[engine.name] = place
        except SetUpError as error:
            missing[engine.name] = str(error)
    return found, missing


def _made(
    name: str, made: dict[str, Place | SetUpError], say: Callable[[str], None]
) -> Place:
    """Return an environment, made once; a failure is not tried again, either."""
    if name not in made:
        try:
            made[name] = ENVIRONMENTS[name].set_up(say)
        except SetUpError as error:
            made[name] = error
    place = made[name]
    if isinstance(place, SetUpError):
        raise place
    return place


def _check_needs(engine: Engine, python: str) -> None:
    if absent := lacking(python, tuple(engine.needs)):
        msg = f"{', '.join(absent)} not installed in {python}"
        raise SetUpError(msg)


@contextmanager
def exclusive(directory: Path) -> Iterator[None]:
    """Keep other processes from making the same directory meanwhile."""
    directory.parent.mkdir(exist_ok=True, parents=True)
    with directory.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _read(path: Path) -> str:
    return path.read_text() if path.exists() else ""
