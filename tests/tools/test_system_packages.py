# SPDX-License-Identifier: Apache-2.0
"""Programs for tests are installed where that can be done, and else named."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import system_packages

if TYPE_CHECKING:
    import pytest


def _machine(
    monkeypatch: pytest.MonkeyPatch, present: set[str], *, user: int, status: int = 0
) -> list[list[str]]:
    """Let the tool see a machine; return the commands that it runs there."""
    commands: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, status, "", "no network")

    monkeypatch.delenv("NO_APT", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: name if name in present else None)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(subprocess, "run", run)
    return commands


def test_root_installs_only_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = _machine(monkeypatch, {"apt-get", "chromium", "fish", "zsh"}, user=0)

    assert system_packages.main() == 0
    assert commands[0][-1] == "update"
    assert commands[1][-3:] == ["-y", "--no-install-recommends", "graphviz"]


def test_nothing_is_done_where_nothing_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    commands = _machine(monkeypatch, {"apt-get", *system_packages.NEEDED}, user=0)

    assert system_packages.main() == 0
    assert commands == []


def test_others_are_told_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = _machine(monkeypatch, {"apt-get"}, user=1000)

    assert system_packages.main() == 0
    assert commands == []
    assert "apt install chromium fonts-dejavu-core graphviz" in capsys.readouterr().out


def test_failure_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _machine(monkeypatch, {"apt-get"}, user=0, status=100)

    assert system_packages.main() == 1
    assert "no network" in capsys.readouterr().err
