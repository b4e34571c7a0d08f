# SPDX-License-Identifier: Apache-2.0
"""The batches of an asynchronous run: all of it that depends on timing.

The results of an environment follow from its seed and actions. With physical batching,
which results form a batch depends on the duration of steps; with a log of the batches
the run is reproducible.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reactorl import ReplayError
from reactorl._util.files import write_atomic
from reactorl.rl._public import public

if TYPE_CHECKING:
    import os

FORMAT: Final = 1


@public
@dataclass
class BatchLog:
    """The batches of a run, in order, each with its environments in order."""

    num_envs: int
    batch_size: int
    taken: list[tuple[int, ...]] = field(default_factory=list)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write them to a file, which is replaced as a whole."""
        content = {
            "format": FORMAT,
            "num_envs": self.num_envs,
            "batch_size": self.batch_size,
            "batches": self.taken,
        }
        write_atomic(Path(path), f"{json.dumps(content)}\n".encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> BatchLog:
        """Read them from a file.

        Raises:
            ReplayError: It is not such a file.
        """
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            if content["format"] != FORMAT:
                msg = f"format of {path} must be {FORMAT}, got {content['format']}"
                raise ReplayError(msg, None, "Record it again.")
            return cls(
                int(content["num_envs"]),
                int(content["batch_size"]),
                [tuple(map(int, batch)) for batch in content["batches"]],
            )
        except (ValueError, KeyError, TypeError) as error:
            msg = f"{path} must be a batch log: {error}"
            raise ReplayError(
                msg, None, "Use a file that BatchLog.save() wrote."
            ) from None

    def check(self, num_envs: int, batch_size: int) -> None:
        """Check that the log fits a vector.

        Raises:
            ReplayError: It has other numbers of environments or batch size.
        """
        if (self.num_envs, self.batch_size) != (num_envs, batch_size):
            msg = (
                f"the batch log must have {num_envs} environments in batches of "
                f"{batch_size}, got {self.num_envs} in batches of {self.batch_size}"
            )
            raise ReplayError(msg, None, "Use the same numbers.")
