# SPDX-License-Identifier: Apache-2.0
"""The Git revision of the user's code in the current directory."""

from __future__ import annotations

import subprocess


def revision() -> str:
    """Return the commit, with a note if files differ from it; empty outside of Git."""
    commit = _git("rev-parse", "HEAD")
    if not commit:
        return ""
    changed = _git("status", "--porcelain", "--untracked-files=no")
    return f"{commit} with changes" if changed else commit


def _git(*words: str) -> str:
    # The configuration of a repository may name a program for status to execute.
    command = ["git", "-c", "core.fsmonitor=false", *words]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=5, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
