# SPDX-License-Identifier: Apache-2.0
"""Applies mutants to a copy of the tree and reports which ones the tests notice.

A mutant is a small change of the code that makes it wrong. A mutant that survives its
tests shows that a test is missing. The package ``mutants`` lists them. Run by hand,
because all of them take about half an hour:

    python tools/mutate.py [--only NAME] [--python PY]

The tree itself is never written: every mutant is applied alone, to a temporary copy.

Mutants of ``cpp/`` are compiled in the copy, with a build directory that is kept, so
that one costs seconds: into the C++ tests if their tests are of ``cpp/test``, else into
the extension modules. A mutant that does not compile is an error of the list, not a
killed one.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from mutants import MUTANTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mutants.mutant import Mutant

ROOT: Final = Path(__file__).resolve().parent.parent
DEFAULT_TIMEOUT: Final = 600.0
"""Seconds for the tests of one mutant; a mutant that makes them hang is killed."""

_NOT_COPIED: Final = frozenset({".git", ".venv", "build", "dist", "runs"})
"""Directories of the root, as in ``.gitignore``; packages may have the same names."""
_CACHES: Final = shutil.ignore_patterns("__pycache__", ".*_cache", ".hypothesis")
_WITHOUT_EDITABLE: Final = '''\
"""Removes the import hooks of editable installations: they find the original tree."""
import sys

sys.meta_path[:] = [
    finder
    for finder in sys.meta_path
    if "_editable_" not in getattr(type(finder), "__module__", "")
]
'''
_FAILED, _INTERRUPTED = 1, 2
"""Exit statuses of pytest: a test failed; a test file could not be imported."""
_CTEST_FAILED: Final = 8
"""Exit status of ctest: a test failed."""
_OPTIMIZATION: Final = "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG"
"""Mutants are compiled more often than they run long."""

_NOTICED_WITHIN: Final = 60.0
"""Seconds in which a build notices that a file has changed."""

Status = Literal["killed", "survived"]


class MutationError(Exception):
    """A mutant cannot be applied, or its tests cannot judge it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the tests said about a mutant."""

    mutant: Mutant
    status: Status
    evidence: str
    """The first failure, or how many tests passed."""


class Copy:
    """A copy of a project in which mutants are tested.

    Args:
        root: The project.
        directory: An empty directory for the copy.
        python: An interpreter with pytest and the requirements of the tests; for
            mutants of C++ also with CMake, Ninja and nanobind.
        timeout: Seconds for one run of tests.
    """

    def __init__(
        self, root: Path, directory: Path, python: str, timeout: float
    ) -> None:
        self._tree = directory / "tree"
        self._site = directory / "site"
        self._build = directory / "build"
        self._clean_extensions = directory / "clean"
        self._python = python
        self._timeout = timeout
        self._passing: set[tuple[str, ...]] = set()
        self._mutated: Path | None = None

        def ignore(place: str, names: list[str]) -> set[str]:
            found = _CACHES(place, names)
            return found | _NOT_COPIED if Path(place) == root else found

        shutil.copytree(root, self._tree, symlinks=True, ignore=ignore)
        self._site.mkdir()
        hook = self._site / "sitecustomize.py"
        hook.write_text(_WITHOUT_EDITABLE, encoding="utf-8")
        self._copy_extensions(root)

    def _copy_extensions(self, root: Path) -> None:
        """Copy extension modules that are installed outside of the tree."""
        for package in (self._tree / "src").glob("*/__init__.py"):
            name = package.parent.name
            code = f"import {name}; print(*{name}.__path__, sep='\\n')"
            done = subprocess.run(
                [self._python, "-c", code],
                cwd=root,
                capture_output=True,
                text=True,
                check=False,
            )
            for place in map(Path, done.stdout.splitlines()):
                for module in place.rglob("*.so"):
                    target = package.parent / module.relative_to(place)
                    if not target.exists():
                        shutil.copy2(module, target)

    def judge(self, mutant: Mutant) -> Outcome:
        """Apply a mutant, run its tests, and revert it.

        Raises:
            MutationError: It does not apply or compile, or its tests fail without it.
        """
        path = self._tree / mutant.file
        if mutant.needs_extension and not self._clean_extensions.exists():
            # Not those that are installed: they may be of other code.
            self._build_extension("without a mutant")
            self._build_into(self._clean_extensions)
        if mutant.tests not in self._passing:
            status, evidence = self._run(mutant, "without a mutant")
            if status == "killed":
                msg = f"tests must pass without the mutant, got {evidence}"
                raise MutationError(msg)
            self._passing.add(mutant.tests)
        with self._changed(path, mutant):
            if not mutant.needs_extension:
                return Outcome(mutant, *self._run(mutant, "with the mutant"))
            try:
                self._build_extension("with the mutant")
                return Outcome(mutant, *self._run(mutant, "with the mutant"))
            finally:
                shutil.copytree(
                    self._clean_extensions, self._tree / "src", dirs_exist_ok=True
                )

    @contextmanager
    def _changed(self, path: Path, mutant: Mutant) -> Iterator[None]:
        """Let a file of the copy have a mutant."""
        original = path.read_text(encoding="utf-8")
        path.write_text(mutated(original, mutant), encoding="utf-8")
        self._mutated = path
        try:
            yield
        finally:
            self._mutated = None
            path.write_text(original, encoding="utf-8")

    def _run(self, mutant: Mutant, when: str) -> tuple[Status, str]:
        if mutant.has_cpp_tests:
            return self._run_ctest(mutant.tests, when)
        return self._run_pytest(mutant.tests)

    def _run_pytest(self, tests: Sequence[str]) -> tuple[Status, str]:
        paths = os.pathsep.join([str(self._site), str(self._tree / "src")])
        # Cached bytecode counts as current if a file changes within a second.
        variables = {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [self._python, "-m", "pytest", "-xq", "-p", "no:cacheprovider"]
        status, lines = self._call([*command, *tests], variables)
        if status is None:
            return "killed", lines[-1]
        if status == 0:
            return "survived", lines[-1]
        if status in (_FAILED, _INTERRUPTED) or status < 0:
            failures = [at for at in lines if at.startswith(("FAILED", "ERROR"))]
            return "killed", (failures or lines[-1:])[0]
        msg = f"pytest failed with status {status}: {lines[-1]}"
        raise MutationError(msg)

    def _run_ctest(self, tests: Sequence[str], when: str) -> tuple[Status, str]:
        names = [Path(test).stem for test in tests]
        place = str(self._build / "cpp")
        self._compile(
            place,
            ["-DREACTORL_PYTHON=OFF", "-DREACTORL_TESTS=ON"],
            when,
            targets=names,
        )
        chosen = f"^({'|'.join(names)})$"
        command = ["ctest", "--test-dir", place, "--output-on-failure"]
        status, lines = self._call([*command, "--no-tests=error", "-R", chosen])
        if status is None:
            return "killed", lines[-1]
        if status == 0:
            return "survived", f"{len(names)} C++ tests passed: {', '.join(names)}"
        if status == _CTEST_FAILED and not any("Not Run" in line for line in lines):
            failures = [at for at in lines if at.startswith("FAILED")]
            others = [at for at in lines if "***" in at]
            return "killed", (failures or others or lines[-1:])[0].strip()
        msg = f"ctest failed with status {status}: {lines[-1]}"
        raise MutationError(msg)

    def _build_extension(self, when: str) -> None:
        place = str(self._build / "extension")
        options = [f"-DPython_EXECUTABLE={self._python}", "-DREACTORL_LTO=OFF"]
        self._compile(place, options, when)
        self._build_into(self._tree / "src")

    def _build_into(self, prefix: Path) -> None:
        """Install the extension modules that were built last."""
        place = str(self._build / "extension")
        command: list[str | Path] = ["cmake", "--install", place, "--prefix", prefix]
        # Else a file is current if it was built in the same second as the other one.
        status, lines = self._call(command, {"CMAKE_INSTALL_ALWAYS": "1"})
        if status != 0:
            msg = f"cmake --install failed: {lines[-1]}"
            raise MutationError(msg)

    def _compile(
        self, place: str, options: Sequence[str], when: str, targets: Sequence[str] = ()
    ) -> None:
        """Configure once, and build what has changed.

        Raises:
            MutationError: It does not compile, or what is built is not made of the
                file with the mutant.
        """
        if not (Path(place) / "build.ninja").exists():
            configure = ["cmake", "-S", str(self._tree), "-B", place, "-G", "Ninja"]
            status, lines = self._call([*configure, _OPTIMIZATION, *options])
            if status != 0:
                msg = f"cmake failed: {lines[-1]}"
                raise MutationError(msg)
        named = ["--target", *targets] if targets else []
        end = time.monotonic() + _NOTICED_WITHIN
        while True:
            status, lines = self._call(["cmake", "--build", place, *named])
            if status != 0:
                errors = [line for line in lines if "error" in line.casefold()]
                msg = f"code must compile {when}, got {(errors or lines[-1:])[0]}"
                raise MutationError(msg)
            if self._mutated is None or not _has_done_nothing(lines):
                return
            # Ninja goes by times of files, and the clock may have been set back.
            if time.monotonic() > end:
                name = self._mutated.relative_to(self._tree)
                msg = f"what its tests run must be built from {name}"
                raise MutationError(msg)
            time.sleep(1)
            self._mutated.touch()

    def _call(
        self, command: Sequence[str | Path], variables: Mapping[str, str] | None = None
    ) -> tuple[int | None, list[str]]:
        """Run a command in the copy.

        Returns:
            Its exit status, None if it took too long; and its lines of output.
        """
        # CMake and Ninja may be installed beside the interpreter only.
        search = os.pathsep.join([str(Path(self._python).parent), os.environ["PATH"]])
        # In a session of its own: tests that hang are killed with their processes.
        process = subprocess.Popen(
            command,
            cwd=self._tree,
            env={**os.environ, "PATH": search, **(variables or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=self._timeout)
        except subprocess.TimeoutExpired:
            return None, [f"no result within {self._timeout:g} s"]
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        lines = [at for at in output.splitlines() if at.strip()] or ["no output"]
        return process.returncode, lines


def _has_done_nothing(lines: Sequence[str]) -> bool:
    """Return whether a build found that everything was current."""
    configured = any("Re-running CMake" in line for line in lines)
    return lines[-1] == "ninja: no work to do." and not configured


def mutated(text: str, mutant: Mutant) -> str:
    """Return a text with a mutant.

    Raises:
        MutationError: The text to replace does not occur exactly once.
    """
    count = text.count(mutant.before)
    if count != 1:
        msg = f"text before must occur once in {mutant.file}, got {count} times"
        raise MutationError(msg)
    return text.replace(mutant.before, mutant.after)


def score(outcomes: Sequence[Outcome]) -> str:
    """Return how many mutants were killed, as a line."""
    killed = sum(outcome.status == "killed" for outcome in outcomes)
    share = f" = {killed / len(outcomes):.0%}" if outcomes else ""
    argued = sum(o.status == "survived" and bool(o.mutant.argument) for o in outcomes)
    left = f"; {argued} survived for a stated reason" if argued else ""
    return f"killed {killed} of {len(outcomes)}{share}{left}"


def scores_by_area(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the scores of the areas that names begin with, as lines."""
    areas: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        areas.setdefault(outcome.mutant.area, []).append(outcome)
    return [f"{area:12} {score(found)}" for area, found in areas.items()]


def main(
    arguments: Sequence[str] | None = None,
    *,
    root: Path = ROOT,
    mutants: Sequence[Mutant] = MUTANTS,
) -> int:
    """Judge mutants; return 0 if all were killed or survive for a reason, else 1."""
    parser = argparse.ArgumentParser(description="Report mutants that tests miss.")
    parser.add_argument(
        "--only",
        action="append",
        metavar="NAME",
        help="judge only this mutant, or those whose names begin with NAME-",
    )
    parser.add_argument("--python", default=sys.executable, metavar="PY")
    parser.add_argument("--timeout", type=float, default=DEFAULT_TIMEOUT, metavar="S")
    options = parser.parse_args(arguments)
    chosen = [m for m in mutants if _is_chosen(m.name, options.only)]
    if not chosen:
        parser.error(f"--only must name a mutant, got {', '.join(options.only or [])}")
    python = shutil.which(options.python)
    if python is None:
        parser.error(f"--python must be an interpreter, got {options.python}")
    outcomes: list[Outcome] = []
    errors = 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as directory:
        # Absolute, but not resolved: the path of a virtual environment is its identity.
        interpreter = str(Path(python).absolute())
        copy = Copy(root, Path(directory), interpreter, options.timeout)
        for mutant in chosen:
            try:
                outcome = copy.judge(mutant)
            except MutationError as error:
                errors += 1
                print(f"error     {mutant.name}: {error}", flush=True)
                continue
            outcomes.append(outcome)
            print(f"{outcome.status:9} {mutant.name}: {outcome.evidence}", flush=True)
            if outcome.status == "survived":
                print(f"          {mutant.argument or mutant.why}", flush=True)
    if len({outcome.mutant.area for outcome in outcomes}) > 1:
        print(*scores_by_area(outcomes), sep="\n")
    print(score(outcomes) + (f"; {errors} could not be judged" if errors else ""))
    missed = [o for o in outcomes if o.status == "survived" and not o.mutant.argument]
    return int(errors > 0 or bool(missed))


def _is_chosen(name: str, only: Sequence[str] | None) -> bool:
    return not only or any(name == o or name.startswith(f"{o}-") for o in only)


if __name__ == "__main__":
    sys.exit(main())
