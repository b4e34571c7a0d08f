# SPDX-License-Identifier: Apache-2.0
"""Leaving the report of a training in its directory, however the training ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reactorl.cli.doctor.system_info import machine_facts, python_facts
from reactorl.diagram import scene
from reactorl.rl.algorithms.registry import settings_of
from reactorl.rl.checkpoint.identity import described
from reactorl.rl.runs.report import Outcome, write_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl import Program
    from reactorl.rl.flow.task import Task
    from reactorl.rl.runs.directory import RunDirectory
    from reactorl.rl.runs.report import Phase


def leave_report(
    directory: RunDirectory,
    flow: Task,
    program: Program,
    *,
    phase: Phase,
    rounds: int,
    seconds: float,
    workers: int | None,
    digest: str = "",
    scores: Sequence[float] = (),
) -> None:
    """Write the report.

    Args:
        directory: Of the run.
        flow: What was trained.
        program: The program that trained it.
        phase: How the training ended.
        rounds: How many rounds were done.
        seconds: How long it took.
        workers: How many threads there were to be; None: as many as help.
        digest: Of the weights.
        scores: Of the episodes that were played at the end.

    Raises:
        OSError: It cannot be written.
    """
    name = str(directory.config["algorithm"])
    resume = ["reactorl", "train", name, "--resume", str(directory.path)]
    outcome = Outcome(
        title=f"{flow.name} on {directory.env_id}",
        phase=phase,
        scene=scene(program),
        steps=rounds * flow.steps_per_round,
        total=flow.rounds * flow.steps_per_round,
        seconds=seconds,
        digest=digest,
        scores=scores,
        defaults=described(settings_of(name)()),
        resume=() if rounds == flow.rounds else resume,
        machine=machine_rows(workers),
    )
    write_report(directory, outcome)


def machine_rows(workers: int | None) -> list[tuple[str, str]]:
    """Return what matters of the machine and of Python: names and values."""
    machine, python = machine_facts(), python_facts()
    gil = "on" if python["gil"] else "off"
    memory = machine["memory_gib"]
    rows: list[tuple[str, Any]] = [
        ("processor", machine["cpu"]),
        ("cores", f"{machine['usable_cores']} of {machine['cores']} usable"),
        ("memory", None if memory is None else f"{memory} GiB"),
        ("system", machine["system"]),
        ("Python", f"{python['implementation']} {python['version']}"),
        ("GIL", f"{gil}: {python['why']}"),
        ("workers", "as many as help" if workers is None else workers),
    ]
    return [(name, str(value)) for name, value in rows if value]
