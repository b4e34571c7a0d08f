# SPDX-License-Identifier: Apache-2.0
"""Target properties: what they mean here, and which mean nothing here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Properties:
    """What the target line says about a run; None where it is silent.

    Attributes:
        timeout: Nanoseconds.
        workers: How many; 1 for ``single-threaded``; None also for ``workers: 0``.
        logging: ``error``, ``warn``, ``info``, ``log`` or ``debug``.
        tracing: The trace file's name without its suffix, or None.
        files: Existing files and directories that bodies want to import.
        coordination: ``centralized`` or ``decentralized``.
    """

    timeout: int | None = None
    fast: bool | None = None
    keepalive: bool | None = None
    workers: int | None = None
    logging: str | None = None
    tracing: str | None = None
    files: tuple[Path, ...] = ()
    coordination: str | None = None
