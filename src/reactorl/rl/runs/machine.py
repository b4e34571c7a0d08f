# SPDX-License-Identifier: Apache-2.0
"""Machine and Python of a run, for its report."""

from __future__ import annotations

import os
import platform

from reactorl._util.machine import (
    cpu_model,
    has_gil,
    memory_gib,
    usable_cores,
    why_gil,
)


def machine_rows(workers: int | None) -> list[tuple[str, str]]:
    """Return names and values.

    Args:
        workers: Number of threads of the run; None: as many as help.
    """
    memory = memory_gib()
    rows = [
        ("processor", cpu_model()),
        ("cores", f"{usable_cores()} of {os.cpu_count()} usable"),
        ("memory", "" if memory is None else f"{memory} GiB"),
        ("system", f"{platform.system()} {platform.release()} ({platform.machine()})"),
        ("Python", f"{platform.python_implementation()} {platform.python_version()}"),
        ("GIL", f"{'on' if has_gil() else 'off'}: {why_gil()}"),
        ("workers", "as many as help" if workers is None else str(workers)),
    ]
    return [(name, value) for name, value in rows if value]
