# SPDX-License-Identifier: Apache-2.0
"""Fingerprints of code: what was measured with another one is measured again."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.evidence.workloads import load
from benchmarks.runtime.measure import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable

HERE = Path(__file__).parent
OURS = ("src", "cpp/include", "cpp/src", "cpp/bind")


@cache
def ours_digest() -> str:
    """Return a fingerprint of all that our package is built from."""
    files = [ROOT / "CMakeLists.txt", ROOT / "pyproject.toml"]
    for directory in OURS:
        files += (ROOT / directory).rglob("*")
    return files_digest(f for f in files if f.suffix not in (".pyc", ".so"))


def files_digest(files: Iterable[Path]) -> str:
    """Return a fingerprint of files: their names and what is in them."""
    found = hashlib.blake2b(digest_size=8)
    for file in sorted(files):
        if file.is_file():
            found.update(str(file.relative_to(ROOT)).encode())
            found.update(file.read_bytes())
    return found.hexdigest()


@cache
def workload_digest(name: str) -> str:
    """Return a fingerprint of the code of a workload and of the engines."""
    modules = load(name).engines.values()  # some are shared with other workloads
    packages = {name, *(module.partition(".")[0] for module in modules)}
    directories = [HERE / "engines", *(HERE / "workloads" / each for each in packages)]
    files = [file for directory in directories for file in directory.glob("*.py")]
    return files_digest(files)


def value_digest(value: Any) -> str:  # noqa: ANN401
    """Return a fingerprint of something that JSON can hold."""
    text = json.dumps(value, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
