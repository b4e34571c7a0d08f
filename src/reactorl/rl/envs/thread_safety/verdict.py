# SPDX-License-Identifier: Apache-2.0
"""What is known about an environment in threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal[
    "safe",
    "differs",
    "crashed",
    "unrepeatable",
    "timeout",
    "failed",
    "unsendable",
    "unmade",
]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether environments may run concurrently in the threads of one process.

    Attributes:
        kind: ``"safe"``; ``"differs"``: results differ from those alone;
            ``"crashed"``: their process crashed; ``"unrepeatable"``: results differ
            even alone; ``"timeout"``: the probe did not end; ``"failed"``: the probe
            ended with an error; ``"unsendable"``: they cannot be made in another
            process; ``"unmade"``: they cannot be made.
        reason: The reason, as a predicate whose subject is the environment.
        name: The id or class of the environment.
    """

    kind: Kind
    reason: str
    name: str = ""

    @property
    def safe(self) -> bool:
        """Whether they may run concurrently in threads."""
        return self.kind == "safe"

    @property
    def lasting(self) -> bool:
        """Whether another probe would find the same."""
        return self.kind in ("safe", "differs", "crashed")

    def __str__(self) -> str:
        return f"{self.name} {self.reason}"
