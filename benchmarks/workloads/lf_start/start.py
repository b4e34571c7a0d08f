# SPDX-License-Identifier: Apache-2.0
"""A fresh interpreter that runs a command to its end."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine

HELLO = Path(__file__).parent / "hello.lf"
COMMANDS = {"lark": ("-c", "import lark"), "lf": ("-m", "reactorl", "run", str(HELLO))}


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Start the command again and again; byte code is kept from the first time on."""
    del params
    command = [sys.executable, *COMMANDS[engine.name.partition("-")[0]]]
    with tempfile.TemporaryDirectory() as cache:
        kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environ = {**kept, "PYTHONPYCACHEPREFIX": cache}
        while True:
            subprocess.run(command, env=environ, check=True, capture_output=True)
            if not watch.tick():
                break
    watch.digest = ""
