# SPDX-License-Identifier: Apache-2.0
"""Where engines live: a virtual environment each, with pinned packages.

They are made below ``.venv`` when they are missing or their list of packages, their
Python or our own code has changed. One that cannot be made is no failure of the run:
its engines are reported as missing, with what the installer said.
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
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.evidence.fingerprints import ours_digest
from benchmarks.runtime.facts import gil_is_on
from benchmarks.runtime.measure import ROOT, Child, ChildError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from benchmarks.evidence.engines import Engine

REQUIREMENTS = Path(__file__).parent / "engines" / "requirements"
TOOLS = ROOT / "tools"
INSTALL_SECONDS = 1_800.0
LAST_LINES = 12


class SetUpError(RuntimeError):
    """An environment cannot be made; the text says why."""


KEEP_MEMORY: Final = {
    "MALLOC_MMAP_THRESHOLD_": str(2**25),  # the largest value that is allowed
    "MALLOC_TRIM_THRESHOLD_": str(2**40),
    "MALLOC_TOP_PAD_": str(2**26),
}


class EvidenceChild(Child):
    """A process of an engine.

    The C library keeps memory that was given back to it, in every process alike.
    Otherwise it depends on where an array happens to lie whether it goes back to the
    system, and to get it again takes longer than to copy it.
    """

    module = "benchmarks.evidence.child"
    environment = KEEP_MEMORY


@dataclass(frozen=True, slots=True)
class Place:
    """An environment that is ready.

    Attributes:
        python: Its interpreter.
        facts: What there is to know about it, see ``interpreter_facts``.
    """

    python: str
    facts: dict[str, Any]

    def has(self, modules: Iterable[str]) -> bool:
        """Return whether modules are there, as they are in environments of engines."""
        here = self.python == sys.executable
        return not here or all(find_spec(module) is not None for module in modules)


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
        """Lists packages of which some dependency cannot be had there."""
        return REQUIREMENTS / f"{self.name}.bare.txt"

    def set_up(self, say: Callable[[str], None]) -> Place:
        """Make it unless it is up to date.

        Args:
            say: Is told what is being done.

        Raises:
            SetUpError: It cannot be made.
        """
        base = base_python(free_threaded=self.free_threaded)
        wanted = self._wanted(base)
        stamp = self.home / ".ready"
        with _alone(self.home):
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
        quiet = ("-q", "--disable-pip-version-check")
        call([str(self.python), "-m", "pip", "install", *quiet, *words])


ENVIRONMENTS = {
    environment.name: environment
    for environment in (
        Environment("ours-ft", free_threaded=True, ours=True),
        Environment("ours-gil", ours=True),
        Environment("ray"),
        Environment("gym"),
        Environment("envpool"),
        Environment("xronos"),
    )
}


def call(command: list[str]) -> str:
    """Run a command and return what it printed.

    Raises:
        SetUpError: It failed; the last lines of what it said are the reason.
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
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise SetUpError("\n".join(said[-LAST_LINES:]) or f"exit {done.returncode}")
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
        tool = str(TOOLS / "freethreaded_python.py")
        return call([sys.executable, tool, *optimized])
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        return getattr(sys, "_base_executable", None) or sys.executable
    found = shutil.which("python3")
    if found is None:
        msg = "no python3 with a GIL on PATH"
        raise SetUpError(msg)
    return found


def facts_of(python: str) -> dict[str, Any]:
    """Return what there is to know about an interpreter.

    Raises:
        SetUpError: It does not work.
    """
    child = None
    try:
        child = EvidenceChild(python, "facts")
        facts: dict[str, Any] = child.hear()
    except ChildError as error:
        raise SetUpError(str(error)) from None
    finally:
        if child is not None:
            child.end()
    return facts


def here(engine: Engine) -> Place:
    """Return this very Python as the place of an engine, for tests.

    Raises:
        SetUpError: It lacks what the engine needs.
    """
    absent = [module for module in engine.needs if find_spec(module) is None]
    if absent:
        msg = f"{', '.join(absent)} not installed in {sys.executable}"
        raise SetUpError(msg)
    if engine.free_threaded == gil_is_on():
        msg = f"this Python has {'a' if gil_is_on() else 'no'} GIL"
        raise SetUpError(msg)
    return Place(sys.executable, _facts_here())


@cache
def _facts_here() -> dict[str, Any]:
    return facts_of(sys.executable)


def places(
    engines: Iterable[Engine], *, in_this: bool, say: Callable[[str], None]
) -> tuple[dict[str, Place], dict[str, str]]:
    """Return where engines live, and why some live nowhere."""
    found: dict[str, Place] = {}
    missing: dict[str, str] = {}
    failed: dict[str, str] = {}
    made: dict[str, Place] = {}
    for engine in engines:
        name = engine.environment
        try:
            if in_this:
                found[engine.name] = here(engine)
            elif name in failed:
                missing[engine.name] = failed[name]
            else:
                made[name] = made.get(name) or ENVIRONMENTS[name].set_up(say)
                found[engine.name] = made[name]
        except SetUpError as error:
            missing[engine.name] = failed[name] = str(error)
    return found, missing


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Let nobody else make the same environment meanwhile."""
    home.parent.mkdir(exist_ok=True)
    with home.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _read(path: Path) -> str:
    return path.read_text() if path.exists() else ""
