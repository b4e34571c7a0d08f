# SPDX-License-Identifier: Apache-2.0
"""The directory of a run: configuration, metrics, checkpoint and figures."""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reactorl import Position, ReactorlError
from reactorl._util.files import write_atomic
from reactorl.rl._public import public
from reactorl.rl.checkpoint.identity import versions
from reactorl.rl.runs.metrics import EVALUATED, FINAL, RETURN, read_metrics
from reactorl.rl.runs.revision import revision

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

FORMAT = 1
"""Of the configuration."""
CHECKPOINT: Final = "checkpoint"
"""The file of the newest checkpoint."""
_TYPES: Final = {
    "algorithm": str, "settings": dict, "preprocessing": list, "command": list,
    "versions": dict, "began": int,
}  # fmt: skip
"""Of the values in the configuration, by key."""
_REQUIRED: Final = ("algorithm", "settings")
_LATEST: Final = 1 << 36
"""Seconds since 1970: in the year 4147, which every platform can print."""


@public
class RunError(ReactorlError):
    """The directory of a run cannot be created or used.

    Attributes:
        path: The directory.
        what: What is wrong.
        remedy: How to fix it.
    """

    def __init__(self, path: Path, what: str, remedy: str) -> None:
        super().__init__(what, Position(str(path)), remedy)
        self.args = (path, what, remedy)
        self.path = path


class RunSummary(NamedTuple):
    """Progress and returns of a run."""

    steps: int
    """Number of environment steps."""
    mean_return: float | None
    """Mean return of the last 100 training episodes."""
    final_return: float | None
    """Mean return of the final evaluation, or else of the last one."""


@public
@dataclass(frozen=True)
class RunDirectory:
    """A directory with the configuration of a run."""

    path: Path
    config: dict[str, Any]
    given: Path | None = None
    """The path in messages, if it is another one."""

    def below(self, here: Path) -> RunDirectory:
        """Return this with an absolute path, and messages as before.

        Args:
            here: The working directory, which an environment may change later.
        """
        return replace(self, path=here / self.path, given=self.shown)

    @property
    def shown(self) -> Path:
        """The path in messages."""
        return self.path if self.given is None else self.given

    @classmethod
    def create(
        cls,
        path: Path | None,
        *,
        runs: Path,
        algorithm: str,
        settings: Mapping[str, Any],
        command: Sequence[str],
        preprocessing: Sequence[str] = (),
    ) -> RunDirectory:
        """Create the directory of a new run, and write its configuration.

        Args:
            path: The directory; None: named after environment, algorithm, seed and
                time.
            runs: Where the directory is created, if it is not given.
            algorithm: Name of the algorithm.
            settings: Of the task; see ``settings_of``.
            command: How the run was started.
            preprocessing: What happens between the environment and the agent.

        Raises:
            RunError: It cannot be created, or has a run already.
        """
        now = int(time.time())  # noqa: TID251 - the start of the run is in its name
        config = {
            "format": FORMAT,
            "algorithm": algorithm,
            "settings": dict(settings),
            "preprocessing": list(preprocessing),
            "command": list(command),
            "versions": dict(versions()),
            "revision": revision(),
            "began": now,
        }
        env = re.sub(r"[/:]", "-", str(settings["env_id"]))
        stem = f"{env}__{algorithm}__{settings['seed']}"
        try:
            if path is None:
                path = _new_directory(runs, stem, now)
            else:
                path.mkdir(parents=True, exist_ok=True)
            text = json.dumps(config, indent=2) + "\n"
            # Locked, so that of two processes only one finds the directory empty.
            descriptor = _lock(path)
            try:
                _check_empty(path)
                write_atomic(path / "config.json", text.encode())
            except OSError:
                path.rmdir()
                raise
            finally:
                os.close(descriptor)
        except OSError as error:
            what = f"the run's directory could not be created: {_reason(error)}"
            remedy = "Choose another place with --runs-dir."
            raise RunError(runs if path is None else path, what, remedy) from error
        return cls(path, config)

    @classmethod
    def open(cls, path: Path) -> RunDirectory:
        """Return the run in a directory.

        Raises:
            RunError: There is none.
        """
        remedy = "'reactorl runs' lists all runs."
        try:
            config = json.loads((path / "config.json").read_text())
        except FileNotFoundError:
            missing = "run" if path.is_dir() else "such directory"
            there = f"there is no {missing}"
            raise RunError(path, there, remedy) from None
        except (OSError, ValueError, RecursionError) as error:
            what = f"reading the configuration failed: {error}"
            raise RunError(path, what, remedy) from error
        if not isinstance(config, dict) or config.get("format") != FORMAT:
            what = "the configuration is not one of this version of reactorl"
            raise RunError(path, what, remedy)
        damage = _damage(config)
        if damage:
            raise RunError(path, f"the configuration is damaged: {damage}", remedy)
        return cls(path, config)

    @property
    def checkpoint(self) -> Path:
        """The newest checkpoint."""
        return self.path / CHECKPOINT

    @property
    def metrics(self) -> Path:
        """The metrics as CSV."""
        return self.path / "metrics.csv"

    @property
    def env_id(self) -> str:
        """Id of the environment."""
        return str(self.config["settings"]["env_id"])

    def summary(self) -> RunSummary:
        """Return the progress and the returns of the run so far.

        Raises:
            OSError: The metrics cannot be read.
        """
        latest: dict[str, float] = {}
        returns: list[float] = []
        steps = 0
        if self.metrics.exists():
            for step, _, key, value in read_metrics(self.metrics):
                steps = max(steps, step)
                latest[key] = value
                if key == RETURN:
                    returns.append(value)
        last = returns[-100:]
        mean = sum(last) / len(last) if last else None
        return RunSummary(steps, mean, latest.get(FINAL, latest.get(EVALUATED)))

    def lock(self) -> int:
        """Lock the run for this process, until the descriptor is closed.

        Raises:
            RunError: Another process has locked it.
        """
        return _lock(self.path)


@public
def runs_in(runs: Path) -> Iterator[RunDirectory]:
    """Yield all runs in a directory, oldest first."""
    found = []
    for path in sorted(runs.iterdir()) if runs.is_dir() else ():
        try:
            found.append(RunDirectory.open(path))
        except RunError:
            continue
    yield from sorted(found, key=lambda run: int(run.config.get("began", 0)))


def _damage(config: Mapping[str, Any]) -> str:
    """Return what is wrong with a configuration; empty: nothing."""
    for key, kind in _TYPES.items():
        if key not in config:
            if key in _REQUIRED:
                return f"it lacks {key!r}"
        elif not isinstance(config[key], kind):
            return f"{key!r} must be of type {kind.__name__}, got {config[key]!r:.40}"
    if not isinstance(config["settings"].get("env_id"), str):
        return "its settings lack 'env_id'"
    if not 0 <= config.get("began", 0) <= _LATEST:
        return f"'began' must be seconds since 1970, got {config['began']}"
    return ""


def _new_directory(runs: Path, stem: str, now: int) -> Path:
    runs.mkdir(parents=True, exist_ok=True)
    while True:
        path = runs / f"{stem}__{now}"
        try:
            path.mkdir()
        except FileExistsError:
            now += 1  # another run was started in the same second
        else:
            return path


def _lock(path: Path) -> int:
    """Lock a directory until the descriptor is closed, or the process ends."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        what = "another process is training in this run"
        raise RunError(path, what, "Wait until it ends, or stop it.") from None
    return descriptor


def _check_empty(path: Path) -> None:
    if (path / "config.json").exists():
        remedy = "Resume it (resume=True), or choose another directory."
        raise RunError(path, "the directory has a run already", remedy)


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
