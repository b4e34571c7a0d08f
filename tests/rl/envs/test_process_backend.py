# SPDX-License-Identifier: Apache-2.0
"""Worker processes: killed ones, restarts, and what remains at the end."""

from __future__ import annotations

import gc
import os
import signal
import textwrap
import threading
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from reactorl.rl import EnvError, VectorEnv
from tests.rl.comparing import assert_same
from tests.rl.scripts import gone, kill, run_script, start_script
from tests.rl.toy_envs import Toy, every_space, toys
from tests.rl.troubles import Trouble

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").exists(), reason="looks into /proc"
)


def pids(envs: VectorEnv) -> list[int]:
    found: list[int] = envs._backend.pids  # type: ignore[attr-defined]
    return found


# -- killed ----------------------------------------------------------------------------


def test_killed_process_is_reported_with_its_environments() -> None:
    envs = VectorEnv(toys(5, longest=99), placement="process", workers=2)
    envs.reset(seed=1)
    envs.set_attr("length", 99)
    for _ in range(3):
        envs.step([0] * 5)
    first, second = pids(envs)
    kill(second)

    with pytest.raises(EnvError, match="SIGKILL") as raised:
        envs.step([0] * 5)

    text = str(raised.value)
    assert raised.value.index == 2
    assert raised.value.env == "Toy"
    assert raised.value.step == 3
    assert raised.value.tag == str(envs.tag)
    assert f"process {second}" in text
    assert "it held environments 2 to 4" in text
    with pytest.raises(EnvError, match="SIGKILL"):
        envs.reset(seed=1)
    envs.close()
    assert gone([first, second])


def test_failure_names_the_env_that_was_running() -> None:
    makers = [Trouble, partial(Trouble, "kill", 2, longest=99), Trouble]
    envs = VectorEnv(makers, placement="process", workers=1)
    envs.reset(seed=1)
    envs.set_attr("length", 99)
    envs.step([0] * 3)

    with pytest.raises(EnvError, match="environment 1 was running") as raised:
        envs.step([0] * 3)

    assert raised.value.index == 0
    envs.close()


@pytest.mark.parametrize(
    ("mode", "restart"),
    [
        (AutoresetMode.NEXT_STEP, "reset"),
        (AutoresetMode.NEXT_STEP, "recreate"),
        (AutoresetMode.SAME_STEP, "recreate"),
        (AutoresetMode.DISABLED, "recreate"),
    ],
)
def test_a_killed_process_is_replaced_if_it_may_be(
    mode: AutoresetMode, restart: Any
) -> None:
    envs = VectorEnv(
        toys(4, every_space()["everything"], longest=99),
        placement="process",
        workers=2,
        restart=restart,
        autoreset_mode=mode,
    )
    envs.reset(seed=1)
    envs.set_attr("length", 99)
    actions = np.zeros(4, np.int64)
    last, *_ = envs.step(actions)
    before = pids(envs)
    kill(before[1])

    found, rewards, terminated, truncated, info = envs.step(actions)

    log = info["final_info"] if mode is AutoresetMode.SAME_STEP else info
    assert truncated.tolist() == [False, False, True, True]
    assert not terminated.any()
    assert rewards[2:].tolist() == [0.0, 0.0]
    assert log["restart"].tolist() == [None, None, restart, restart]
    assert "it held environments 2 to 3" in log["failure"][3]
    assert f"tag {envs.tag}" in log["failure"][3]
    for index in (2, 3):
        ours = (
            info["final_obs"][index]
            if mode is AutoresetMode.SAME_STEP
            else one_of(found, index)
        )
        assert_same(one_of(ours), one_of(last, index))
    after = pids(envs)
    assert after[0] == before[0]
    assert after[1] != before[1]
    if mode is AutoresetMode.DISABLED:
        envs.reset(options={"reset_mask": truncated})
    else:
        envs.step(actions)
    assert not envs.step(actions)[3][:2].any()
    envs.close()
    assert gone([*before, *after])


def one_of(observations: Any, index: int | None = None) -> Any:
    """Return one environment's part of a batch, in a form that can be compared."""
    if isinstance(observations, dict):
        return {key: one_of(part, index) for key, part in observations.items()}
    if isinstance(observations, tuple) and index is not None:
        # A batch of objects, or a tuple of batches.
        if len(observations) == 4:
            return one_of(observations[index])
        return tuple(one_of(part, index) for part in observations)
    if isinstance(observations, tuple) and type(observations) is tuple:
        return tuple(one_of(part) for part in observations)
    if isinstance(observations, np.ndarray):
        return np.array(observations if index is None else observations[index])
    if isinstance(observations, np.generic):
        return np.array(observations)
    return observations


def test_a_process_killed_in_a_reset_is_replaced_and_resets() -> None:
    makers = toys(4)
    expected = VectorEnv(makers, placement="thread")
    envs = VectorEnv(makers, placement="process", workers=2, restart="recreate")
    envs.reset(seed=1)
    kill(pids(envs)[0])

    found, _ = envs.reset(seed=9)

    assert_same(found, expected.reset(seed=9)[0])
    envs.close()
    expected.close()


def test_lives_after_a_loss_are_those_after_any_failure() -> None:
    envs = VectorEnv(toys(2), placement="process", workers=1, restart="recreate")
    failing = VectorEnv(
        [partial(Trouble, "step", 1)] * 2, placement="thread", restart="recreate"
    )
    envs.reset(seed=3)
    failing.reset(seed=3)

    for _ in range(2):
        kill(pids(envs)[0])
        for each in (envs, failing):
            each.step([0, 0])
            each.step([0, 0])
        assert envs.np_random_seed == failing.np_random_seed

    assert set(envs.np_random_seed).isdisjoint({3, 4})
    envs.close()
    failing.close()


def test_env_that_always_kills_its_process_fails_after_some_attempts() -> None:
    makers = [Trouble, SuicidalReset]
    envs = VectorEnv(makers, placement="process", workers=1, restart="recreate")

    with pytest.raises(EnvError, match="environment 1 was running"):
        envs.reset(seed=1)

    envs.close()


def test_process_lost_at_its_start_names_no_running_env(tmp_path: Path) -> None:
    makers = [Trouble, partial(MadeOnce, tmp_path / "made")]
    envs = VectorEnv(makers, placement="process", workers=1, restart="recreate")
    envs.reset(seed=1)

    with pytest.raises(EnvError, match="SIGKILL") as raised:
        envs.step([0, 0])

    assert "was running" not in str(raised.value)
    envs.close()


class MadeOnce(Trouble):
    """Kills its process in its first step, and when it is made again."""

    def __init__(self, made: Path) -> None:
        if made.exists():
            os.kill(os.getpid(), signal.SIGKILL)
        made.touch()
        super().__init__("kill", 1)


class SuicidalReset(Trouble):
    def reset(self, **_: Any) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)


# -- nothing is left over --------------------------------------------------------------


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """Demand the same files, threads and processes after a test as before it."""
    VectorEnv(toys(1), placement="thread").close()  # what is loaded once stays
    gc.collect()
    before = Counter(_holdings())
    yield
    gc.collect()
    assert Counter(_holdings()) - before == Counter()


def _holdings() -> list[str]:
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    files = []
    for path in Path("/proc/self/fd").iterdir():
        try:
            files.append(str(path.readlink()))
        except FileNotFoundError:
            continue  # that of the directory itself
    kinds = ("socket:", "pipe:", "/memfd:", "/dev/shm")
    maps = Path("/proc/self/maps").read_text().splitlines()
    return [
        *(name for name in files if name.startswith(kinds)),
        *(f"child {pid}" for pid in children),
        *(f"thread {path.name}" for path in Path("/proc/self/task").iterdir()),
        *(f"thread {thread.name}" for thread in threading.enumerate()),
        *(str(path) for path in Path("/dev/shm").iterdir() if "reactorl" in path.name),
        *(line for line in maps if "memfd:reactorl" in line),
    ]


@pytest.mark.parametrize("placement", ["thread", "process"])
@pytest.mark.usefixtures("nothing_left")
def test_nothing_is_left_after_close_error_or_collection(placement: Any) -> None:
    closed = VectorEnv(toys(3), placement=placement, workers=2, timeout=60.0)
    closed.reset(seed=1)
    closed.step([0, 0, 0])
    closed.close()
    failed = VectorEnv(
        [Trouble, partial(Trouble, "step", 1)], placement=placement, workers=1
    )
    failed.reset(seed=1)
    with pytest.raises(EnvError):
        failed.step([0, 0])
    failed.close()
    with pytest.raises(EnvError):
        VectorEnv([Toy, partial(Trouble, "init")], placement=placement, workers=1)
    forgotten = VectorEnv(toys(3), placement=placement, workers=1)
    forgotten.reset(seed=1)
    del closed, failed, forgotten


@pytest.mark.usefixtures("nothing_left")
def test_nothing_is_left_when_processes_were_killed() -> None:
    for restart in ("never", "recreate"):
        envs = VectorEnv(
            toys(2),
            placement="process",
            workers=1,
            restart=restart,  # type: ignore[arg-type]
        )
        envs.reset(seed=1)
        kill(pids(envs)[0])
        if restart == "never":
            with pytest.raises(EnvError):
                envs.step([0, 0])
        else:
            envs.step([0, 0])
        envs.close()
        del envs


def test_a_program_that_forgets_to_close_leaves_nothing(tmp_path: Path) -> None:
    found = run_script(
        """
        import gymnasium as gym, sys
        from reactorl.rl import VectorEnv

        class Polite(gym.Wrapper):
            def close(self):
                print("closed", flush=True)

        keep = []
        for placement in ("thread", "process"):
            envs = VectorEnv([lambda: Polite(gym.make("CartPole-v1"))] * 2,
                             placement=placement, workers=2)
            envs.reset(seed=1)
            envs.step([0, 1])
            keep.append(envs)
        print("pids", *envs._backend.pids, flush=True)
        """,
        tmp_path / "forgetful.py",
    )

    lines = found.stdout.splitlines()
    assert found.returncode == 0, found.stderr
    assert found.stderr == ""
    assert found.stdout.count("closed") == 4
    (line,) = (line for line in lines if line.startswith("pids"))
    assert gone([int(pid) for pid in line.split()[1:]])


STEPPING = """
    import sys
    import gymnasium as gym
    from reactorl.rl import VectorEnv

    envs = VectorEnv("CartPole-v1", 4, placement="{placement}", workers=2)
    envs.reset(seed=1)
    try:
        print(*getattr(envs._backend, "pids", []), flush=True)
        while True:
            envs.step([0, 1, 0, 1])
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        try:
            envs.step([0, 1, 0, 1])
            print("went on", flush=True)
        except gym.error.ClosedEnvironmentError:
            print("closed", flush=True)
        envs.close()
        {end}
"""


@pytest.mark.parametrize(
    ("placement", "end"),
    [("thread", "raise"), ("process", "raise"), ("process", "sys.exit(7)")],
)
def test_ctrl_c_ends_everything(tmp_path: Path, placement: str, end: str) -> None:
    script = STEPPING.format(placement=placement, end=end)
    process = start_script(script, tmp_path / "stepping.py")
    assert process.stdout is not None
    children = [int(pid) for pid in process.stdout.readline().split()]

    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=200)

    # Between two steps nothing is lost; within one, the vector is closed.
    assert out in ("interrupted\nclosed\n", "interrupted\nwent on\n"), err
    assert process.returncode == (7 if end != "raise" else -signal.SIGINT)
    assert ("KeyboardInterrupt" in err) == (end == "raise")
    assert gone(children)


def test_processes_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    script = STEPPING.format(placement="process", end="raise")
    process = start_script(script, tmp_path / "stepping.py")
    assert process.stdout is not None
    children = [int(pid) for pid in process.stdout.readline().split()]
    assert len(children) == 2

    process.kill()
    process.communicate(timeout=200)

    assert gone(children)


# -- where the functions come from -----------------------------------------------------

OWN = """
    import gymnasium as gym
    import numpy as np
    from reactorl.rl import VectorEnv

    {start}

    class Own(gym.Env):
        observation_space = gym.spaces.Box(-9, 9, (1,), np.float32)
        action_space = gym.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return np.array([FACTOR], np.float32), {{}}

        def step(self, action):
            return np.array([FACTOR * action], np.float32), 1.0, False, False, {{}}

    FACTOR = 3
    gym.register("Own-v0", entry_point=Own)
    for envs in (
        VectorEnv([lambda: Own()] * 2, placement="process", workers=1),
        VectorEnv("Own-v0", 2, placement="process", workers=1),
    ):
        print(envs.reset(seed=1)[0].tolist(), envs.step([0, 1])[0].tolist())
        envs.close()
"""
OUTPUT = "[[3.0], [3.0]] [[0.0], [3.0]]\n" * 2


@pytest.mark.parametrize("by", ["file", "stdin", "command line"])
def test_scripts_need_no_guard(by: str, tmp_path: Path) -> None:
    path = tmp_path / "script.py" if by == "file" else None

    # What is printed twice would show that the main module was run twice.
    found = run_script(OWN.format(start="print('start')"), path, stdin=by == "stdin")

    assert found.stderr == ""
    assert found.stdout == f"start\n{OUTPUT}"


def test_notebooks_work(tmp_path: Path) -> None:
    # A notebook runs cells by exec() in the namespace of a __main__ without a file.
    import textwrap

    cells = textwrap.dedent(OWN.format(start=""))
    driver = f"""
import sys, types
main = types.ModuleType("__main__")
sys.modules["__main__"] = main
for cell in {cells!r}.split("FACTOR = 3"):
    exec(compile(cell, "<cell>", "exec"), main.__dict__)
    main.FACTOR = 3
"""
    path = tmp_path / "kernel.py"
    path.write_text(driver)

    found = run_script(driver, path)

    assert found.stderr == ""
    assert found.stdout == OUTPUT


def test_unpicklable_env_fns_are_refused_with_a_remedy() -> None:
    lock = threading.Lock()

    def locked() -> Toy:
        with lock:
            return Toy()

    with pytest.raises(EnvError, match="cannot be sent to another process") as raised:
        VectorEnv([Toy, Toy, locked], placement="process", workers=2)

    assert raised.value.index == 2
    assert "inside the function, or use placement='thread'" in str(raised.value)
    envs = VectorEnv([Toy, Toy, locked], placement="thread")
    envs.close()


def test_env_fns_that_cannot_be_loaded_are_refused_with_a_remedy() -> None:
    with pytest.raises(EnvError, match="cannot be loaded in another process") as raised:
        VectorEnv([Toy, Stranger()], placement="process", workers=2)

    assert raised.value.index == 1
    assert "no such place" in str(raised.value)


class Stranger:
    """Can be sent, but not received."""

    def __call__(self) -> Toy:
        return Toy()

    def __reduce__(self) -> Any:
        return _fail, ()


def _fail() -> None:
    msg = "no such place"
    raise ModuleNotFoundError(msg)


def test_unpicklable_registry_entries_are_skipped() -> None:
    import gymnasium as gym

    lock = threading.Lock()
    gym.register("Locked-v0", entry_point=lambda: (lock, Toy())[1])
    try:
        envs = VectorEnv("CartPole-v1", 2, placement="process", workers=1)
        assert envs.reset(seed=1)[0].shape == (2, 4)
        envs.close()
    finally:
        del gym.registry["Locked-v0"]


def test_a_module_that_registers_environments_may_be_imported_there_again(
    tmp_path: Path,
) -> None:
    games = """
        import gymnasium as gym
        from gymnasium.envs.classic_control import CartPoleEnv

        class Game(CartPoleEnv):
            pass

        gym.register("Game-v0", entry_point="games_of_mine:Game")
    """
    (tmp_path / "games_of_mine.py").write_text(textwrap.dedent(games))
    done = run_script(
        """
        import games_of_mine

        from reactorl.rl import VectorEnv

        envs = VectorEnv("Game-v0", num_envs=2, placement="process")
        print(envs.reset(seed=1)[0].shape)
        envs.close()
        """,
        tmp_path / "main.py",
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "(2, 4)\n", "")
