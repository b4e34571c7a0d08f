# SPDX-License-Identifier: Apache-2.0
"""Applies mutants to a copy of the tree and reports which ones the tests notice.

A mutant is a small change of the code that makes it wrong. A mutant that survives its
tests shows that a test is missing. ``mutants.py`` lists them. Run by hand, because it
takes minutes:

    python tools/mutate.py [--only NAME] [--python PY]

The tree itself is never written: every mutant is applied alone, to a temporary copy.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from mutants import MUTANTS, Mutant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
        python: An interpreter with pytest and the requirements of the tests.
        timeout: Seconds for one run of tests.
    """

    def __init__(
        self, root: Path, directory: Path, python: str, timeout: float
    ) -> None:
        self._tree = directory / "tree"
        self._site = directory / "site"
        self._python = python
        self._timeout = timeout
        self._passing: set[tuple[str, ...]] = set()

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
            MutationError: It does not apply, or its tests fail without it.
        """
        path = self._tree / mutant.file
        if mutant.tests not in self._passing:
            status, evidence = self._run(mutant.tests)
            if status == "killed":
                msg = f"tests must pass without the mutant, got {evidence}"
                raise MutationError(msg)
            self._passing.add(mutant.tests)
        with _changed(path, mutant):
            return Outcome(mutant, *self._run(mutant.tests))

    def _run(self, tests: Sequence[str]) -> tuple[Status, str]:
        paths = os.pathsep.join([str(self._site), str(self._tree / "src")])
        # In a session of its own: tests that hang are killed with their processes.
        process = subprocess.Popen(
            [self._python, "-m", "pytest", "-xq", "-p", "no:cacheprovider", *tests],
            cwd=self._tree,
            env={**os.environ, "PYTHONPATH": paths},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=self._timeout)
        except subprocess.TimeoutExpired:
            return "killed", f"no result within {self._timeout:g} s"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        lines = [at for at in output.splitlines() if at.strip()] or ["no output"]
        if process.returncode == 0:
            return "survived", lines[-1]
        if process.returncode in (_FAILED, _INTERRUPTED) or process.returncode < 0:
            failures = [at for at in lines if at.startswith(("FAILED", "ERROR"))]
            return "killed", (failures or lines[-1:])[0]
        msg = f"pytest failed with status {process.returncode}: {lines[-1]}"
        raise MutationError(msg)


@contextmanager
def _changed(path: Path, mutant: Mutant) -> Iterator[None]:
    """Let a file of the copy have a mutant."""
    original = path.read_text(encoding="utf-8")
    path.write_text(mutated(original, mutant), encoding="utf-8")
    _forget_bytecode(path)
    try:
        yield
    finally:
        path.write_text(original, encoding="utf-8")
        _forget_bytecode(path)


def _forget_bytecode(path: Path) -> None:
    """Remove cached bytecode: it counts as current within the same second."""
    for cached in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        cached.unlink()


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
    return f"killed {killed} of {len(outcomes)}{share}"


def main(
    arguments: Sequence[str] | None = None,
    *,
    root: Path = ROOT,
    mutants: Sequence[Mutant] = MUTANTS,
) -> int:
    """Judge mutants; return 0 if the tests killed all of them, else 1."""
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
            print(
                f"{outcome.status:9} {mutant.name}: {outcome.evidence}",
                *([f"          {mutant.why}"] if outcome.status == "survived" else []),
                sep="\n",
                flush=True,
            )
    print(score(outcomes) + (f"; {errors} could not be judged" if errors else ""))
    return int(errors > 0 or any(o.status == "survived" for o in outcomes))


def _is_chosen(name: str, only: Sequence[str] | None) -> bool:
    return not only or any(name == o or name.startswith(f"{o}-") for o in only)


if __name__ == "__main__":
    sys.exit(main())
