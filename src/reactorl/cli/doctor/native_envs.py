# SPDX-License-Identifier: Apache-2.0
"""Which of Gymnasium's environments are stepped in native code here.

``reactorl doctor`` runs this in another process, because it imports Gymnasium::

    python -m reactorl.cli.doctor.native_envs
"""

from __future__ import annotations

import json
import subprocess
import sys


def native_environments(seconds: float = 60) -> dict[str, str]:
    """Return why environments are stepped in Python, by class; empty if they are not.

    Returns:
        A single entry ``(all)`` if that cannot be found out.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "reactorl.cli.doctor.native_envs"],
            capture_output=True,
            check=False,
            text=True,
            timeout=seconds,
        )
        if done.returncode != 0:
            said = done.stderr.strip().splitlines() or ["no message"]
            return {"(all)": said[-1]}
        found: dict[str, str] = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return {"(all)": f"{type(error).__name__}: {error}"}
    return found


if __name__ == "__main__":
    from reactorl import rl

    print(json.dumps(rl.native_environments()))
