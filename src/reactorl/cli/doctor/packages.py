# SPDX-License-Identifier: Apache-2.0
"""Packages that ReactoRL can use: which are installed, and which turn the GIL on."""

from __future__ import annotations

import json
import subprocess
import sys

from reactorl.cli.doctor.system_info import version

EXTRAS = {
    "cli": ("argcomplete", "rich"),
    "rl": ("cloudpickle", "gymnasium", "numpy"),
    "train": ("cyclopts", "jax", "matplotlib", "optax"),
    "federation": ("cloudpickle", "cryptography"),
    "ray": ("ray",),
    "pettingzoo": ("pettingzoo",),
    "sb3": ("stable-baselines3",),
    "atari": ("ale-py",),
}
"""Packages of each extra. Most include ``rl``."""
OTHERS = ("jaxlib", "torch", "opencv-python-headless", "pillow", "wandb")
"""Further packages that matter in a bug report."""

_MODULES = {
    "ale-py": "ale_py",
    "opencv-python-headless": "cv2",
    "pillow": "PIL.Image",
    "stable-baselines3": "stable_baselines3",
}
_IMPORTS = """\
import json, os, sys, warnings
warnings.simplefilter("ignore")
said, sys.stdout = os.fdopen(os.dup(1), "w"), sys.stderr
found = {}
for name in sys.argv[1:]:
    before = sys._is_gil_enabled()
    try:
        __import__(name)
    except BaseException as error:
        found[name] = f"{type(error).__name__}: {error}"
    else:
        found[name] = "gil" if sys._is_gil_enabled() and not before else ""
print(json.dumps(found), file=said, flush=True)
"""


def installed() -> dict[str, str | None]:
    """Return the version of each package; None if it is not installed."""
    names = [name for extra in EXTRAS.values() for name in extra]
    return {name: version(name) for name in (*names, *OTHERS)}


def missing_extras(found: dict[str, str | None]) -> dict[str, list[str]]:
    """Return the missing packages of each incomplete extra."""
    lacking = {
        extra: [name for name in names if found.get(name) is None]
        for extra, names in EXTRAS.items()
    }
    return {extra: names for extra, names in lacking.items() if names}


def imported(found: dict[str, str | None], seconds: float = 60) -> dict[str, str]:
    """Import the installed packages in another process, and return the outcome.

    Only for free-threaded Python, where an extension that does not support it turns
    the GIL on for the whole process.

    Returns:
        By package: "gil" if it turned the GIL on, else the exception of its import.
        Packages without a problem are left out.
    """
    modules = {_MODULES.get(n, n): n for n, there in found.items() if there is not None}
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _IMPORTS, *modules],
            capture_output=True,
            check=True,
            timeout=seconds,
        )
        results: dict[str, str] = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return {"(all)": f"{type(error).__name__}: {error}"}
    return {modules[name]: result for name, result in results.items() if result}
