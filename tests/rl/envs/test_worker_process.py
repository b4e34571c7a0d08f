# SPDX-License-Identifier: Apache-2.0
"""Worker processes end with their parent, and belong to the process that made them."""

from __future__ import annotations

import signal
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import gymnasium as gym
import pytest

from reactorl._util import pauses
from reactorl.rl import VectorEnv
from reactorl.rl.envs.commands import Step
from reactorl.rl.envs.process import worker
from tests.rl.scripts import gone, run_script, start_script

pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="reads /proc")

SPINNING = """
    import sys, threading, os, signal
    import gymnasium as gym
    from reactorl.rl import VectorEnv

    class Spin(gym.Env):
        observation_space = gym.spaces.Discrete(2)
        action_space = gym.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            return 0, {}

        def step(self, action):
            while True:
                pass

    envs = VectorEnv([Spin, Spin], workers=2, placement="process")
    envs.reset(seed=1)
    print(*envs._backend.pids, flush=True)
    envs.step([0, 0])
"""


def pids(line: str) -> list[int]:
    return [int(word) for word in line.split()]


def test_workers_in_a_step_end_after_the_parent_is_killed(tmp_path: Path) -> None:
    parent = start_script(SPINNING, tmp_path / "spinning.py")
    assert parent.stdout is not None
    workers = pids(parent.stdout.readline())
    assert workers

    parent.send_signal(signal.SIGKILL)
    parent.communicate(timeout=200)

    assert gone(workers, within=60)


TERMINATED = """
    import os, signal, subprocess, sys
    import gymnasium as gym
    from reactorl.rl import VectorEnv

    class Starter(gym.Env):
        observation_space = gym.spaces.Discrete(2)
        action_space = gym.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            return 0, {}

        def step(self, action):
            started = subprocess.Popen([sys.executable, "-c", "input()"], stdin=-1)
            started.terminate()
            read, write = os.pipe()
            forked = os.fork()
            if forked == 0:
                os.write(write, b"1")
                signal.pause()
                os._exit(0)
            os.read(read, 1)
            os.kill(forked, signal.SIGTERM)
            ended = os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1])
            return 0, 0.0, False, False, {"ended": [started.wait(), ended]}

    os.setpgid(0, 0)
    signal.signal(signal.SIGTERM, lambda *_: print("terminated"))
    envs = VectorEnv([Starter, Starter], workers=2, placement="process")
    envs.reset(seed=1)
    os.killpg(0, signal.SIGTERM)
    print(*[list(map(int, each)) for each in envs.step([0, 0])[4]["ended"]])
    envs.close()
"""


def test_workers_leave_a_sigterm_of_the_group_to_the_parent(tmp_path: Path) -> None:
    said = run_script(TERMINATED, tmp_path / "terminated.py")

    # The programs that an environment starts can be terminated as usual.
    assert said.stdout.splitlines() == ["terminated", "[-15, -15] [-15, -15]"], said


INTERRUPTED = """
    import os, signal
    from reactorl.rl import VectorEnv

    os.setpgid(0, 0)
    # A shell that runs the tests in the background lets them ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    envs = VectorEnv("CartPole-v1", 2, workers=2, placement="process")
    envs.reset(seed=1)
    try:
        os.killpg(0, signal.SIGINT)
        while True:
            pass
    except KeyboardInterrupt:
        print("interrupted")
    print(len(envs.step([0, 0])[0]), "stepped")
    envs.close()
"""


def test_workers_leave_ctrl_c_in_a_terminal_to_the_parent(tmp_path: Path) -> None:
    """A terminal sends Ctrl-C to the whole process group."""
    said = run_script(INTERRUPTED, tmp_path / "interrupted.py")

    assert said.stdout.splitlines() == ["interrupted", "2 stepped"], said
    assert said.stderr == ""


INTERRUPTED_EARLY = """
    import os, signal
    from reactorl.rl import VectorEnv
    from reactorl.rl.envs.process import worker

    def started(*args, start=worker.start_child, **options):
        process = start(*args, **options)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(process.pid, number)  # long before its first line
        return process

    worker.start_child = started
    envs = VectorEnv("CartPole-v1", 2, workers=2, placement="process")
    envs.reset(seed=1)
    print(len(envs.step([0, 0])[0]), "stepped")
    envs.close()
"""


def test_workers_that_are_starting_leave_signals_of_the_group_to_the_parent() -> None:
    said = run_script(INTERRUPTED_EARLY)

    assert said.stdout.splitlines() == ["2 stepped"], said.stderr
    assert said.stderr == ""


FORKING = """
    import os, sys, warnings
    import numpy as np
    from reactorl.rl import VectorEnv

    warnings.simplefilter("ignore", DeprecationWarning)  # of fork beside threads
    options = {options}
    envs = VectorEnv("CartPole-v1", 4, workers=2, placement="process", **options)
    envs.reset(seed=1)
    child = os.fork()
    if child == 0:
        {child}
        sys.exit(0)
    _, status = os.waitpid(child, 0)
    envs.step(np.zeros(4, int))
    envs.close()
    print("status", status)
"""
USE_IN_CHILD = """
        try:
            envs.step(np.zeros(4, int))
        except Exception as error:
            print(type(error).__name__, flush=True)
"""


@pytest.mark.parametrize("options", ["{}", "{'batch_size': 2}"])
def test_exit_of_a_forked_child_leaves_the_workers_running(options: str) -> None:
    found = run_script(FORKING.format(options=options, child="pass"))

    assert found.stdout == "status 0\n", found.stderr


@pytest.mark.parametrize("options", ["{}", "{'batch_size': 2}"])
def test_use_in_a_forked_child_is_refused(options: str) -> None:
    found = run_script(FORKING.format(options=options, child=USE_IN_CHILD.strip()))

    assert found.stdout == "ForkedProcessError\nstatus 0\n", found.stderr


@pytest.mark.parametrize("timeout", [None, 60.0])
def test_end_of_the_program_beside_a_step_is_a_closed_environment(
    timeout: float | None,
) -> None:
    envs = VectorEnv(
        "CartPole-v1", 1, placement="process", timeout=timeout, restart="recreate"
    )
    envs.reset(seed=1)
    (shard,) = envs._backend._shards  # type: ignore[attr-defined]
    shard.post(Step([0]))
    shard.worker.end()  # by the thread that ends the program

    with pytest.raises(gym.error.ClosedEnvironmentError, match="while a thread waited"):
        shard.collect()
    envs.close()


class Stopped:
    """A connection without replies for a while, in which clocks go on."""

    def __init__(
        self, clock: SimpleNamespace, looks: list[tuple[float, float]]
    ) -> None:
        self.clock, self.looks = clock, looks

    def poll(self, _seconds: float) -> bool:
        if not self.looks:
            return True
        wall, cpu = self.looks.pop(0)
        self.clock.wall += wall
        self.clock.cpu += cpu
        return False


@pytest.mark.parametrize(
    ("looks", "expected"),
    [
        ([(600.0, 0.0), (1.0, 0.0)], []),  # Ctrl-Z, and fg after ten minutes
        ([(1.0, 0.0)] * 9, ["killed"]),
        ([(600.0, 0.0)] + [(1.0, 0.0)] * 9, ["killed"]),
    ],
)
def test_time_in_which_the_parent_is_stopped_does_not_count(
    looks: list[tuple[float, float]],
    expected: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = SimpleNamespace(wall=0.0, cpu=0.0)
    fake = SimpleNamespace(monotonic=lambda: clock.wall, process_time=lambda: clock.cpu)
    monkeypatch.setattr(worker, "time", fake)
    monkeypatch.setattr(pauses, "time", fake)
    found: list[str] = []
    monkeypatch.setattr(worker.WorkerProcess, "current", 0)
    monkeypatch.setattr(
        worker.WorkerProcess, "_kill", lambda _self: found.append("killed")
    )
    waiting = object.__new__(worker.WorkerProcess)
    waiting._timeout = 4.0
    waiting._connection = Stopped(clock, looks)  # type: ignore[assignment]

    with nullcontext() if not expected else pytest.raises(worker.ProcessLostError):
        waiting._wait_for_progress(8.0)

    assert found == expected
