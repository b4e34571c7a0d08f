# SPDX-License-Identifier: Apache-2.0
"""Facts of a machine on which everything is as it should be."""

from __future__ import annotations

import copy
from typing import Any

from reactorl.cli.doctor.packages import EXTRAS

FINE: dict[str, Any] = {
    "reactorl": {"version": "1", "place": "p", "extension": "e", "built_with": []},
    "python": {
        "version": "3.14.0",
        "implementation": "CPython",
        "compiler": "GCC",
        "executable": "python",
        "free_threaded": True,
        "debug_build": False,
        "optimised": True,
        "gil": False,
        "gil_requested": False,
        "why": "as built",
        "start_method": "forkserver",
    },
    "machine": {
        "system": "Linux",
        "libc": None,
        "cpu": "c",
        "cores": 4,
        "usable_cores": 4,
        "cgroup_cores": None,
        "load": 0.1,
        "memory_gib": 8.0,
        "memfd": True,
        "dev_shm_mib": 64,
    },
    "packages": {name: "1" for names in EXTRAS.values() for name in names},
    "environment": {},
    "imports": {},
    "self_check": {"ok": True, "digest": "0" * 32},
    "native_environments": {"CartPoleEnv": ""},
}


def given(section: str, **changes: object) -> dict[str, Any]:
    changed = copy.deepcopy(FINE)
    changed[section].update(changes)
    return changed
