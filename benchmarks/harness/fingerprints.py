# SPDX-License-Identifier: Apache-2.0
"""Digests of code: what was measured with other code is measured again."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import TYPE_CHECKING, Any

from benchmarks.harness.process import ROOT
from benchmarks.workloads import load

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

BENCHMARKS = ROOT / "benchmarks"
OURS = ("src", "cpp/include", "cpp/src", "cpp/bind", "cpp/rl")


@cache
def ours_digest(root: Path = ROOT) -> str:
    """Return a digest of everything that our package is built from."""
    files = [root / "CMakeLists.txt", root / "pyproject.toml"]
    for directory in OURS:
        files += (root / directory).rglob("*")
    return files_digest((f for f in files if f.suffix not in (".pyc", ".so")), root)


def files_digest(files: Iterable[Path], root: Path = ROOT) -> str:
    """Return a digest of files: their names and contents."""
    found = hashlib.blake2b(digest_size=8)
    for file in sorted(files):
        if file.is_file():
            found.update(str(file.relative_to(root)).encode())
            found.update(file.read_bytes())
    return found.hexdigest()


@cache
def workload_digest(name: str) -> str:
    """Return a digest of the code of a workload and of the engines."""
    modules = load(name).engines.values()  # some are shared with other workloads
    packages = {name, *(module.partition(".")[0] for module in modules)}
    directories = [BENCHMARKS / "engines"]
    directories += (BENCHMARKS / "workloads" / each for each in packages)
    files = [file for directory in directories for file in directory.glob("*.*")]
    return files_digest(files)


def value_digest(value: Any) -> str:  # noqa: ANN401
    """Return a digest of something that JSON can hold."""
    text = json.dumps(value, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
