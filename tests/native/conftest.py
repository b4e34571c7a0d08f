# SPDX-License-Identifier: Apache-2.0
"""Compiles the native bodies of these tests, as a user would."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import reactorl

FLAGS = ("-pedantic", "-Wall", "-Wextra", "-Werror", "-D_POSIX_C_SOURCE=200809L")


def compile_c(source: Path, target: Path, *flags: str) -> Path:
    """Compile ``source`` into the shared library ``target``."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    include = reactorl.get_include()
    command = [compiler, *FLAGS, *flags, "-shared", "-fPIC", "-I", include]
    done = subprocess.run(
        [*command, "-o", str(target), str(source)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the path of the compiled ``bodies.c``."""
    target = tmp_path_factory.mktemp("native") / "libbodies.so"
    source = Path(__file__).with_name("bodies.c")
    return str(compile_c(source, target, "-std=c99", "-O2"))
