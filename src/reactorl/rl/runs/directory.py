# SPDX-License-Identifier: Apache-2.0
"""The directory of a run: its configuration, numbers, checkpoint and pictures."""

from __future__ import annotations

import fcntl
import json
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reactorl import Position, ReactorlError
from reactorl._util.files import write_atomic
from reactorl.rl._public import public
from reactorl.rl.checkpoint.identity import described, versions
from reactorl.rl.runs.revision import revision

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from reactorl.rl.algorithms.settings import Settings

FORMAT = 1
"""Of the configuration."""


@public
class RunError(ReactorlError):
    """A directory of a run cannot be made or used.

    Attributes:
        path: Which.
        what: The fact.
        remedy: What to do about it.
    """

    def __init__(self, path: Path, what: str, remedy: str) -> None:
        super().__init__(what, Position(str(path)), remedy)
        self.args = (path, what, remedy)
        self.path = path


@dataclass(frozen=True)
class RunDirectory:
    """A directory with a configuration in it."""

    path: Path
    config: dict[str, Any]

    @classmethod
    def create(
        cls, runs: Path, *, algorithm: str, settings: Settings, command: Sequence[str]
    ) -> RunDirectory:
        """Make the directory of a new run: environment, algorithm, seed and time.

        Args:
            runs: Where all runs are; it is made if need be.
            algorithm: Its name.
            settings: What it is to do.
            command: The arguments that the run was started with.

        Raises:
            RunError: It cannot be made.
        """
        now = int(time.time())  # noqa: TID251 - when it began is part of its name
        config = {
            "format": FORMAT,
            "algorithm": algorithm,
            "settings": {
                name: value
                for name, value in described(settings).items()
                if name != "kind"
            },
            "command": list(command),
            "versions": dict(versions()),
            "revision": revision(),
            "began": now,
        }
        env = settings.env_id.replace("/", "-").replace(":", "-")
        try:
            runs.mkdir(parents=True, exist_ok=True)
            while True:
                path = runs / f"{env}__{algorithm}__{settings.seed}__{now}"
                try:
                    path.mkdir()
                    break
                except FileExistsError:
                    now += 1  # another run began in the same second
            text = json.dumps(config, indent=2) + "\n"
            try:
                write_atomic(path / "config.json", text.encode())
            except OSError:
                path.rmdir()
                raise
        except OSError as error:
            what = f"the run cannot be kept here: {_reason(error)}"
            remedy = "Choose another place with --runs-dir."
            raise RunError(runs, what, remedy) from error
        return cls(path, config)

    @classmethod
    def open(cls, path: Path) -> RunDirectory:
        """Return the run that a directory is of.

        Raises:
            RunError: It is of none.
        """
        remedy = "'reactorl runs' lists the runs there are."
        try:
            config = json.loads((path / "config.json").read_text())
        except FileNotFoundError:
            there = "this is no run" if path.is_dir() else "there is no such directory"
            raise RunError(path, there, remedy) from None
        except (OSError, ValueError) as error:
            what = f"the configuration cannot be read: {error}"
            raise RunError(path, what, remedy) from error
        if not isinstance(config, dict) or config.get("format") != FORMAT:
            what = "the configuration is not one of this version of reactorl"
            raise RunError(path, what, remedy)
        return cls(path, config)

    @property
    def checkpoint(self) -> Path:
        """Where the newest checkpoint is."""
        return self.path / "checkpoint"

    @property
    def metrics(self) -> Path:
        """Where the numbers are, as text."""
        return self.path / "metrics.csv"

    @property
    def env_id(self) -> str:
        """The environment."""
        return str(self.config["settings"]["env_id"])

    def lock(self) -> int:
        """Take the run for this process, until the descriptor is closed.

        Raises:
            RunError: Another process trains in it.
        """
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            what = "another process is training in this run"
            raise RunError(self.path, what, "Wait for it, or end it.") from None
        return descriptor


def runs_in(runs: Path) -> Iterator[RunDirectory]:
    """Yield all runs in a directory, the oldest first."""
    found = []
    for path in sorted(runs.iterdir()) if runs.is_dir() else ():
        try:
            found.append(RunDirectory.open(path))
        except RunError:
            continue
    yield from sorted(found, key=lambda run: int(run.config.get("began", 0)))


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
