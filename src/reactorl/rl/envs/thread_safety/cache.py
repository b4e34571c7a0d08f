# SPDX-License-Identifier: Apache-2.0
"""Verdicts in the user's cache directory, one small file each.

The cache only saves time: a file that cannot be read or written is ignored.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, get_args

from reactorl._util.cache_directory import cache_directory
from reactorl._util.files import write_atomic
from reactorl.rl.envs.thread_safety.verdict import Kind, Verdict

if TYPE_CHECKING:
    from pathlib import Path

FORMAT: Final = 1
"""Changes with the probe, too: verdicts of an earlier one do not count."""


def load_verdict(key: str) -> Verdict | None:
    """Return the verdict with a key; None if there is none."""
    try:
        found: Any = json.loads(_path(key).read_bytes())
        kind, reason, name = found["kind"], found["reason"], found["environment"]
    except (OSError, RuntimeError, ValueError, TypeError, KeyError, RecursionError):
        return None
    if kind not in get_args(Kind):
        return None
    return Verdict(kind, str(reason), str(name))


def save_verdict(key: str, verdict: Verdict) -> None:
    """Keep a verdict; does nothing if that fails."""
    data = {
        "environment": verdict.name,
        "kind": verdict.kind,
        "reason": verdict.reason,
    }
    try:
        path = _path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, json.dumps(data, indent=1).encode())
    except (OSError, RuntimeError):
        return


def _path(key: str) -> Path:
    return cache_directory() / f"thread-safety-{FORMAT}" / f"{key}.json"
