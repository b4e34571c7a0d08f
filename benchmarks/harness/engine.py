# SPDX-License-Identifier: Apache-2.0
"""Engine: an interpreter with packages, and options that implementations read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Python: TypeAlias = Literal["gil", "ft"]


@dataclass(frozen=True, slots=True)
class Engine:
    """Something that can run workloads.

    Attributes:
        name: As in ``--engines`` and file names. ``NAME@REVISION`` is the engine NAME
            with the package built from another revision of our source.
        title: As in tables and legends.
        environment: The virtual environment it is installed in; see ``environments``.
        about: One line for the report.
        needs: Modules without which it cannot run.
        options: Read by implementations.
        environ: Environment variables of its processes.
        colour: From the Okabe-Ito palette.
        marker: Marker of lines, so that colour is not the only distinction.
        hatch: Hatch of bars, likewise.
        busy_waiting: Whether its processes use the processor while they wait. Then it
            is measured after the other engines, not in turns with them.
    """

    name: str
    title: str
    environment: str
    about: str = ""
    needs: Sequence[str] = ("numpy",)
    options: Mapping[str, Any] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)
    colour: str = "#000000"
    marker: str = ""
    hatch: str = ""
    busy_waiting: bool = False

    @property
    def python(self) -> Python:
        """Whether its interpreter has a GIL (``gil``) or is free-threaded (``ft``)."""
        return "ft" if self.environment.endswith("-ft") else "gil"

    @property
    def ours(self) -> bool:
        """Whether it runs our package, so that two builds of it can be compared."""
        return "reactorl" in self.needs

    @property
    def is_limit(self) -> bool:
        """Whether it is an upper bound (no synchronization) instead of a runtime."""
        return self.name.startswith("free")

    @property
    def workers(self) -> int:
        """Number of threads or processes."""
        return int(self.options.get("workers", 2))

    @property
    def revision(self) -> str:
        """The other revision of our source that it runs; empty: this one."""
        return self.name.partition("@")[2]
