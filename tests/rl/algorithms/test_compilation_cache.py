# SPDX-License-Identifier: Apache-2.0
"""The compilation cache of trainings: on by default, bounded, private, and harmless."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

from reactorl.rl.algorithms.compilation_cache import (
    VARIABLES,
    tidy,
    use_compilation_cache,
)

PROGRAM = """
from reactorl.rl.algorithms._jax import jax, jnp
f = jax.jit(lambda x: jnp.tanh(x @ x.T).sum(0) / 3)
print(f(jnp.linspace(0, 1, 12).reshape(4, 3)).tobytes().hex())
"""


def entries(directory: Path) -> set[str]:
    return {file.name for file in directory.rglob("*-cache")}


def result(cache: Path, **variables: str) -> str:
    env = {name: v for name, v in os.environ.items() if not name.startswith("JAX_")}
    env |= {"XDG_CACHE_HOME": str(cache), **variables}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


def test_processes_find_what_others_have_compiled(tmp_path: Path) -> None:
    first = result(tmp_path)
    made = entries(tmp_path / "reactorl" / "jax")
    assert made
    assert result(tmp_path) == first
    assert entries(tmp_path / "reactorl" / "jax") == made


def test_settings_of_the_user_come_first(tmp_path: Path) -> None:
    plain = result(tmp_path, JAX_ENABLE_COMPILATION_CACHE="false")
    assert not (tmp_path / "reactorl").exists()
    other = tmp_path / "other"
    assert result(tmp_path, JAX_COMPILATION_CACHE_DIR=str(other)) == plain
    assert not (tmp_path / "reactorl").exists()


def test_damaged_entries_are_compiled_again(tmp_path: Path) -> None:
    first = result(tmp_path)
    for file in tmp_path.rglob("*-cache"):
        file.write_bytes(file.read_bytes()[:-7])
    made = entries(tmp_path)
    assert result(tmp_path) == first
    assert entries(tmp_path) == made
    assert result(tmp_path) == first


class Config:
    def __init__(self, directory: str | None = None) -> None:
        self.jax_compilation_cache_dir = directory
        self.updates: dict[str, Any] = {}

    def update(self, name: str, value: Any) -> None:
        self.updates[name] = value


class FakeJax:
    def __init__(self, directory: str | None = None) -> None:
        self.config = Config(directory)


@pytest.mark.parametrize("name", VARIABLES)
def test_variables_of_jax_are_respected(name: str) -> None:
    jax = FakeJax()
    use_compilation_cache(jax, {name: ""})
    assert jax.config.updates == {}


def test_a_configured_directory_is_respected() -> None:
    jax = FakeJax("elsewhere")
    use_compilation_cache(jax, {})
    assert jax.config.updates == {}


@pytest.mark.filterwarnings("default")
def test_a_directory_that_others_can_write_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    jax = FakeJax()
    use_compilation_cache(jax, {})
    directory = jax.config.updates["jax_compilation_cache_dir"]
    assert Path(directory).stat().st_mode & 0o777 == 0o700

    Path(directory).chmod(0o777)
    again = FakeJax()
    use_compilation_cache(again, {})
    assert again.config.updates == {}


def test_trainings_run_without_a_cache_that_cannot_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "reactorl").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    jax = FakeJax()
    use_compilation_cache(jax, {})
    assert jax.config.updates == {}


def test_truncated_entries_are_removed(tmp_path: Path) -> None:
    data = zlib.compress(bytes(range(256)))
    for name, content in (("a", data), ("b", data[:-1]), ("c", b"")):
        (tmp_path / f"{name}-cache").write_bytes(content)
    tidy(tmp_path)
    assert entries(tmp_path) == {"a-cache"}


def test_the_oldest_entries_beyond_the_limit_are_removed(tmp_path: Path) -> None:
    data = zlib.compress(b"program")
    for age, name in enumerate(("d", "c", "b", "a")):
        file = tmp_path / f"{name}-cache"
        file.write_bytes(data)
        os.utime(file, (1000 + age, 1000 + age))
    tidy(tmp_path, limit=2 * len(data))
    assert entries(tmp_path) == {"a-cache", "b-cache"}
