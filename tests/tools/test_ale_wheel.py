# SPDX-License-Identifier: Apache-2.0
"""ale-py is built once per user, or the reason why it cannot be is given.

Nothing here uses the network or compiles: the interpreter is a shell script, which
writes down what it is asked to do.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

import ale_wheel

if TYPE_CHECKING:
    from pathlib import Path

WHEEL = "ale_py-0.12.1-cp314-cp314t-linux_{machine}.whl"

PYTHON = """#!/bin/sh
case "$1 $2 $3" in
  "-m pip wheel")
    echo "build $CMAKE_ARGS" >> {log}
    {build}
    while [ "$1" != --wheel-dir ]; do shift; done
    echo new > "$2/{wheel}" ;;
  "-m pip install")
    for last; do :; done
    echo "install $(cat "$last")" >> {log}
    ! grep -q broken "$last" ;;
  *json*)
    echo '{{"tag": "cp314t", "missing": [{missing}]}}' ;;
  *)
    echo works >> {log} ;;
esac
"""

pytestmark = pytest.mark.skipif(
    shutil.which("g++") is None, reason="the tool first looks for a compiler"
)


class Machine:
    """An interpreter, a cache, and what happened."""

    def __init__(self, root: Path) -> None:
        self.cache = root / "cache"
        self.python = root / "python"
        self._log = root / "log"
        self._log.touch()
        self._wheel = WHEEL.format(machine=ale_wheel.platform.machine())
        self.make()

    def make(self, *, build: str = "", missing: str = "") -> None:
        self.python.write_text(
            PYTHON.format(
                log=self._log, wheel=self._wheel, build=build, missing=missing
            )
        )
        self.python.chmod(0o755)

    def keep(self, content: str) -> None:
        self.cache.mkdir()
        (self.cache / self._wheel).write_text(content)

    def run(self) -> int:
        return ale_wheel.main([str(self.python), "--cache", str(self.cache)])

    def happened(self) -> list[str]:
        lines = self._log.read_text().splitlines()
        return [" ".join(line.split()) for line in lines]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr(ale_wheel.signal, "signal", lambda *_: None)
    monkeypatch.delenv("CMAKE_ARGS", raising=False)
    return Machine(tmp_path)


BUILD = "build -DSDL_SUPPORT=OFF -DBUILD_VECTOR_LIB=OFF -DBUILD_VECTOR_XLA_LIB=OFF"


def test_it_is_built_without_what_needs_more_and_kept(machine: Machine) -> None:
    first, second = machine.run(), machine.run()

    assert (first, second) == (0, 0)
    used = ["install new", "works"]
    assert machine.happened() == [BUILD, *used, *used]
    assert sorted(path.suffix for path in machine.cache.iterdir()) == [
        "",  # the lock
        ".log",
        ".whl",
    ]


def test_what_another_clone_built_is_not_built_again(machine: Machine) -> None:
    machine.keep("kept")

    assert machine.run() == 0

    assert machine.happened() == ["install kept", "works"]


def test_kept_wheel_that_no_longer_works_is_built_anew(machine: Machine) -> None:
    machine.keep("broken")

    assert machine.run() == 0

    assert machine.happened()[-2:] == ["install new", "works"]


def test_first_error_of_a_build_is_told_and_nothing_kept(
    machine: Machine, capfd: pytest.CaptureFixture[str]
) -> None:
    machine.make(
        build="printf 'CMake Error at x:1:\\n  Could not find ZLIB\\n\\nmore\\n';exit 1"
    )

    assert machine.run() == 1

    error = capfd.readouterr().err
    assert "cannot be installed: CMake Error at x:1:\n  Could not find ZLIB" in error
    assert "ale_py-0.12.1.log" in error
    assert not list(machine.cache.glob("*.whl"))
    assert not list(machine.cache.glob("build-*"))


def test_what_the_environment_lacks_is_told(
    machine: Machine, capfd: pytest.CaptureFixture[str]
) -> None:
    machine.make(missing='"nanobind"')

    assert machine.run() == 1

    assert "lacks nanobind; first run: " in capfd.readouterr().err
    assert machine.happened() == []


def test_what_the_machine_lacks_is_told(
    machine: Machine,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ale_wheel, "HEADERS", {"no/such/header.h": "libnone-dev"})

    assert machine.run() == 1

    assert "first run: apt-get install libnone-dev" in capfd.readouterr().err
    assert machine.happened() == []
