# SPDX-License-Identifier: Apache-2.0
"""Worker processes without ``memfd_create`` and ``poll``, which macOS may lack."""

from __future__ import annotations

import os
import signal
import tempfile
from typing import TYPE_CHECKING

import numpy as np
import pytest

from reactorl.rl import VectorEnv
from reactorl.rl.envs.process import child
from reactorl.rl.envs.process.shared_memory import SharedMemory

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def without_memfd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delattr(os, "memfd_create", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_memory_is_shared_zero_and_nameless(without_memfd: Path) -> None:
    memory = SharedMemory.create(1000)
    again = SharedMemory(os.dup(memory.fd), 1000)
    ours, theirs = memory((5,), np.int64), again((5,), np.int64)
    assert not ours.any()
    ours[:] = range(5)

    np.testing.assert_array_equal(theirs, range(5))
    assert not os.get_inheritable(memory.fd)
    assert list(without_memfd.iterdir()) == []
    memory.close()
    again.close()


def test_environments_in_processes_give_equal_results(without_memfd: Path) -> None:
    def returned(placement: str) -> list[bytes]:
        envs = VectorEnv("CartPole-v1", num_envs=2, workers=2, placement=placement)
        found = [envs.reset(seed=1)[0].tobytes()]
        for _ in range(50):
            step = envs.step(np.array([0, 1]))
            found.append(b"".join(part.tobytes() for part in step[:4]))
        envs.close()
        return found

    assert returned("process") == returned("thread")
    assert list(without_memfd.iterdir()) == []


def test_worker_ends_with_its_parent_without_poll(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parents = iter([7, 7, 7, 1])  # adopted by init after two looks
    killed: list[tuple[int, int]] = []
    slept: list[float] = []
    monkeypatch.delattr(child.select, "poll")
    monkeypatch.setattr(child.os, "getppid", lambda: next(parents))
    monkeypatch.setattr(child.os, "kill", lambda *given: killed.append(given))
    monkeypatch.setattr(child.time, "sleep", slept.append)

    child._die_with_parent(0)

    assert killed == [(os.getpid(), signal.SIGKILL)]
    assert slept == [child._POLL_SECONDS, child._POLL_SECONDS, child._ORPHAN_SECONDS]
