# SPDX-License-Identifier: Apache-2.0
"""Which environments formed which batch: all that is physical about an async run.

What an environment does follows from its seed and its actions. Which results come
together follows, where the first to come are taken, from how long steps took; with that
written down, the run can be repeated exactly.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reactorl import ReplayError
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
        """Write them to a file."""
        content = {
            "format": FORMAT,
            "num_envs": self.num_envs,
            "batch_size": self.batch_size,
            "batches": self.taken,
        }
        Path(path).write_text(json.dumps(content) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> BatchLog:
        """Read them from a file.

        Raises:
            ReplayError: It is not such a file.
        """
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            if content["format"] != FORMAT:
                msg = f"{path} has the format {content['format']}, not {FORMAT}"
                raise ReplayError(msg, None, "Record it anew.")
            return cls(
                int(content["num_envs"]),
                int(content["batch_size"]),
                [tuple(map(int, batch)) for batch in content["batches"]],
            )
        except (ValueError, KeyError, TypeError) as error:
            msg = f"{path} is no recording of batches: {error}"
            raise ReplayError(msg, None, "Use what BatchLog.save() wrote.") from None

    def check(self, num_envs: int, batch_size: int) -> None:
        """Refuse a recording that was made with other numbers.

        Raises:
            ReplayError: It was.
        """
        if (self.num_envs, self.batch_size) != (num_envs, batch_size):
            msg = (
                f"the recording has {self.num_envs} environments in batches of "
                f"{self.batch_size}, the vector {num_envs} in batches of {batch_size}"
            )
            raise ReplayError(msg, None, "Use the same numbers.")
