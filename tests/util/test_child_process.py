# SPDX-License-Identifier: Apache-2.0
"""Child processes that are starting leave signals of their group to the parent."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from reactorl._util.child_process import start_child

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")

CHILD = """\
import signal
import sys

print("importing", flush=True)
sys.stdin.readline()  # until the parent has sent its signals

from reactorl._util.child_process import accept_signals


def note(number, _frame):
    print(signal.Signals(number).name, flush=True)


def main():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, note)
    accept_signals()
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    print(sys.argv[1:], len(blocked), flush=True)
    return 7
"""


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "reactorl_slow_child.py").write_text(CHILD)
    monkeypatch.syspath_prepend(tmp_path)
    return "reactorl_slow_child"


def test_signals_wait_until_a_child_has_said_what_it_does_with_them(child: str) -> None:
    process = start_child(child, [], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"importing\n"
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(b"\n", timeout=200)

    assert out.decode().splitlines() == ["SIGTERM", "[] 0"]
    assert process.returncode == 7


def test_the_parent_can_be_interrupted_afterwards(child: str) -> None:
    process = start_child(child, [0], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    assert signal.SIGINT not in blocked
    with pytest.raises(FileNotFoundError):
        start_child(child, [], cwd="/nowhere at all")
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == blocked
    process.communicate(b"\n", timeout=200)
