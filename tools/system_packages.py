# SPDX-License-Identifier: Apache-2.0
"""Installs the programs that tests use: a browser, Graphviz, shells.

They are Debian packages, so they are installed only as root and only if ``apt-get``
exists. Otherwise the missing programs are listed, and tests that need them are skipped.
Run by ``make test``; ``NO_APT=1`` disables the installation.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import Final

NEEDED: Final = {
    "chromium": ("chromium", "fonts-dejavu-core"),  # text needs a font
    "dot": ("graphviz",),
    "fish": ("fish",),  # completion is tested in every supported shell
    "zsh": ("zsh",),
}
"""Programs that must be on PATH, and the packages that contain them."""


def missing() -> dict[str, tuple[str, ...]]:
    """Return the missing programs and the packages that contain them."""
    return {name: of for name, of in NEEDED.items() if shutil.which(name) is None}


def main() -> int:
    """Install the missing programs; return the exit status."""
    lacking = missing()
    if not lacking:
        return 0
    packages = [package for of in lacking.values() for package in of]
    wanted = f"apt install {' '.join(packages)}"
    apt = shutil.which("apt-get")
    if os.environ.get("NO_APT") or apt is None or os.geteuid() != 0:
        names = ", ".join(lacking)
        print(f"not installed: {names}. Tests that use it are skipped ({wanted})")
        return 0
    print(f"{wanted} (NO_APT=1 does without)", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    quiet = [apt, "-qq", "-o", "Dpkg::Use-Pty=0"]
    for command in (
        [*quiet, "update"],
        [*quiet, "install", "-y", "--no-install-recommends", *packages],
    ):
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, check=False
        )
        if done.returncode:
            print(done.stdout + done.stderr, file=sys.stderr)
            print(f"could not be installed: {', '.join(lacking)}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
