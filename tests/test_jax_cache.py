# SPDX-License-Identifier: Apache-2.0
"""The compilation cache of the tests: damage is removed, and settings are respected."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from typing import TYPE_CHECKING

import pytest

from tests.jax_cache import remove_damaged, share_compiled_programs

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import jax, jax.numpy as jnp
f = jax.jit(lambda x: jnp.tanh(x @ x.T).sum(0) / 3)
print(f(jnp.linspace(0, 1, 12).reshape(4, 3)).tobytes().hex())
"""


def entries(directory: Path) -> set[str]:
    return {file.name for file in directory.iterdir()}


def test_truncated_entries_are_removed(tmp_path: Path) -> None:
    data = zlib.compress(bytes(range(256)))
    for name, content in (("a", data), ("b", data[:-1]), ("c", b"")):
        (tmp_path / f"{name}-cache").write_bytes(content)

    remove_damaged(tmp_path)

    assert entries(tmp_path) == {"a-cache"}


def test_truncated_entries_of_zstd_are_removed(tmp_path: Path) -> None:
    zstd = pytest.importorskip("compression.zstd")
    data = zstd.compress(bytes(range(256)))
    (tmp_path / "a-cache").write_bytes(data)
    (tmp_path / "b-cache").write_bytes(data[:-1])

    remove_damaged(tmp_path)

    assert entries(tmp_path) == {"a-cache"}


def test_a_cache_that_is_too_large_starts_again(tmp_path: Path) -> None:
    data = zlib.compress(b"program")
    (tmp_path / "a-cache").write_bytes(data)
    (tmp_path / "b-cache").write_bytes(data)

    remove_damaged(tmp_path, limit=2 * len(data))
    assert entries(tmp_path) == {"a-cache", "b-cache"}
    remove_damaged(tmp_path, limit=2 * len(data) - 1)
    assert entries(tmp_path) == set()


def test_the_users_cache_is_respected(tmp_path: Path) -> None:
    environ = {"JAX_COMPILATION_CACHE_DIR": "elsewhere"}

    share_compiled_programs(environ, tmp_path)

    assert environ == {"JAX_COMPILATION_CACHE_DIR": "elsewhere"}
    assert entries(tmp_path) == set()


def test_tests_run_without_a_cache_that_cannot_be_made(tmp_path: Path) -> None:
    environ: dict[str, str] = {}
    (tmp_path / "jax-cache").touch()

    share_compiled_programs(environ, tmp_path)

    assert environ == {}


def test_processes_use_the_cache_with_the_same_bits(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    plain = {k: v for k, v in os.environ.items() if k != "JAX_COMPILATION_CACHE_DIR"}
    cached = dict(plain)
    share_compiled_programs(cached, tmp_path)
    directory = next((tmp_path / "jax-cache").iterdir())

    found = []
    made = []
    for env in (plain, cached, cached):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=env,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == ""
        found.append(done.stdout)
        made.append(entries(directory))

    assert found[0]
    assert found[0] == found[1] == found[2]
    assert made[0] == set()
    assert made[1]
    assert made[1] == made[2]
