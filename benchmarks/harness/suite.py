# SPDX-License-Identifier: Apache-2.0
"""Suite: workloads that are measured and reported together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.harness.workload import Effort


@dataclass(frozen=True, slots=True)
class Suite:
    """Workloads with one report.

    Attributes:
        name: As in ``--suite``.
        title: Heading of the report.
        about: Introduction of the report, in Markdown.
        workloads: Names, in the order of the report.
        effort: Effort if none is given.
        out: Directory of results below ``build``.
        docs: The page that ``--docs`` writes, below ``docs``. A page with the marks
            ``<!-- measured -->`` and ``<!-- end -->`` gets the notes between them; any
            other is replaced by the report. Empty: none.
    """

    name: str
    title: str
    about: str
    workloads: Sequence[str]
    effort: Effort = "full"
    out: str = ""
    docs: str = ""
